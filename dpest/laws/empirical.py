"""A value that is known by samples alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from dpest.errors import ExactRefused, InvalidLaw
from dpest.laws.law import Discrete, Rng
from dpest.numerics.logspace import Floats


@dataclass(frozen=True, eq=False)
class Empirical(Discrete):
    """Samples; fresh values are drawn from among them. What one sample alone shows proves nothing: no exact answers."""

    samples: npt.NDArray[np.float64]
    finite = True
    integral = False

    @property
    def support(self) -> tuple[float, float]:
        return float(self.samples.min()), float(self.samples.max())

    def log_density(self, x: npt.ArrayLike) -> Floats:
        self._refuse()

    def first(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        self._refuse()

    def last(self, bound: npt.ArrayLike, strict: bool) -> Floats:
        self._refuse()

    def log_between(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        self._refuse()

    def window(self, log_mass: float) -> tuple[Floats, Floats]:
        self._refuse()

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        return np.asarray(rng.choice(self.samples, size))

    def words(self) -> str:
        return f"{len(self.samples)} samples"

    def _refuse(self) -> NoReturn:
        raise ExactRefused(f"a value is known by {self.words()} alone")


def empirical_law(samples: npt.ArrayLike) -> Empirical:
    """The law of a sample of numbers, checked."""
    values = np.asarray(samples)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "biuf":
        raise InvalidLaw(f"from_samples(samples) needs a non-empty list of numbers, got shape {values.shape} of {values.dtype}")
    if np.isnan(values).any():
        raise InvalidLaw("from_samples(samples) needs numbers, some are NaN: epsilon_from_mixed_samples compares such samples")
    return Empirical(values.astype(float))
