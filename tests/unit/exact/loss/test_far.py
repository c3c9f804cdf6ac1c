"""The log ratio of sums of tails: its limit and its bound, against the sums themselves at places far out."""

from __future__ import annotations

import math

import mpmath
import pytest

from dpest.exact.inference.rays import Tail
from dpest.exact.loss.far import UNKNOWN, Far, far, heavier
from dpest.laws.asymptote import Asymptote
from dpest.numerics.rationals import exact


def tail(constant: float = 0.0, rate: float = 0.0, power: float = 0.0, square: float = 0.0, **more: float) -> Tail:
    return Tail(
        Asymptote(constant, exact(rate), exact(power), exact(square)),
        more.get("low", 0.0),
        more.get("high", 0.0),
        more.get("error", 0.0),
    )


def burst(speed: float, log_factor: float, constant: float = 0.0, rate: float = 0.0) -> Tail:
    return Tail(Asymptote(constant, exact(rate), bursts=((exact(speed), exact(log_factor)),)), 0.0, 0.0)


def ratio(p: list[Tail], q: list[Tail], t: float) -> float:
    """ln sum p - ln sum q at t, at 60 digits, with the tails' own values in place of their brackets."""

    def log(x: Tail) -> mpmath.mpf:
        a, at = x.asymptote, mpmath.mpf(t)
        own = a.constant + float(a.power) * mpmath.log(at) - float(a.rate) * at - float(a.square) * at * at
        return own - sum(mpmath.exp(float(s) * at + float(c)) for s, c in a.bursts)

    with mpmath.workdps(60):
        sums = [mpmath.log(mpmath.fsum(mpmath.exp(log(x)) for x in side)) for side in (p, q)]
        return float(sums[0] - sums[1])


CASES = {
    "equal rates": ([tail(1.0, 2.0)], [tail(0.5, 2.0)], 0.5),
    "a faster one beside": ([tail(0.0, 1.0), tail(3.0, 2.0)], [tail(0.0, 1.0), tail(0.0, 5.0)], 0.0),
    "two that lead": ([tail(0.0, 1.0), tail(0.5, 1.0)], [tail(0.0, 1.0)], math.log(1 + math.exp(0.5))),
    "p falls faster": ([tail(5.0, 3.0)], [tail(0.0, 1.0)], -math.inf),
    "p falls slower": ([tail(-5.0, 1.0)], [tail(0.0, 3.0)], math.inf),
    "powers": ([tail(1.0, 0.0, -2.0)], [tail(0.0, 0.0, -2.0), tail(2.0, 0.0, -3.0)], 1.0),
    "a power beside a rate": ([tail(1.0, 1.0, 1.0)], [tail(0.0, 1.0, 2.0)], -math.inf),
    "squares": ([tail(0.0, 1.0, 0.0, 0.5)], [tail(0.25, 1.0, 0.0, 0.5)], -0.25),
    "a larger square": ([tail(0.0, -1.0, 0.0, 1.0)], [tail(0.0, 1.0, 0.0, 0.5)], -math.inf),
    "equal bursts": ([burst(1.0, 0.0, 1.0)], [burst(1.0, 0.0, 0.25)], 0.75),
    "a faster burst": ([burst(2.0, 0.0)], [burst(1.0, 0.0)], -math.inf),
    "a smaller burst": ([burst(1.0, -1.0)], [burst(1.0, 0.0)], math.inf),
    "a burst against a rate": ([burst(1.0, 0.0)], [tail(0.0, 3.0)], -math.inf),
    "a rate against a burst": ([tail(0.0, 3.0)], [burst(1.0, 0.0)], math.inf),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("start", [3.0, 8.0])
def test_limits_and_bounds(name: str, start: float) -> None:
    p, q, limit = CASES[name]
    found = far(p, q, start)
    assert found != UNKNOWN
    assert found.limit == pytest.approx(limit, abs=1e-14)
    if limit < math.inf:
        truth = max(ratio(p, q, start * k) for k in (1.0, 1.01, 1.5, 2.0))
        assert found.upper >= truth - 1e-15 * abs(truth)


def test_a_bound_is_taken_at_the_start() -> None:
    """3 e^(-2t) + e^(-t) over e^(-t): falls to 1, so that its largest value is the first."""
    found = far([tail(0.0, 1.0), tail(math.log(3), 2.0)], [tail(0.0, 1.0)], 2.0)
    assert found.upper == pytest.approx(math.log(1 + 3 * math.exp(-2.0)), rel=1e-14)


def test_brackets_and_errors_widen_the_bound() -> None:
    plain = far([tail(1.0, 1.0)], [tail(0.0, 1.0)], 5.0)
    wide = far([tail(1.0, 1.0, low=-0.5, high=0.25, error=1e-3)], [tail(0.0, 1.0, low=-0.125, high=0.5, error=2e-3)], 5.0)
    assert (plain.limit, plain.upper, plain.error) == (1.0, 1.0, 0.0)
    assert wide.limit == 1.0
    assert wide.upper == pytest.approx(1.0 + 0.25 + 1e-3 + 0.125 + 2e-3, rel=1e-14)
    assert wide.error >= 3e-3


def test_what_is_not_known_of_the_second_law_only_lowers_the_ratio() -> None:
    p, q = tail(1.0, 1.0), tail(0.0, 1.0)
    found = far([p], [q, None], 5.0)
    assert found.limit is None
    assert found.upper == 1.0
    assert far([p], [None], 5.0) == UNKNOWN
    assert far([p, None], [q], 5.0) == UNKNOWN
    assert far([tail(0.0, 0.5)], [q, None], 5.0) == UNKNOWN  # the unknown part may fall as slowly
    assert far([], [q], 5.0) == Far(-math.inf, 0.0, -math.inf)
    assert far([p], [], 5.0) == UNKNOWN


def test_a_ratio_that_still_grows_at_the_start_has_no_bound() -> None:
    """t^2 e^(-t) against 1: grows until t = 2."""
    assert far([tail(0.0, 1.0, 2.0)], [tail()], 1.0) == UNKNOWN
    settled = far([tail(0.0, 1.0, 2.0)], [tail()], 2.5)
    assert settled.limit == -math.inf
    assert settled.upper == pytest.approx(2 * math.log(2.5) - 2.5)
    # e^(4t - t^2/2) turns at t = 4.
    assert far([tail(0.0, -4.0, 0.0, 0.5)], [tail()], 3.9) == UNKNOWN
    assert far([tail(0.0, -4.0, 0.0, 0.5)], [tail()], 4.1).upper == pytest.approx(4 * 4.1 - 4.1**2 / 2)
    # e^(5t - e^t) turns at t = ln 5.
    assert far([burst(1.0, 0.0, 0.0, -5.0)], [tail()], 1.5) == UNKNOWN
    assert far([burst(1.0, 0.0, 0.0, -5.0)], [tail()], 1.7).upper == pytest.approx(8.5 - math.exp(1.7))


def test_which_tail_is_the_heavier() -> None:
    order = [tail(0, 0, -1.5), tail(0, 0, -2), tail(0, 0.5, 3), tail(0, 1, 3), tail(0, 1, 1)]
    order += [tail(0, -7, 0, 0.5), tail(0, 0, 0, 1), burst(0.5, 3.0), burst(1.0, -2.0), burst(1.0, 0.0)]
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            assert heavier(a.asymptote, b.asymptote) == (j > i) - (j < i)


def test_bursts_whose_sums_agree_and_whose_parts_do_not_are_not_told_apart() -> None:
    one = Asymptote(0.0, bursts=((exact(1), exact(0)), (exact(1), exact(0))))
    two = Asymptote(0.0, bursts=((exact(1), exact(math.log(2))),))
    assert heavier(one, two) is None
