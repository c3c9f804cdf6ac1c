"""Moving losses to a grid keeps the order of every delta, also of negative epsilons (which composition asks about)."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dpest.curves.cells import Losses, product, single
from dpest.curves.grid import downwards, upwards


def losses(rng: np.random.Generator) -> Losses:
    """Random lists: clusters, single losses far apart, tiny probabilities, losses on the grid."""
    kind = int(rng.integers(4))
    n = int(rng.integers(1, 60))
    loss = rng.normal(0, 1, n) if kind == 0 else rng.uniform(-3, 3, n)
    if kind == 2:
        loss = np.round(loss * 8) / 8
    mass = rng.dirichlet(np.ones(n)) if kind < 3 else np.exp(-rng.uniform(0, 60, n))
    order = np.argsort(loss)
    with np.errstate(divide="ignore"):
        logs = np.log(mass[order])
    keep = np.isfinite(logs)
    return Losses(logs[keep], loss[order][keep], 0.0)


def delta(log_mass: np.ndarray, loss: np.ndarray, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        pairs = zip(log_mass.tolist(), loss.tolist(), strict=True)
        return mpmath.fsum(
            mpmath.exp(m) * -mpmath.expm1(mpmath.mpf(epsilon) - mpmath.mpf(x)) for m, x in pairs if x > epsilon
        )


@pytest.mark.parametrize("seed", range(40))
def test_grids_bound_every_delta(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = losses(rng)
    step, offset = float(rng.choice([0.001, 0.125, 0.3, 2.0])), float(rng.choice([0.0, given.loss[0], 0.37]))
    up, down = upwards(given, step, offset), downwards(given, step, offset)
    for epsilon in np.concatenate([rng.uniform(-4, 4, 25), given.loss[:5], given.loss[:5] - step / 2]).tolist():
        truth = delta(given.log_mass, given.loss, epsilon)
        assert delta(down.log_mass, down.loss - down.guard, epsilon) <= truth
        assert truth <= delta(up.log_mass, up.loss, epsilon)


def test_dense_losses_cost_the_square_of_the_step() -> None:
    given = Losses(np.full(20_000, -np.log(20_000)), np.linspace(-1, 1, 20_000), 0.0)
    gaps = []
    for step in (0.04, 0.02, 0.01):
        up, down = upwards(given, step, 0.003), downwards(given, step, 0.003)
        gaps.append(float(delta(up.log_mass, up.loss, 0.2) - delta(down.log_mass, down.loss, 0.2)))
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.4)
    assert gaps[1] / gaps[2] == pytest.approx(4.0, rel=0.4)


def test_losses_on_the_grid_stay_there() -> None:
    given = single(np.log([0.5, 0.3, 0.2]), np.log([0.2, 0.3, 0.5])).lower
    unit = float(np.log(2.5))
    found = downwards(given, unit, -unit)
    assert found.n.tolist() == [0, 1, 2]
    assert np.exp(found.log_mass).tolist() == pytest.approx([0.2, 0.3, 0.5], rel=1e-12)


def test_products_merge_equal_losses() -> None:
    coin = single(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    assert product(coin, coin).size == 3
    assert product(product(coin, coin), coin).size == 4
