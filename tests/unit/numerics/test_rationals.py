"""Rationals against the standard library's fractions."""

from fractions import Fraction
from math import gcd, lcm

from hypothesis import given
from hypothesis import strategies as st

from dpest.numerics.rationals import ceil, common_denominator, common_measure, exact, floor

FRACTIONS = st.fractions(max_denominator=10**6)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_the_binary_fraction_that_it_is(x: float) -> None:
    assert Fraction(exact(x).numerator, exact(x).denominator) == Fraction(x)


@given(FRACTIONS)
def test_floor_and_ceil(x: Fraction) -> None:
    assert floor(exact(x)) == x.__floor__()
    assert ceil(exact(x)) == x.__ceil__()


@given(st.lists(FRACTIONS, max_size=4))
def test_the_common_measure_is_the_gcd_over_a_common_denominator(numbers: list[Fraction]) -> None:
    bottom = lcm(1, *(x.denominator for x in numbers))
    assert common_denominator(map(exact, numbers)) == bottom
    expected = Fraction(gcd(*(int(x * bottom) for x in numbers)), bottom)
    measure = common_measure(map(exact, numbers))
    assert Fraction(int(measure.numerator), int(measure.denominator)) == expected
