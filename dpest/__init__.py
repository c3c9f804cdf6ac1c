"""dpest: the privacy loss that a differentially private mechanism really has."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "dpest.noise": (
        "laplace",
        "gaussian",
        "exponential",
        "gumbel",
        "logistic",
        "uniform",
        "geometric",
        "bernoulli",
        "categorical",
        "integers",
        "from_scipy",
    ),
    "dpest.operations": (
        "where",
        "branch",
        "mux",
        "maximum",
        "minimum",
        "clip",
        "argmax",
        "argmin",
        "max",
        "min",
        "cumsum",
        "floor",
        "ceil",
        "apply",
    ),
    "dpest.analysis.estimate": ("estimate",),
    "dpest.doors.compose": ("compose",),
    "dpest.curves.curve": ("Curve",),
    "dpest.doors.prove": ("prove",),
    "dpest.doors.calibrate": ("calibrate",),
    "dpest.doors.sweep": ("sweep",),
    "dpest.audit": ("sampler",),
    "dpest.results": ("Result", "Witness", "Evidence"),
    "dpest.inputs": ("Pair", "generate_patterns"),
    "dpest.core": ("Dist", "Interval"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("audit", "errors", "testing", "algorithms", "engine", "analysis", "utils", "core", "operations", "noise")

__all__ = sorted([*_HOME, "__version__", "audit", "errors", "testing"])


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used, so that `import dpest` stays cheap."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"dpest.{name}")
    raise AttributeError(f"module 'dpest' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
