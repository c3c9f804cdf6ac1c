"""The methods of generators as draws: arguments as NumPy and the standard library have them, results random values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpest.errors import InvalidInput, UnsupportedOperation
from dpest.lang import noise
from dpest.lang.dist import RUN, Dist, fresh, on_lattice
from dpest.lang.generators.open_arrays import drawn
from dpest.lang.generators.replacement import a_place, one_by_one, plain, without_replacement
from dpest.lang.generators.seeds import remember
from dpest.lang.many_bits import MANY
from dpest.lang.narrow import of_type
from dpest.lang.one_text import one_of_texts
from dpest.lang.plain_numbers import PlainNumber, native
from dpest.lang.shares import are_added
from dpest.lang.shuffled import HoldsNumbersOnly, Shuffled, left_open
from dpest.laws.discrete import MOST_EXACT, atoms
from dpest.laws.stock import stock_law
from dpest.numerics.setting import Setting

Size = int | tuple[int, ...] | None


def no_law(name: str) -> UnsupportedOperation:
    """The error for a method that makes no draw here."""
    return UnsupportedOperation(
        f"{name} of a generator has no law in dpest: write it with draws that have one (laplace, normal, uniform, integers, "
        "choice, ...), or bound the loss of the program as it stands with `dpest audit` (dpest.audit), as a black box"
    )


def each(one: Callable[..., Any], size: Any, *values: Any) -> Any:
    """One draw, or an array of them: of this size, or of the shape that the parameters have together."""
    arrays = [np.asarray(v, dtype=object) for v in values]
    if size is None and all(a.ndim == 0 for a in arrays):
        return one(*values)
    shape = np.broadcast_shapes(*(a.shape for a in arrays)) if size is None else _shape(size)
    out = np.empty(shape, dtype=object)
    wide = [np.broadcast_to(a, shape) for a in arrays]
    for at in np.ndindex(*shape):
        out[at] = one(*(w[at] for w in wide))
    return drawn(native(out))


def _shape(size: Any) -> tuple[int, ...]:
    try:
        return tuple(int(k) for k in size) if isinstance(size, tuple | list | np.ndarray) else (int(size),)
    except TypeError:
        raise InvalidInput("size of a draw must be a whole number or a tuple of them") from None


def _plus(loc: Any, value: Any) -> Any:
    return value if not isinstance(loc, Dist | PlainNumber) and loc == 0 else loc + value


def _located(draw: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        return each(lambda m, b: _plus(m, _scaled(draw, b)), size, loc, scale)

    return method


def _scaled(draw: Callable[[Any], Any], scale: Any) -> Any:
    plain = not isinstance(scale, Dist | PlainNumber)
    return 0.0 if plain and scale == 0 else draw(_number(scale))  # NumPy takes a scale of 0: no noise


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


laplace = _located(noise.laplace)
normal = _located(noise.gaussian)
gumbel = _located(noise.gumbel)
logistic = _located(noise.logistic)


def exponential(scale: Any = 1.0, size: Size = None) -> Any:
    """Exponential draws."""
    return each(lambda b: _scaled(noise.exponential, b), size, scale)


def standard_normal(size: Size = None, dtype: Any = None) -> Any:
    """Gaussian draws of standard deviation 1."""
    return normal(size=size)


def standard_exponential(size: Size = None, dtype: Any = None) -> Any:
    """Exponential draws of scale 1."""
    return exponential(size=size)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
    """Uniform draws between low and high."""
    return each(_uniform, size, low, high)


def _uniform(low: Any, high: Any) -> Any:
    if isinstance(low, Dist | PlainNumber) or isinstance(high, Dist | PlainNumber):
        return low + (high - low) * noise.uniform()
    if low == high:
        return low
    return noise.uniform(_number(min(low, high)), _number(max(low, high)))


def random(size: Size = None, dtype: Any = None) -> Any:
    """Uniform draws between 0 and 1."""
    return uniform(size=size)


def rand(*shape: int) -> Any:
    """The older name of uniform draws."""
    return uniform(size=shape or None)


def randn(*shape: int) -> Any:
    """The older name of Gaussian draws."""
    return normal(size=shape or None)


def integers(low: Any, high: Any = None, size: Size = None, dtype: Any = None, endpoint: bool = False) -> Any:
    """Whole numbers from low to high, without high unless `endpoint`; from 0 to low where high is not given."""
    first, last = (0, low) if high is None else (low, high)
    return of_type(each(lambda a, b: _whole(a, plain(b) - (not endpoint)), size, first, last), dtype)


def randint(low: Any, high: Any = None, size: Size = None, dtype: Any = None) -> Any:
    """Whole numbers from low to high, without high, as older NumPy code has them."""
    return integers(low, high, size, dtype)


def _whole(low: Any, high: Any) -> Any:
    first, last = int(plain(low)), int(plain(high))
    if first == last:
        return first + 0
    if max(abs(first), abs(last)) <= MOST_EXACT and last - first + 1 < MANY:
        return remember(noise.integers(first, last), last - first)
    return remember(first + math.floor(noise.uniform() * (last - first + 1)), last - first)


def binomial(n: Any, p: Any, size: Size = None) -> Any:
    """How many of n coins fall on the side with probability p."""
    return each(_binomial, size, n, p)


def _binomial(n: Any, p: Any) -> Any:
    count, chance = int(plain(n)), float(plain(p))
    if count == 0 or chance in (0.0, 1.0):
        return count * int(chance)
    return noise.bernoulli(chance) if count == 1 else of_scipy("binom", count, chance)


def poisson(lam: Any = 1.0, size: Size = None) -> Any:
    """Poisson draws."""
    return each(lambda rate: of_scipy("poisson", float(plain(rate))), size, lam)


def geometric(p: Any, size: Size = None) -> Any:
    """How many trials up to the first success: 1, 2, ..."""
    return each(lambda chance: of_scipy("geom", float(plain(chance))), size, p)


def standard_cauchy(size: Size = None) -> Any:
    """Cauchy draws of scale 1."""
    return each(lambda: of_scipy("cauchy"), size)


def standard_t(df: Any, size: Size = None) -> Any:
    """Student's t."""
    return each(lambda nu: of_scipy("t", float(plain(nu))), size, df)


def of_scipy(family: Any, *shapes: float) -> Any:
    """A draw with the law of a SciPy distribution, given itself or by its name."""
    with Setting(RUN, None):  # SciPy asks generators for numbers of its own when it is loaded, and when a law is made
        from dpest.laws.scipy_law import from_frozen

        location, law = stock_law(family, *shapes) if isinstance(family, str) else from_frozen(family(*shapes))
    return _plus(location, fresh(law))


def _shaped(name: str, least: float = 0.0) -> Callable[..., Any]:
    """Draws of a SciPy family by its shapes; below `least` its density has a pole, which exact inference does not integrate."""

    def one(*shapes: Any) -> Any:
        numbers = [float(plain(x)) for x in shapes]
        if any(x < least for x in numbers):
            raise no_law(f"{name} with a shape below {least:g}")
        return of_scipy(name, *numbers)

    return one


def gamma(shape: Any, scale: Any = 1.0, size: Size = None) -> Any:
    """Gamma draws."""
    one = _shaped("gamma", 0.0 if are_added() else 1.0)
    return each(lambda k, b: b * one(k), size, shape, scale)


def standard_gamma(shape: Any, size: Size = None, dtype: Any = None) -> Any:
    """Gamma draws of scale 1."""
    return gamma(shape, 1.0, size)


def beta(a: Any, b: Any, size: Size = None) -> Any:
    """Beta draws."""
    return each(_shaped("beta", 1.0), size, a, b)


def dirichlet(alpha: Any, size: Size = None) -> Any:
    """Proportions, broken off one after the other: each is a beta share of what those before it have left."""
    if size is not None:
        raise no_law("dirichlet with a size")
    shapes = [float(plain(a)) for a in alpha]
    rest: Any = 1.0
    out = []
    for i, shape in enumerate(shapes[:-1]):
        share = beta(shape, math.fsum(shapes[i + 1 :]))
        out.append(rest * share)
        rest = rest * (1 - share)
    return native(_array([*out, rest]))


def chisquare(df: Any, size: Size = None) -> Any:
    """Chi-square draws."""
    return each(_shaped("chi2", 2.0), size, df)


def triangular(left: Any, mode: Any, right: Any, size: Size = None) -> Any:
    """Triangular draws."""
    return each(lambda a, m, b: a + (b - a) * of_scipy("triang", float((plain(m) - a) / (b - a))), size, left, mode, right)


def lognormal(mean: Any = 0.0, sigma: Any = 1.0, size: Size = None) -> Any:
    """Exponentials of Gaussian draws."""
    return np.exp(normal(mean, sigma, size))


def rayleigh(scale: Any = 1.0, size: Size = None) -> Any:
    """Lengths of pairs of Gaussian draws."""
    return each(lambda b: b * of_scipy("rayleigh"), size, scale)


def pareto(a: Any, size: Size = None) -> Any:
    """Pareto draws that begin at 0, as NumPy's do."""
    return each(_shaped("lomax"), size, a)


def multivariate_normal(mean: Any, cov: Any, size: Size = None, **options: Any) -> Any:
    """A vector of Gaussian draws with these covariances: a triangular matrix times independent ones."""
    if size is not None or options.get("method", "svd") not in ("svd", "eigh", "cholesky"):
        raise no_law("multivariate_normal with a size")
    root = np.linalg.cholesky(np.asarray(cov, float))
    return np.asarray(mean) + root @ standard_normal(len(root))


def weibull(a: Any, size: Size = None) -> Any:
    """Weibull draws of scale 1."""
    return each(_shaped("weibull_min", 1.0), size, a)


def negative_binomial(n: Any, p: Any, size: Size = None) -> Any:
    """How many failures come before the n-th success."""
    return each(_failures, size, n, p)


def _failures(n: Any, p: Any) -> Any:
    successes, chance = float(plain(n)), float(plain(p))
    return geometric(chance) - 1 if successes == 1 else of_scipy("nbinom", successes, chance)


def multinomial(n: Any, pvals: Any, size: Size = None) -> Any:
    """How often each of several things comes in n trials: one after the other, those before it known."""
    if size is not None:
        raise no_law("multinomial with a size")
    left, rest, counts = int(plain(n)), 1.0, []
    chances = [float(plain(q)) for q in pvals]
    for q in chances[:-1]:
        counts.append(int(plain(_binomial(left, min(1.0, max(0.0, q / rest))))) if left and rest > 0 else 0)
        left, rest = left - counts[-1], rest - q
    return np.array([*counts, left])


def hypergeometric(ngood: Any, nbad: Any, nsample: Any, size: Size = None) -> Any:
    """How many of a sample without replacement are good."""

    def one(good: Any, bad: Any, taken: Any) -> Any:
        return of_scipy("hypergeom", int(plain(good)) + int(plain(bad)), int(plain(good)), int(plain(taken)))

    return each(one, size, ngood, nbad, nsample)


def choice(a: Any, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True) -> Any:
    """One of the values, or an array of them; with `replace=False` none comes twice."""
    if axis != 0 or (not shuffle and not replace):
        raise no_law("choice(axis=...) or choice(shuffle=False)")
    items = list(range(int(plain(a)))) if np.ndim(np.asarray(a, dtype=object)) == 0 else list(a)
    weights = None if p is None else [float(plain(q)) for q in p]
    if not items or (weights is not None and len(weights) != len(items)):
        raise InvalidInput(f"choice(a, p=...) needs values and as many probabilities, got {len(items)} values")
    if not replace and size is not None:
        shape = _shape(size)
        n, numbers = math.prod(shape), np.ndim(np.asarray(a, dtype=object)) == 0
        # Some of 0, 1, 2, ... are places: NumPy looks them up one by one, and cannot where their order is open.
        taken = one_by_one(items, n, weights) if numbers and n < len(items) else without_replacement(items, n, weights)
        return _array(taken).reshape(shape)
    if size is None:
        return one_of(items, weights)
    drawn = each(lambda: one_of(items, weights), size)
    return drawn if any(isinstance(x, Dist | PlainNumber) for x in drawn.ravel()) else np.array(drawn.tolist())


def _array(items: list[Any]) -> Any:
    if not any(type(x) is Shuffled or isinstance(x, Dist | PlainNumber) for x in items):
        return np.array(items)
    out = np.empty(len(items), dtype=object)
    _fill(out, items)
    return out


def _fill(target: Any, items: Sequence[Any]) -> None:
    """Puts values into a list or array one by one: NumPy would look into them."""
    for k, x in enumerate(items):
        target[k] = x


def one_of(items: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """One of the values: plain numbers, and texts where sides are kept together, stay one random value; else the run forks."""
    if len(items) == 1:
        return items[0]
    if all(isinstance(x, int | float | np.number | np.bool_) and not isinstance(x, PlainNumber) for x in items):
        return _number_of([x.item() if isinstance(x, np.generic) else x for x in items], weights)
    found = one_of_texts(items, weights)
    return items[a_place(len(items), weights)] if found is None else found


def _number_of(items: list[Any], weights: Sequence[float] | None) -> Any:
    first = items[0]
    if weights is None and isinstance(first, int) and items == list(range(first, first + len(items))):
        return noise.integers(int(first), int(first) + len(items) - 1)
    chances: dict[float, float] = {}
    for x, q in zip(items, [1 / len(items)] * len(items) if weights is None else weights, strict=True):
        chances[float(x)] = chances.get(float(x), 0.0) + q
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in items)
    law = dataclasses.replace(atoms(chances, f"choice({len(items)} values)"), counts=whole)
    return items[[float(x) for x in items].index(law.points[0])] if len(law.points) == 1 else on_lattice(law)


def permutation(x: Any) -> Any:
    """The values in a random order."""
    items = list(range(int(plain(x)))) if np.ndim(np.asarray(x, dtype=object)) == 0 else list(x)
    return _array(without_replacement(items, len(items), None))


def shuffle(x: Any) -> None:
    """The values of a list or array in a random order, in place."""
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype != object and len(x) > 1 and left_open() and RUN.get() is not None:
        raise HoldsNumbersOnly
    _fill(x, without_replacement([v.copy() if isinstance(v, np.ndarray) else v for v in x], len(x), None))
