"""What an audit is asked, checked before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpest.errors import InvalidInput, UnknownName
from dpest.inputs.pairs import is_real
from dpest.inputs.question import check_confidence, check_delta, check_epsilon, check_samples, nearest, one_of
from dpest.sampling.scores.attacks import FEATURES
from dpest.sampling.scores.classifiers import NAMES as CLASSIFIERS

ATTACKS = ("auto", "sniper", "statdp")
MOST_TRAINING = 1_000_000  # keeps the samples of the search at 8 MB for each column and input
FEWEST_SAMPLES = 100  # of which a quarter or so choose the event: fewer bound nothing


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
    """What was asked, or the first mistake in it."""
    samples, confidence, delta = check_samples(samples, FEWEST_SAMPLES), check_confidence(confidence), check_delta(delta)
    claim = None if claim is None else check_epsilon("claim", claim)
    one_of("attack", attack, ATTACKS)
    if c != "auto" and (not is_real(c) or not 0 < float(c) < 1):
        raise InvalidInput(f'c must be "auto" or a probability strictly between 0 and 1, got {c!r}')
    if isinstance(classifier, str) and classifier not in CLASSIFIERS:
        raise UnknownName(f"no classifier is called {classifier!r}: choose one of {', '.join(CLASSIFIERS)}, or give an estimator")
    size = None if isinstance(c, str) else float(c)
    return Settings(samples, confidence, 1 - confidence, claim, delta, attack, _features(features), size, classifier)


def _features(features: str | Sequence[str]) -> tuple[str, ...] | None:
    if features == "auto":
        return None
    names = (features,) if isinstance(features, str) else tuple(features)
    known = ("table", *FEATURES)
    for name in names:
        if name not in known:
            raise UnknownName(f"no features are called {name!r}: choose from auto, {', '.join(known)}{nearest(name, known)}")
    return names
