"""What an audit is asked, checked before any work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.errors import InvalidInput, UnknownName
from dpest.inputs import is_real
from dpest.sampling.audit.attacks import FEATURES
from dpest.sampling.audit.classifiers import NAMES as CLASSIFIERS

ATTACKS = ("auto", "sniper", "statdp")
MOST_TRAINING = 1_000_000


@dataclass(frozen=True)
class Settings:
    """What was asked, checked."""

    samples: int
    confidence: float
    alpha: float  # the probability with which the answer may be wrong; the rest belongs to other answers
    claim: float | None
    delta: float
    attack: str
    features: tuple[str, ...] | None
    size: float | None
    classifier: Any

    @property
    def training(self) -> int:
        """Samples of each input for training, and as many for choosing."""
        return min(self.samples, MOST_TRAINING)


def checked(
    samples: int,
    confidence: float,
    claim: float | None,
    delta: float,
    attack: str,
    features: str | Sequence[str],
    c: float | str,
    classifier: Any,
) -> Settings:
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 100:
        raise InvalidInput(f"samples must be a whole number >= 100, got {samples!r}")
    if not is_real(confidence) or not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    if claim is not None and (not is_real(claim) or not 0 <= claim < math.inf):
        raise InvalidInput(f"claim must be a finite epsilon >= 0, got {claim!r}")
    if not is_real(delta) or not 0 <= delta < 1:
        raise InvalidInput(f"delta must lie in [0, 1), got {delta!r}")
    if attack not in ATTACKS:
        raise UnknownName(f"attack must be one of {', '.join(ATTACKS)}, got {attack!r}")
    if c != "auto" and (not is_real(c) or not 0 < float(c) < 1):
        raise InvalidInput(f'c must be "auto" or a probability strictly between 0 and 1, got {c!r}')
    if isinstance(classifier, str) and classifier not in CLASSIFIERS:
        raise UnknownName(f"no classifier is called {classifier!r}: choose one of {', '.join(CLASSIFIERS)}, or give an estimator")
    size = None if isinstance(c, str) else float(c)
    return Settings(int(samples), confidence, 1 - confidence, claim, delta, attack, _features(features), size, classifier)


def _features(features: str | Sequence[str]) -> tuple[str, ...] | None:
    if features == "auto":
        return None
    names = (features,) if isinstance(features, str) else tuple(features)
    known = ("table", *FEATURES)
    for name in names:
        if name not in known:
            raise UnknownName(f"no features are called {name!r}: choose from auto, {', '.join(known)}")
    return names
