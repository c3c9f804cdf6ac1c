"""Row reduction in rationals."""

from __future__ import annotations

from dpest.numerics.linear import identities, identity, inverse, product, reduced
from dpest.numerics.rationals import exact


def matrix(*rows: tuple[float, ...]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(exact(x) for x in row) for row in rows)


def test_row_reduction_and_the_identities_of_dependent_rows() -> None:
    a = matrix((1, 1), (1, -1), (2, 0))
    transform, rank = reduced(a)
    assert rank == 2
    assert product(transform, a) == (*identity(2), (0, 0))
    assert product(identities(a), a) == ((0, 0),)
    assert identities(identity(3)) == ()


def test_a_difference_in_the_last_digit_is_no_identity() -> None:
    assert identities(matrix((1, 0.1), (3, 0.3))) == ()
    assert len(identities(matrix((1, 0.1), (2, 0.2)))) == 1


def test_the_inverse() -> None:
    a = matrix((2, 1), (1, 0.1))
    assert product(a, inverse(a)) == identity(2)
