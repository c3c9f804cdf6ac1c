"""The questions one can ask: the loss of a mechanism over pairs of inputs."""

from __future__ import annotations

from dpest.analysis.estimate import estimate
from dpest.analysis.estimate_algorithm import estimate_algorithm

__all__ = ["estimate", "estimate_algorithm"]
