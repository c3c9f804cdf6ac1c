"""delta(epsilon) of a list of losses, summed as it stands."""

from __future__ import annotations

import numpy as np

from dpest.curves.cells import ROUND, Losses

_SUM = 4e-14  # relative error of a sum of positive numbers in numpy, which adds in pairs, and of their exponentials


def delta_above(losses: Losses, epsilon: float) -> float:
    """The sum over losses above epsilon of p (1 - e^(epsilon - loss)) and of all that is infinite, rounded upwards."""
    noise = 2 * ROUND * (np.abs(losses.loss) + abs(epsilon))
    over = np.maximum(losses.loss - epsilon + noise, 0.0)
    total = float(np.sum(np.exp(losses.log_mass) * -np.expm1(-over))) + losses.infinite
    return min(1.0, total * (1 + _SUM))


def delta_below(losses: Losses, epsilon: float) -> float:
    """The same, rounded downwards."""
    noise = 2 * ROUND * (np.abs(losses.loss) + abs(epsilon))
    over = np.maximum(losses.loss - epsilon - noise, 0.0)
    total = float(np.sum(np.exp(losses.log_mass) * -np.expm1(-over))) + losses.infinite
    return max(0.0, min(1.0, total * (1 - _SUM)))
