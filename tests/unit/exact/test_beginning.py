"""The loss of a program up to where it does not look at its data any more, against closed forms; and what has no such bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import MechanismRaised
from dpest.exact.processed import data_processing_bound
from dpest.inputs.question import check_pairs

HELD: list[Any] = [0.0]


def bound(mechanism: Any, pair: Any = (0.0, 1.0), **params: Any) -> float:
    found = data_processing_bound(mechanism, check_pairs(pair, None, "linf", "estimate"), params)
    return math.inf if found is None else found.uppers[0]


def folded(x, rng, low=0.0, high=10.0, scale=2.0):
    v = x + rng.laplace(0, scale)
    while v < low or v > high:
        v = 2 * low - v if v < low else 2 * high - v
    return v


def halvings(x, rng):
    z = x + rng.laplace(0, 1)
    k = 0
    while abs(z) > 1:
        z /= 2
        k += 1
    return k


def of_a_library(counts, rng):
    noisy = np.array(counts, float) + rng.laplace(0, 2, size=(2, 2))
    return np.linalg.eigvalsh(noisy + noisy.T)


def with_noise_of_its_own(counts, rng):
    noisy = np.maximum(np.array(counts) + rng.laplace(0, 1, size=3), 0) + 0.01
    return rng.multinomial(10, noisy / noisy.sum())


def _image_density(x: float, y: float, width: float, scale: float) -> float:
    """The density at y of Laplace noise around x, folded at 0 and at the width: a sum over the images of y."""
    images = (s * y + 2 * width * k for k in range(-40, 41) for s in (1, -1))
    return math.fsum(math.exp(-abs(z - x) / scale) / (2 * scale) for z in images)


@pytest.mark.parametrize(("pair", "high", "scale"), [((2.0, 3.0), 10.0, 2.0)])
def test_noise_that_is_folded_again_and_again(pair, high, scale):
    """Oracle: the images of the output, in closed form, at many places; and what the noisy value itself tells."""
    r = dpest.estimate(folded, pair, method="exact", high=high, scale=scale)
    ys = np.linspace(0, high, 2001)
    logs = [abs(math.log(_image_density(pair[0], y, high, scale) / _image_density(pair[1], y, high, scale))) for y in ys]
    assert r.lower <= max(logs) + 1e-9 or r.lower == pytest.approx(max(logs), rel=1e-3)
    assert max(logs) <= r.upper == pytest.approx(1 / scale, rel=1e-9)


@pytest.mark.parametrize(("scale", "other"), [(0.01, 1.0), (100.0, 1.0), (1.0, 50.0)])
def test_the_bound_is_the_loss_of_the_noisy_value(scale, other):
    assert bound(folded, (0.0, other), scale=scale) == pytest.approx(other / scale, rel=1e-9)


def test_a_loop_on_noise_ends_with_both_sides():
    """Closed form: no halving or k of them tell where |x + v| lies; far out the noise alone decides, by e^1."""
    r = dpest.estimate(halvings, (10.0, 11.0), method="exact")
    assert r.upper == pytest.approx(1.0, rel=1e-9)
    assert r.lower <= 1.0 + 1e-9


def test_functions_that_take_no_random_values():
    assert bound(of_a_library, ([[1, 0], [0, 1]], [[2, 0], [0, 1]])) == pytest.approx(0.5, rel=1e-9)
    assert bound(with_noise_of_its_own, ([1.0, 2.0, 3.0], [1.0, 3.0, 3.0])) == pytest.approx(1.0, rel=1e-9)


def test_such_a_program_has_two_sides():
    """Closed form: the bound is the loss of the noisy counts; the audit's side lies below it."""
    r = dpest.estimate(of_a_library, ([[1, 0], [0, 1]], [[2, 0], [0, 1]]), samples=4_000, seed=1, progress=False)
    assert (r.method, r.confidence) == ("sampling", 0.95)
    assert 0 <= r.lower <= r.epsilon <= r.upper == pytest.approx(0.5, rel=1e-9)
    assert "as a black box" in r.reason
    with pytest.raises(MechanismRaised):
        dpest.estimate(of_a_library, ([[1, 0], [0, 1]], [[2, 0], [0, 1]]), method="exact")


def raises_anyway(x, rng):
    z = x + rng.laplace()
    return z.no_such_thing


def test_a_program_that_does_not_run_on_numbers_either_is_refused_as_before():
    with pytest.raises(MechanismRaised, match="no_such_thing"):
        dpest.estimate(raises_anyway, (0.0, 1.0), samples=2_000, seed=1, progress=False)


# -- what has no bound: the data go on in another way ---------------------------------------------------------------------


def by_an_alias(x, rng):
    y = x
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + y


def by_a_global_list(x, rng):
    HELD[0] = x
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + HELD[0]


def by_a_method_of_a_global(x, rng):
    HELD.append(x)
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + HELD.pop()


def by_an_alias_of_a_global(x, rng):
    kept = HELD
    kept += [x]
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + HELD.pop()


def _keeps(x):
    HELD[0] = x
    return x


def by_a_function(x, rng):
    z = _keeps(x) + rng.laplace()
    while z > 1:
        z /= 2
    return z + HELD[0]


def by_a_function_that_is_handed_over(x, rng):
    z = sorted([x], key=_keeps)[0] + rng.laplace()
    while z > 1:
        z /= 2
    return z + HELD[0]


def by_a_place_for_the_result(x, rng):
    z = x + rng.laplace()
    np.add(np.array([x]), 0.0, _BUFFER)
    while z > 1:
        z /= 2
    return z + _BUFFER[0]


_BUFFER = np.zeros(1)


def by_a_closure(x, rng):
    raw = lambda: x  # noqa: E731
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + raw()


def by_the_order_of_a_dict(x, rng):
    order = {0: 1, 1: 2} if x > 0.5 else {1: 2, 0: 1}
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + next(iter(order))


def by_a_type(x, rng):
    kind = 1 if x > 0.5 else 1.0
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + (5 if isinstance(kind, int) else 0)


def by_the_sign_of_zero(x, rng):
    zero = 0.0 if x > 0.5 else -0.0
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return math.copysign(1.0, zero), z


def by_a_parameter(x, rng, kept=_BUFFER):
    kept[0] = x
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + kept[0]


class Keeper:
    """Keeps what it was asked for."""

    last = 0.0

    def count(self, x: Any) -> int:
        """Looks as if it changed nothing."""
        self.last = x
        return 1


_KEEPER = Keeper()


def by_an_object(x, rng, keeper=_KEEPER):
    keeper.count(x)
    z = x + rng.laplace()
    while z > 1:
        z /= 2
    return z + keeper.last


def by_a_global_object(x, rng):
    z = x + rng.laplace() + 0 * _KEEPER.count(x)
    while z > 1:
        z /= 2
    return z + _KEEPER.last


def by_an_early_return(x, rng):
    if x > 0.5:
        return 0.0
    z = rng.laplace()
    while z > 1:
        z /= 2
    return z


@pytest.mark.parametrize("mechanism", [f for name, f in globals().items() if name.startswith("by_")])
def test_data_that_go_on_in_another_way_have_no_bound(mechanism):
    assert bound(mechanism) == math.inf
