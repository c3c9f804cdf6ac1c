"""Distribution functions and quantiles on random values: `norm.ppf(u)`, `laplace.cdf(z)`, `NormalDist().inv_cdf(u)`.

SciPy's methods and the standard library's ask for plain numbers. While a mechanism is traced, these stand in for them where
their argument is random: the families below are written with elementary functions, and others are refused.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from dpest.errors import UnsupportedOperation
from dpest.lang.dist import Dist, unwrap, wrap
from dpest.lang.elementary import elementary
from dpest.lang.functions import clip
from dpest.lang.generators.draws import each
from dpest.lang.generators.places import Place
from dpest.lang.plain_numbers import bare

_Function = Callable[[Any], Any]


class _Family(NamedTuple):
    """Distribution function and quantile function of a standard law."""

    cdf: _Function
    ppf: _Function
    symmetric: bool = True  # about 0


def _named(name: str) -> _Function:
    """A function of NumPy's or SciPy's of a random value."""
    call = getattr(np, name, None) or getattr(special, name)
    return lambda x: wrap(elementary(name, unwrap(x), call))


_exp, _log, _expm1, _log1p = map(_named, ("exp", "log", "expm1", "log1p"))


def _laplace_cdf(x: Any) -> Any:
    return 0.5 + 0.5 * np.sign(x) * -_expm1(-abs(x))


def _laplace_ppf(u: Any) -> Any:
    v = 2 * u - 1
    return -np.sign(v) * _log1p(-abs(v))


_FAMILIES = {
    "norm": _Family(_named("ndtr"), _named("ndtri")),
    "logistic": _Family(_named("expit"), _named("logit")),
    "laplace": _Family(_laplace_cdf, _laplace_ppf),
    "cauchy": _Family(lambda x: 0.5 + _named("arctan")(x) / math.pi, lambda u: _named("tan")(math.pi * (u - 0.5))),
    "expon": _Family(lambda x: -_expm1(-np.maximum(x, 0)), lambda u: -_log1p(-u), symmetric=False),
    "gumbel_r": _Family(lambda x: _exp(-_exp(-x)), lambda u: -_log(-_log(u)), symmetric=False),
    "uniform": _Family(lambda x: clip(x, 0, 1), lambda u: u, symmetric=False),
}


def _method(name: str, family: _Family, x: Any, location: Any, scale: Any) -> Any:
    """One of the four methods, at one random value."""
    if name in ("cdf", "sf"):
        standard = (x - location) / scale
        if name == "cdf":
            return family.cdf(standard)
        return family.cdf(-standard) if family.symmetric else 1 - family.cdf(standard)
    if name == "ppf":
        return location + scale * family.ppf(x)
    return location - scale * family.ppf(x) if family.symmetric else location + scale * family.ppf(1 - x)


def distribution_places() -> Iterator[tuple[Place, Any]]:
    """The methods that are stood in for, and what goes there."""
    inside, statistics = map(sys.modules.get, ("scipy.stats._distn_infrastructure", "statistics"))
    if inside is not None:
        yield from (_place(inside.rv_continuous, name, _of_scipy) for name in ("cdf", "sf", "ppf", "isf"))
    if statistics is not None:
        yield from (_place(statistics.NormalDist, name, _of_normal) for name in ("cdf", "inv_cdf"))


def _place(cls: type, name: str, make: Callable[[str, Any], Any]) -> tuple[Place, Any]:
    real = vars(cls)[name]
    real = getattr(real, "__wrapped__", real)
    return Place((id(cls), name), real, functools.partial(setattr, cls, name)), make(name, real)


def _is_random(x: Any) -> bool:
    return isinstance(x, Dist) or (isinstance(x, list | tuple | np.ndarray) and any(map(_is_random, x)))


@functools.cache
def _of_scipy(name: str, real: Any) -> Any:
    @functools.wraps(real)
    def method(self: Any, x: Any, *args: Any, **keywords: Any) -> Any:
        if not _is_random(x):
            plain = isinstance(x, np.ndarray) and x.dtype == object  # numbers of a run without random values
            return real(self, np.vectorize(bare, otypes=[float])(x) if plain else x, *args, **keywords)
        family = _FAMILIES.get(self.name)
        if family is None:
            known = ", ".join(sorted(_FAMILIES))
            raise UnsupportedOperation(f"scipy.stats.{self.name}.{name} of a random value: it is known for {known} only")
        _, location, scale = self._parse_args(*args, **keywords)
        return each(functools.partial(_method, name, family), None, x, location, scale)

    return method


@functools.cache
def _of_normal(name: str, real: Any) -> Any:
    method = {"cdf": "cdf", "inv_cdf": "ppf"}[name]

    @functools.wraps(real)
    def function(self: Any, x: Any) -> Any:
        return _method(method, _FAMILIES["norm"], x, self.mean, self.stdev) if isinstance(x, Dist) else real(self, x)

    return function
