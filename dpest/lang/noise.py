"""Fresh draws: each call makes one new random value, or an array of them with `size=`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec

import numpy as np
import numpy.typing as npt

from dpest.errors import InvalidInput, InvalidLaw
from dpest.lang.dist import Dist, fresh
from dpest.lang.plain_numbers import PlainNumber, bare, native
from dpest.lang.run import shown
from dpest.laws import continuous as c
from dpest.laws import discrete as d
from dpest.laws.law import Law

Size = int | tuple[int, ...] | None


def _sized(law: Law, size: Size) -> Any:
    if size is None:
        return fresh(law)
    shape = size if isinstance(size, tuple) else (size,)
    if not all(isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 0 for k in shape):
        raise InvalidInput(f"size must be a whole number >= 0 or a tuple of them, got {shown(size)}")
    out = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        out[at] = fresh(law)
    return native(out)


def _scaled(unit: type[Any], scale: Any, size: Size) -> Any:
    """A scale family; a random scale multiplies a unit draw."""
    if size is None and type(scale) is float:
        law = _LAWS.get((unit, scale))
        return fresh(_known(unit, scale) if law is None else law)
    if isinstance(scale, Dist | PlainNumber):
        return scale * _sized(unit(1.0), size)
    return _sized(_known(unit, _plain(scale)), size)


def _known(unit: Callable[[Any], Any], scale: Any) -> Any:
    """The law with this scale; a mechanism asks for the same few again and again."""
    if type(scale) is int and abs(scale) < d.MOST_EXACT:
        scale = float(scale)  # laplace(2) and laplace(2.0) are one law, whichever is asked for first
    key = (unit, scale)
    try:
        return _LAWS[key]
    except (KeyError, TypeError):
        law = unit(scale)
    if len(_LAWS) < _MOST_LAWS:
        _LAWS[key] = law
    return law


_LAWS: dict[Any, Any] = {}
# Laws that are kept, some hundred bytes each: a program that draws at ever new scales must not fill the memory.
_MOST_LAWS = 10_000


def _plain(x: Any) -> Any:
    return bare(x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x)


def _fixed(call: str, *values: Any) -> None:
    if any(isinstance(v, Dist) for v in values):
        raise InvalidLaw(f"{call} needs plain numbers, got a random value: branch on it with `if`, then draw with plain numbers")


Given = ParamSpec("Given")
_LOCATED = ("laplace", "gaussian", "gumbel", "logistic")  # numpy's take a location first


def _size_by_name(draw: Callable[Given, Any]) -> Callable[Given, Any]:
    """Refuses a size that is given by position, with the call to write instead."""
    most = sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in inspect.signature(draw).parameters.values())
    name = draw.__name__

    @functools.wraps(draw)
    def checked(*args: Given.args, **keywords: Given.kwargs) -> Any:
        if len(args) <= most:
            return draw(*args, **keywords)
        own, extra = ", ".join(map(shown, args[:most])), shown(args[most])
        numpys = f", or {shown(args[0])} + {name}({extra}) for numpy's (loc, scale)" if name in _LOCATED else ""
        raise InvalidInput(f"{name} takes size by name: write {name}({own}, size={extra}){numpys}")

    return checked


@_size_by_name
def laplace(scale: Any, *, size: Size = None) -> Any:
    """Laplace noise, density exp(-|x| / scale) / (2 scale).

    Args:
        scale: a number > 0, or a random value, which then multiplies a draw of scale 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: x + dpest.laplace(2), (0, 1)):.3f}")
        0.500
    """
    return _scaled(c.Laplace, scale, size)


@_size_by_name
def gaussian(sigma: Any, *, size: Size = None) -> Any:
    """Gaussian noise with standard deviation sigma; its loss is infinite, and finite at any delta > 0.

    Args:
        sigma: a number > 0, or a random value, which then multiplies a draw of sigma 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> r = dpest.estimate(lambda x: x + dpest.gaussian(1), (0, 1))
        >>> print(f"{r.epsilon_at(1e-5):.3f}")
        4.377
    """
    return _scaled(c.Gaussian, sigma, size)


@_size_by_name
def exponential(scale: Any, *, size: Size = None) -> Any:
    """Exponential noise, density exp(-x / scale) / scale for x >= 0.

    Args:
        scale: a number > 0, or a random value, which then multiplies a draw of scale 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> noisy_max = lambda x: dpest.argmax([v + dpest.exponential(2) for v in x])
        >>> print(f"{dpest.estimate(noisy_max, ([0, 1], [1, 0])):.3f}")
        0.832
    """
    return _scaled(c.Exponential, scale, size)


@_size_by_name
def gumbel(scale: Any, *, size: Size = None) -> Any:
    """Gumbel noise (of maxima): the argmax of scores plus gumbel noise is the exponential mechanism.

    Args:
        scale: a number > 0, or a random value, which then multiplies a draw of scale 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> chosen = lambda scores: dpest.argmax([s + dpest.gumbel(1) for s in scores])
        >>> print(f"{dpest.estimate(chosen, ([0, 0], [1, 0])):.6f}")
        0.620115
    """
    return _scaled(c.Gumbel, scale, size)


@_size_by_name
def logistic(scale: Any, *, size: Size = None) -> Any:
    """Logistic noise, density exp(-x / scale) / (scale (1 + exp(-x / scale))^2).

    Args:
        scale: a number > 0, or a random value, which then multiplies a draw of scale 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x: x + dpest.logistic(2), (0, 1)):.3f}")
        0.500
    """
    return _scaled(c.Logistic, scale, size)


@_size_by_name
def uniform(low: Any = 0.0, high: Any = 1.0, *, size: Size = None) -> Any:
    """Uniform noise between low and high.

    Args:
        low: the smallest value, a plain number.
        high: the largest value, a plain number > low.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> coin = lambda x: 1 - x if dpest.uniform() < 0.25 else x
        >>> print(f"{dpest.estimate(coin, (0, 1)):.6f}")
        1.098612
    """
    _fixed("uniform(low, high)", low, high)
    return _sized(c.Uniform(_plain(low), _plain(high)), size)


@_size_by_name
def geometric(scale: Any, *, size: Size = None) -> Any:
    """Two-sided geometric noise on the whole numbers, P(k) proportional to exp(-|k| / scale).

    Args:
        scale: a plain number > 0; a count that changes by 1 then loses 1 / scale.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda count: count + dpest.geometric(2), (3, 4)):.3f}")
        0.500
    """
    _fixed("geometric(scale)", scale)
    return _sized(_known(d.Geometric, _plain(scale)), size)


@_size_by_name
def bernoulli(p: Any, *, size: Size = None) -> Any:
    """1 with probability p, else 0.

    Args:
        p: a plain number in [0, 1].
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> answer = lambda truth: truth if dpest.bernoulli(0.75) else 1 - truth
        >>> print(f"{dpest.estimate(answer, (0, 1)):.6f}")
        1.098612
    """
    _fixed("bernoulli(p)", p)
    return _sized(_known(d.bernoulli_law, _plain(p)), size)


@_size_by_name
def categorical(probs: npt.ArrayLike, *, size: Size = None) -> Any:
    """An index 0, 1, ... with the given probabilities.

    Args:
        probs: plain numbers >= 0 that add up to 1.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> answer = lambda truth: (truth + dpest.categorical([0.5, 0.25, 0.25])) % 3
        >>> print(f"{dpest.estimate(answer, (0, 1)):.6f}")
        0.693147
    """
    _fixed("categorical(probs)", *list(np.ravel(np.asarray(probs, dtype=object))))
    return _sized(d.categorical_law(probs), size)


@_size_by_name
def integers(low: Any, high: Any, *, size: Size = None) -> Any:
    """A whole number from low to high, both included, each equally likely.

    Args:
        low: the smallest value, a whole number.
        high: the largest value, a whole number >= low.
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> row = lambda rows: rows[dpest.integers(0, 2)]
        >>> dpest.estimate(row, ([1, 2, 3], [1, 2, 4])).epsilon
        inf
    """
    _fixed("integers(low, high)", low, high)
    return _sized(d.integers_law(_plain(low), _plain(high)), size)


@_size_by_name
def from_scipy(frozen: Any, *, size: Size = None) -> Any:
    """Noise from any frozen scipy.stats distribution.

    Args:
        frozen: the distribution with its parameters, such as scipy.stats.t(df=3).
        size: None for one value, 3 or (2, 3) for an array of independent ones.

    Example:
        >>> import dpest
        >>> import scipy.stats
        >>> r = dpest.estimate(lambda x: x + dpest.from_scipy(scipy.stats.laplace(scale=4)), (0, 1))
        >>> print(f"{r:.3f}")
        0.250
    """
    from dpest.laws.scipy_law import from_frozen

    location, law = from_frozen(frozen)
    draws = _sized(law, size)
    return draws + location if location else draws


@dataclass(frozen=True)
class Noise:
    """A family of the older door: `Laplace(b=1.0).to_dist()` is one fresh draw."""

    b: float

    def to_dist(self) -> Dist:
        """One fresh draw."""
        value: Dist = fresh(getattr(c, type(self).__name__)(self.b))
        return value


class Laplace(Noise):
    """Laplace noise of scale b."""


class Exponential(Noise):
    """Exponential noise of scale b."""


class Gumbel(Noise):
    """Gumbel noise of scale b."""


class Logistic(Noise):
    """Logistic noise of scale b."""


class Gaussian(Noise):
    """Gaussian noise of standard deviation b."""


def create_laplace_noise(b: float, size: int) -> list[Dist]:
    """`size` fresh Laplace draws of scale b."""
    return list(laplace(b, size=size))


def create_exponential_noise(b: float, size: int) -> list[Dist]:
    """`size` fresh exponential draws of scale b."""
    return list(exponential(b, size=size))
