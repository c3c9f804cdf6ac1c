"""The largest ratio among places that are known up to errors: the bracket holds whatever the errors are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.exact.loss.logs import NOTHING, BothWays, Logs, Sup, best, capped, covering


def logs(p: list[float], q: list[float], error: list[float] | float = 0.0) -> Logs:
    y = np.arange(len(p), dtype=float)[:, None]
    return Logs(y, np.array(p), np.array(q), np.broadcast_to(np.asarray(error, float), (len(p),)))


@pytest.mark.parametrize("start", [0, 100])
def test_the_bracket_holds_the_truth(start: int) -> None:
    """True ratios share one supremum; each place shows its own up to its error."""
    for seed in range(start, start + 60):
        _bracket_holds(np.random.default_rng(seed))


def _bracket_holds(rng: np.random.Generator) -> None:
    n = int(rng.integers(2, 30))
    truth = np.where(rng.random(n) < 0.3, 1.0, 1.0 - rng.exponential(0.2, n))
    truth[0] = 1.0
    error = 10.0 ** rng.uniform(-12, -1, n)
    q = -rng.exponential(5.0, n)
    shown = truth + rng.uniform(-1, 1, n) * error
    found = covering(Logs(np.arange(n)[:, None].astype(float), q + shown, q, error))
    assert found.lower <= 1.0 <= found.upper
    assert found.lower <= found.value <= found.upper
    assert found.upper <= (shown + error).max() + 1e-13


def test_a_place_that_is_badly_known_may_hold_more() -> None:
    """A place that shows 1 up to 0.4 may hold 1.4, however well another one is known that shows 1.1."""
    places = logs([1.1, 1.0], [0.0, 0.0], [1e-6, 0.4])
    found = covering(places)
    assert (found.lower, found.upper) == pytest.approx((1.1 - 1e-6, 1.4), abs=1e-14)
    assert found.at == (0.0,)
    # In a search the sharpest of those that agree is believed.
    assert best(places).upper == pytest.approx(1.1 + 1e-6, abs=1e-14)
    more = best(logs([1.0, 1.3], [0.0, 0.0], [1e-6, 0.1]))
    assert (more.lower, more.upper) == pytest.approx((1.2, 1.4), abs=1e-14)
    assert more.at == (1.0,)
    assert covering(logs([-math.inf], [0.0])) == NOTHING
    assert covering(logs([0.0, -math.inf], [-math.inf, 0.0])).value == math.inf
    assert covering(logs([0.5, -math.inf], [0.0, 0.0], [0.0, 0.3])).upper == pytest.approx(0.5, abs=1e-14)


def test_errors_that_touch_agree() -> None:
    """1 + 0.25 reaches 1.5 - 0.25 just so: both may attain it."""
    found = best(logs([1.0, 1.5], [0.0, 0.0], [0.25 - 1e-17, 0.25 - 1e-17]))
    assert found.upper == pytest.approx(1.75, abs=1e-14)
    assert found.lower == pytest.approx(1.25, abs=1e-14)


def test_among_equals_the_likeliest_is_shown() -> None:
    found = best(logs([-5.0, -1.0, -3.0], [-6.0, -2.0, -4.0]))
    assert found.at == (1.0,)
    assert (found.log_p, found.log_q) == (-1.0, -2.0)
    assert found.upper - found.lower <= 1e-14


def test_impossible_places() -> None:
    assert best(logs([], [])) == NOTHING
    assert best(logs([-math.inf], [-1.0])) == NOTHING
    infinite = best(logs([-9.0, -4.0, -1.0, -math.inf], [-math.inf, -math.inf, -3.0, -math.inf]))
    assert (infinite.value, infinite.lower, infinite.upper) == (math.inf,) * 3
    assert infinite.at == (1.0,)
    assert not NOTHING.possible
    assert infinite.possible


def test_ratios_and_their_other_direction() -> None:
    x = logs([-1.0, -math.inf, -2.0], [-3.0, -1.0, -math.inf], 1e-9)
    assert x.ratio.tolist() == [2.0, -math.inf, math.inf]
    assert x.swapped().ratio.tolist() == [-2.0, math.inf, -math.inf]
    assert (x.slack() > 1e-9).all()
    assert (x.slack() < 1e-9 + 1e-14).all()
    assert x.join(x).p.size == 6


def test_places_that_are_known() -> None:
    x = logs([-5.0, -50.0, -5.0, -5.0], [-8.0, -60.0, -15.0, -math.inf])
    assert x.above(-math.inf) is x
    assert x.above(-10.0).y[:, 0].tolist() == [0.0, 2.0, 3.0]
    assert x.above(-7.0).y[:, 0].tolist() == [0.0, 3.0]


def test_a_bound_that_holds_caps_and_never_goes_below_what_was_shown() -> None:
    sup = Sup(1.0, 0.9, 1.2, (0.0,))
    assert sup.below(1.3) is sup
    assert sup.below(1.2) is sup
    assert (sup.below(1.1).value, sup.below(1.1).lower, sup.below(1.1).upper) == (1.0, 0.9, 1.1)
    assert (sup.below(0.95).value, sup.below(0.95).upper) == (0.95, 0.95)
    assert (sup.below(0.5).value, sup.below(0.5).upper) == (0.9, 0.9)
    assert NOTHING.below(-1.0) is NOTHING
    ways = BothWays(sup, Sup(2.0, 2.0, 2.5))
    assert capped(ways, None) is ways
    both = capped(ways, (1.05, 2.25))
    assert (both.forward.upper, both.backward.upper) == (1.05, 2.25)
