"""dpest's names on plain numbers: a mechanism `mechanism(x, d)` is traced with `d = dpest` and run with one of these.

This is an oracle: it knows nothing of the engine and must not import it.
"""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


class Plain:
    """The functions on random values, on plain numbers; a subclass says where a draw comes from."""

    def __init__(self) -> None:
        self.Dist = _FromAtoms(self)

    def draw(self, family: str, *parameters: Any) -> Any:
        """One fresh number; each kind of run has its own."""
        raise NotImplementedError

    def _sized(self, size: Any, family: str, *parameters: Any) -> Any:
        if size is None:
            return self.draw(family, *parameters)
        out = np.empty(size, dtype=object)
        for at in np.ndindex(out.shape):
            out[at] = self.draw(family, *parameters)
        return out

    def laplace(self, scale: Any, size: Any = None) -> Any:
        return self._sized(size, "laplace", scale)

    def gaussian(self, sigma: Any, size: Any = None) -> Any:
        return self._sized(size, "gaussian", sigma)

    def exponential(self, scale: Any, size: Any = None) -> Any:
        return self._sized(size, "exponential", scale)

    def gumbel(self, scale: Any, size: Any = None) -> Any:
        return self._sized(size, "gumbel", scale)

    def logistic(self, scale: Any, size: Any = None) -> Any:
        return self._sized(size, "logistic", scale)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._sized(size, "uniform", low, high)

    def geometric(self, scale: Any, size: Any = None) -> Any:
        return self._sized(size, "geometric", scale)

    def bernoulli(self, p: Any, size: Any = None) -> Any:
        return self._sized(size, "bernoulli", p)

    def categorical(self, probs: Any, size: Any = None) -> Any:
        return self._sized(size, "categorical", tuple(probs))

    def integers(self, low: Any, high: Any, size: Any = None) -> Any:
        return self._sized(size, "integers", low, high)

    def from_scipy(self, frozen: Any, size: Any = None) -> Any:
        return self._sized(size, "from_scipy", frozen)

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    branch = mux = where

    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        return a if a >= b else b

    @staticmethod
    def minimum(a: Any, b: Any) -> Any:
        return a if a <= b else b

    @staticmethod
    def max(*values: Any) -> Any:
        return builtins.max(*values)

    @staticmethod
    def min(*values: Any) -> Any:
        return builtins.min(*values)

    @staticmethod
    def argmax(values: Sequence[Any]) -> int:
        items = list(values)
        return builtins.max(range(len(items)), key=lambda i: items[i])

    @staticmethod
    def argmin(values: Sequence[Any]) -> int:
        items = list(values)
        return builtins.min(range(len(items)), key=lambda i: items[i])

    @staticmethod
    def clip(x: Any, low: Any, high: Any) -> Any:
        """As numpy.clip: the upper bound has the last word where the bounds cross."""
        raised = x if x >= low else low
        return raised if raised <= high else high

    @staticmethod
    def floor(x: Any) -> Any:
        return math.floor(x)

    @staticmethod
    def ceil(x: Any) -> Any:
        return math.ceil(x)

    @staticmethod
    def cumsum(values: Sequence[Any]) -> Any:
        return np.array(list(itertools.accumulate(values)), dtype=object)


class _FromAtoms:
    """The `Dist` of a plain namespace: `d.Dist.from_atoms({...})` draws one of the points."""

    def __init__(self, names: Plain) -> None:
        self._names = names

    def from_atoms(self, atoms: Any) -> Any:
        pairs = atoms.items() if hasattr(atoms, "items") else atoms
        return self._names.draw("from_atoms", tuple(pairs))


class Sampled(Plain):
    """Draws are pseudorandom numbers of NumPy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.rng = rng

    def draw(self, family: str, *parameters: Any) -> Any:
        rng = self.rng
        match family:
            case "laplace" | "gumbel" | "logistic":
                return getattr(rng, family)(0.0, float(parameters[0]))
            case "gaussian":
                return rng.normal(0.0, float(parameters[0]))
            case "exponential":
                return rng.exponential(float(parameters[0]))
            case "uniform":
                return rng.uniform(float(parameters[0]), float(parameters[1]))
            case "geometric":
                p = -math.expm1(-1 / float(parameters[0]))
                return int(rng.geometric(p)) - int(rng.geometric(p))
            case "bernoulli":
                return int(rng.random() < parameters[0])
            case "categorical":
                return int(np.searchsorted(np.cumsum(parameters[0]), rng.random(), side="right").clip(0, len(parameters[0]) - 1))
            case "integers":
                return int(rng.integers(int(parameters[0]), int(parameters[1]), endpoint=True))
            case "from_atoms":
                points = [p for p, _ in parameters[0]]
                edges = np.cumsum([w for _, w in parameters[0]])
                return points[int(np.searchsorted(edges, rng.random(), side="right").clip(0, len(points) - 1))]
            case "from_scipy":
                return self._frozen(parameters[0])
        raise AssertionError(family)

    def _frozen(self, law: Any) -> float:
        """A draw of a frozen scipy.stats law, or of a plain object that names one."""
        scale = law.kwds.get("scale", 1.0)
        match law.dist.name:
            case "t":
                return scale * self.rng.standard_t(law.args[0] if law.args else law.kwds["df"])
            case "cauchy":
                return scale * self.rng.standard_cauchy()
        return float(law.rvs(random_state=self.rng))
