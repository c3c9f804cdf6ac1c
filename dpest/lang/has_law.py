"""A random value's own distribution: inferred when it is first asked for (the older door)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.lang.nodes import Node
from dpest.numerics.interval import Interval
from dpest.upward import upward


class HasLaw:
    """The handle on a node, and what can be asked about the node's law."""

    __slots__ = ("_law", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self._law: Any = None

    @property
    def law(self) -> Any:
        """The value's own distribution, inferred when first asked for."""
        if self._law is None:
            self._law = upward("value_law")(self.node)
        return self._law

    @property
    def atoms(self) -> list[tuple[float, float]]:
        """The points of positive probability: [(value, probability), ...]."""
        return list(self.law.atoms)

    @property
    def density(self) -> dict[str, Any]:
        """The density on a grid: {"x": points, "f": density, "dx": step}; empty where there is none."""
        return dict(self.law.grid())

    @property
    def support(self) -> Interval:
        """The smallest interval that holds every possible value."""
        return Interval(*self.law.support)

    @property
    def error(self) -> float:
        """The relative error of the law's numbers."""
        return float(self.law.error)

    def cdf(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """P(value <= x)."""
        return np.asarray(self.law.cdf(x))

    def sample(self, size: int, rng: np.random.Generator | int | None = None) -> npt.NDArray[Any]:
        """Fresh values, drawn through the graph."""
        drawn: npt.NDArray[Any] = upward("joint_samples")([self], size, np.random.default_rng(rng))
        return drawn[:, 0]
