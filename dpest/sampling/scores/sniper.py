"""DP-Sniper as published (Bichsel, Steffen, Bogunovic, Vechev, IEEE S&P 2021): a classifier, and a randomised threshold on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import erfinv

from dpest.errors import InvalidInput
from dpest.results import Direction
from dpest.sampling.runs.outputs import Batch, Matrix
from dpest.sampling.scores.classifiers import fit_classifier
from dpest.sampling.scores.event import Event


def sample_size(c: float = 0.01, w: float = 0.005, alpha: float = 0.05) -> int:
    """The guideline for the number of samples: N = max{2 (1 - c) / (w^2 c), 8 (1 - c) / c erfinv(1 - 2 alpha)^2}.

    With it the estimate of ln(c-power) is within w of the truth but for probability alpha: 7,920,000 for the defaults.
    """
    _fraction("c", c)
    _fraction("alpha", alpha)
    if not w > 0:
        raise InvalidInput(f"w must be > 0, got {w!r}")
    return math.ceil(max(2 * (1 - c) / (w * w * c), 8 * (1 - c) / c * float(erfinv(1 - 2 * alpha)) ** 2))


def optimality_gap(samples: int, c: float = 0.01, alpha: float = 0.05) -> float:
    """How far the power of the attack may lie below the best one, but for probability alpha: rho/c + 2 (rho/c)^2.

    rho = sqrt(ln(2 / alpha) / (2 N)) bounds the error of an empirical distribution of N scores (Dvoretzky, Kiefer, Wolfowitz).
    """
    _fraction("c", c)
    _fraction("alpha", alpha)
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples!r}")
    rho = math.sqrt(math.log(2 / alpha) / (2 * samples))
    return rho / c + 2 * (rho / c) ** 2


def randomised_threshold(scores: Matrix, c: float) -> tuple[float, float]:
    """The threshold t and tie probability q with which {score > t}, and {score = t} q times, cover exactly c N scores."""
    _fraction("c", c)
    n = len(scores)
    ordered = np.sort(scores)[::-1]
    t = float(ordered[min(math.floor(c * n), n - 1)])
    above, on = int(np.count_nonzero(scores > t)), int(np.count_nonzero(scores == t))
    return t, (c * n - above) / on


def power(hits: int, trials: int, other_hits: int, other_trials: int, c: float) -> float:
    """The c-power of an attack: ln max(c, p) - ln max(c, p')."""
    return math.log(max(c, hits / trials)) - math.log(max(c, other_hits / other_trials))


def snipe(train: Sequence[Batch], choose: Sequence[Batch], classifier: Any, c: float, width: int) -> tuple[Event, Direction]:
    """Train on one sample, set the threshold on another; in the direction whose attack has the larger power there."""
    left, right = (b.resized(width) for b in train)
    model = fit_classifier(classifier, left, right)
    scores = [model.score(b.resized(width)) for b in choose]
    found = []
    for direction, likelier, other, sign in (
        (Direction.LEFT, scores[0], scores[1], 1.0),
        (Direction.RIGHT, scores[1], scores[0], -1.0),
    ):
        t, q = randomised_threshold(sign * other, c)
        event = Event(model, sign * t, direction is Direction.LEFT, width, q)
        found.append((_share(sign * likelier, t, q), event, direction))
    _, event, direction = max(found, key=lambda f: f[0])
    return event, direction


def _share(scores: Matrix, t: float, q: float) -> float:
    return float(np.mean(scores > t) + q * np.mean(scores == t))


def _fraction(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InvalidInput(f"{name} must lie strictly between 0 and 1, got {value!r}")
