"""The older path to `compile` and its settings."""

from __future__ import annotations

from dpest.doors.compile import Engine, ExecutionPlan, compile
from dpest.run.settings import set_sampling_samples

__all__ = ["Engine", "ExecutionPlan", "compile", "set_sampling_samples"]
