"""The methods of `random.Random` and of `secrets` as draws."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from typing import Any

from dpest.errors import InvalidInput
from dpest.lang.dist import RUN
from dpest.lang.generators import draws
from dpest.lang.generators.octets import RandomBytes
from dpest.lang.generators.replacement import plain, without_replacement


def random() -> Any:
    """A uniform draw between 0 and 1."""
    return draws.uniform()


def uniform(a: Any, b: Any) -> Any:
    """A uniform draw between a and b."""
    return draws.uniform(a, b)


def gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """A Gaussian draw."""
    return draws.normal(mu, sigma)


def expovariate(lambd: Any = 1.0) -> Any:
    """An exponential draw of this rate."""
    return draws.exponential(1 / lambd)


def randint(a: Any, b: Any) -> Any:
    """A whole number from a to b, both included."""
    return draws.integers(a, b, endpoint=True)


def randrange(start: Any, stop: Any = None, step: Any = 1) -> Any:
    """One of the numbers of `range(start, stop, step)`."""
    numbers = range(int(plain(start))) if stop is None else range(*(int(plain(x)) for x in (start, stop, step)))
    if not numbers:
        raise InvalidInput(f"randrange needs a range with numbers in it, got {numbers!r}")
    if len(numbers) == 1:
        return numbers[0]
    drawn = draws.integers(0, len(numbers))
    return drawn if numbers == range(len(numbers)) else numbers.start + numbers.step * drawn


def getrandbits(k: Any) -> Any:
    """A whole number of k random bits."""
    return draws.integers(0, 2 ** int(plain(k))) if k else 0


def randbytes(n: Any = None) -> Any:
    """n random bytes."""
    size = 32 if n is None else int(plain(n))
    return RandomBytes(size, draws.integers) if size > 0 else bytes(size)


def urandom(size: Any) -> Any:
    """`os.urandom`."""
    return _URANDOM(size) if RUN.get() is None else randbytes(size)


def choice(seq: Sequence[Any]) -> Any:
    """One of the values."""
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return draws.one_of(list(seq))


def choices(population: Sequence[Any], weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
    """k of the values, each drawn from all of them."""
    if cum_weights is not None:
        steps = [0, *(plain(w) for w in cum_weights)]
        weights = [b - a for a, b in itertools.pairwise(steps)]
    chances = None if weights is None else [float(plain(w)) for w in weights]
    total = 0.0 if chances is None else math.fsum(chances)
    if chances is not None and (len(chances) != len(population) or not total > 0):
        raise InvalidInput(f"choices needs one weight for each of the {len(population)} values, not all 0, got {chances}")
    shares = None if chances is None else [w / total for w in chances]
    return [draws.one_of(list(population), shares) for _ in range(int(plain(k)))]


def sample(population: Sequence[Any], k: int, *, counts: Any = None) -> list[Any]:
    """k of the values, none of them twice."""
    items = list(population) if counts is None else [x for x, n in zip(population, counts, strict=True) for _ in range(n)]
    return without_replacement(items, int(plain(k)), None)


def shuffle(x: Any) -> None:
    """The values of a list in a random order, in place."""
    draws.shuffle(x)


def triangular(low: Any = 0.0, high: Any = 1.0, mode: Any = None) -> Any:
    """A triangular draw, highest in the middle unless said."""
    return draws.triangular(low, (low + high) / 2 if mode is None else mode, high)


def betavariate(alpha: Any, beta: Any) -> Any:
    """A beta draw."""
    return draws.beta(alpha, beta)


def gammavariate(alpha: Any, beta: Any) -> Any:
    """A gamma draw of this shape and scale."""
    return draws.gamma(alpha, beta)


def lognormvariate(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """The exponential of a Gaussian draw."""
    return draws.lognormal(mu, sigma)


def paretovariate(alpha: Any) -> Any:
    """A Pareto draw, which begins at 1."""
    return 1.0 + draws.pareto(alpha)


def weibullvariate(alpha: Any, beta: Any) -> Any:
    """A Weibull draw of this scale and shape."""
    return alpha * draws.weibull(beta)


def binomialvariate(n: Any = 1, p: Any = 0.5) -> Any:
    """How many of n coins fall heads."""
    return draws.binomial(n, p)


_URANDOM = os.urandom
OF_THE_SYSTEM: dict[int, Any] = {id(_URANDOM): urandom}
