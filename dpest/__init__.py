"""dpest: the privacy loss that a differentially private mechanism really has."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; at run time the same names are loaded by `__getattr__`
    from dpest import algorithms as algorithms
    from dpest import analysis as analysis
    from dpest import core as core
    from dpest import engine as engine
    from dpest import errors, testing
    from dpest import noise as noise
    from dpest import operations as operations
    from dpest import utils as utils
    from dpest.curves.curve import Curve
    from dpest.doors.audit import audit
    from dpest.doors.calibrate import calibrate
    from dpest.doors.compose import compose
    from dpest.doors.estimate import estimate
    from dpest.doors.prove import prove
    from dpest.doors.sweep import sweep
    from dpest.inputs.pairs import Pair, generate_patterns
    from dpest.lang.dist import Dist, Interval
    from dpest.lang.functions import (
        apply,
        argmax,
        argmin,
        branch,
        ceil,
        clip,
        cumsum,
        floor,
        max,
        maximum,
        min,
        minimum,
        mux,
        where,
    )
    from dpest.lang.noise import (
        bernoulli,
        categorical,
        exponential,
        from_scipy,
        gaussian,
        geometric,
        gumbel,
        integers,
        laplace,
        logistic,
        uniform,
    )
    from dpest.results import Evidence, Result, Witness
    from dpest.sampling.runs.blackbox import sampler

__version__ = "0.1.0"

_HOMES = {
    "dpest.lang.noise": (
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
    "dpest.lang.functions": (
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
    "dpest.doors.estimate": ("estimate",),
    "dpest.doors.compose": ("compose",),
    "dpest.curves.curve": ("Curve",),
    "dpest.doors.prove": ("prove",),
    "dpest.doors.calibrate": ("calibrate",),
    "dpest.doors.sweep": ("sweep",),
    "dpest.sampling.runs.blackbox": ("sampler",),
    "dpest.results": ("Result", "Witness", "Evidence"),
    "dpest.inputs.pairs": ("Pair", "generate_patterns"),
    "dpest.lang.dist": ("Dist", "Interval"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("audit", "errors", "testing", "algorithms", "engine", "analysis", "utils", "core", "operations", "noise")

__all__ = [
    "Curve",
    "Dist",
    "Evidence",
    "Interval",
    "Pair",
    "Result",
    "Witness",
    "__version__",
    "apply",
    "argmax",
    "argmin",
    "audit",
    "bernoulli",
    "branch",
    "calibrate",
    "categorical",
    "ceil",
    "clip",
    "compose",
    "cumsum",
    "errors",
    "estimate",
    "exponential",
    "floor",
    "from_scipy",
    "gaussian",
    "generate_patterns",
    "geometric",
    "gumbel",
    "integers",
    "laplace",
    "logistic",
    "max",
    "maximum",
    "min",
    "minimum",
    "mux",
    "prove",
    "sampler",
    "sweep",
    "testing",
    "uniform",
    "where",
]

if not TYPE_CHECKING:  # a type checker that saw it would take every misspelt name for Any

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
