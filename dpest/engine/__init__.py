"""The engine: traces functions, infers laws, samples what it cannot infer."""

from __future__ import annotations

from typing import Any

__all__ = ["Engine", "ExecutionPlan", "compile", "set_sampling_samples"]


def __getattr__(name: str) -> Any:
    """The public names are loaded when first used."""
    if name == "set_sampling_samples":
        from dpest.engine.settings import set_sampling_samples

        return set_sampling_samples
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("dpest.engine.program"), name)
    raise AttributeError(f"module 'dpest.engine' has no attribute {name!r}")
