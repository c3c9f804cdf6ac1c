"""Random mechanisms on rows, the inputs that they are asked over, and random adjacent pairs of those.

The mechanisms are not from any list: they put together statistics of the input (sums, counts, clips, maxima, roundings, `if`
on the input), noise of every family, and ways of releasing (a number, a comparison, an index, several of them).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy import stats

import dpest

Statistic = Callable[[list[Any]], Any]
Noise = Callable[[], Any]

STATISTICS: dict[str, Statistic] = {
    "sum": lambda xs: sum(xs),
    "sum of clips": lambda xs: sum(dpest.clip(x, 0, 1) for x in xs),
    "clip of the sum": lambda xs: dpest.clip(sum(xs), -1, 2),
    "count": lambda xs: sum(1 for x in xs if x > 1),
    "sum of indicators": lambda xs: sum((x >= 1) + 0 for x in xs),
    "count of ties": lambda xs: sum(1 for x in xs if x == 1),
    "len": lambda xs: len(xs),
    "mean": lambda xs: sum(xs) / len(xs) if xs else 0.0,
    "max": lambda xs: max(xs) if xs else 0.0,
    "least": lambda xs: dpest.minimum(xs[0], 1) if xs else 0.0,
    "first": lambda xs: xs[0] if xs else 0.0,
    "last twice": lambda xs: 2 * xs[-1] if xs else 0.0,
    "difference": lambda xs: xs[0] - xs[-1] if xs else 0.0,
    "abs": lambda xs: abs(xs[0]) if xs else 0.0,
    "round": lambda xs: round(xs[0]) if xs else 0.0,
    "floor of half": lambda xs: math.floor(xs[0] / 2) if xs else 0.0,
    "jump": lambda xs: (xs[0] if xs[0] > 1 else -xs[0]) if xs else 0.0,
    "square": lambda xs: xs[0] * xs[0] if xs else 0.0,
    "tenths": lambda xs: 0.1 * sum(xs) + 0.3,
    "nothing": lambda xs: 0.0,
}

STAIRCASE = stats.rv_histogram(([1, 2, 4, 2, 1], [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), density=False)
NOISES: dict[str, Noise] = {
    "laplace 1": lambda: dpest.laplace(1.0),
    "laplace 3": lambda: dpest.laplace(3.0),
    "exponential": lambda: dpest.exponential(2.0),
    "minus exponential": lambda: -dpest.exponential(2.0),
    "gumbel": lambda: dpest.gumbel(2.0),
    "logistic": lambda: dpest.logistic(1.5),
    "uniform": lambda: dpest.uniform(-1, 1),
    "geometric": lambda: dpest.geometric(2.0),
    "gaussian": lambda: dpest.gaussian(1.0),
    "wide gaussian": lambda: dpest.gaussian(3.0),
    "integers": lambda: dpest.integers(0, 2),
    "coin": lambda: dpest.bernoulli(0.3) + 0,
    "cauchy": lambda: dpest.from_scipy(stats.cauchy(scale=1.5)),
    "student": lambda: dpest.from_scipy(stats.t(3, scale=2.0)),
    "staircase": lambda: dpest.from_scipy(STAIRCASE),
    "two laplace": lambda: dpest.laplace(1.0) + dpest.laplace(2.0),
    "none": lambda: 0.0,
}
USUAL = ("laplace 1", "laplace 3", "geometric", "exponential", "logistic", "gumbel")

Release = Callable[[list[Statistic], list[Noise], list[Any]], Any]


def _value(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return s[0](xs) + z[0]()


def _both(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return [s[0](xs) + z[0](), s[1](xs) + z[1]()]


def _sums(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    first = s[0](xs) + z[0]()
    return first, first + s[1](xs) + z[1]()


def _passes(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return "yes" if s[0](xs) + z[0]() >= 1 else "no"


def _compared(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return s[0](xs) + z[0]() > s[1](xs) + z[1]()


def _first_above(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    t = 1 + z[1]()
    for i, x in enumerate(xs):
        if x + z[0]() >= t:
            return i
    return None


def _largest(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return dpest.argmax([x + z[0]() for x in [*xs, s[0](xs)]])


def _largest_value(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return dpest.maximum(s[0](xs) + z[0](), s[1](xs) + z[1]())


def _clipped(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return dpest.clip(s[0](xs) + z[0](), -1, 2)


def _rounded(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return math.floor(s[0](xs) + z[0]())


def _mixed(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return (s[0](xs) if dpest.bernoulli(0.4) else s[1](xs)) + z[0]()


def _released_if_large(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    value = s[0](xs) + z[0]()
    return value if value > 2 else None


def _after_a_look(s: list[Statistic], z: list[Noise], xs: list[Any]) -> Any:
    return s[0](xs) + z[0]() if s[1](xs) > 1 else s[0](xs) + z[1]()


RELEASES: tuple[Release, ...] = (
    _value,
    _both,
    _sums,
    _passes,
    _compared,
    _first_above,
    _largest,
    _largest_value,
    _clipped,
    _rounded,
    _mixed,
    _released_if_large,
    _after_a_look,
)
DOMAINS: tuple[Any, ...] = (None, int, (0, 2), (-1, 3), {"a": (0, 2), "b": int}, (int, (0, 1)))


@dataclass(frozen=True)
class RandomQuestion:
    """A mechanism and the inputs that its loss is asked over."""

    words: str
    mechanism: Callable[[list[Any]], Any]
    n: int
    adjacency: str
    sensitivity: float
    domain: Any

    def pair(self, rng: random.Random) -> tuple[list[Any], list[Any]]:
        """Two random adjacent inputs, on and beside the numbers that the mechanisms compare with."""
        rows = [_row(self.domain, rng) for _ in range(self.n)]
        if self.adjacency == "add_remove":
            k = rng.randrange(self.n)
            return rows, rows[:k] + rows[k + 1 :]
        if self.adjacency == "replace":
            other = list(rows)
            other[rng.randrange(self.n)] = _row(self.domain, rng)
            return rows, other
        if self.adjacency == "l1":
            other = list(rows)
            k = rng.randrange(self.n)
            other[k] = _moved_in_one(self.domain, rows[k], self.sensitivity, rng)
            return rows, other
        sign = rng.choice([-1, 1]) if self.adjacency == "monotone" else None
        return rows, [_moved(self.domain, row, self.sensitivity, rng, sign) for row in rows]


def random_question(rng: random.Random, usual: tuple[str, ...] = USUAL, often: float = 0.7) -> RandomQuestion:
    """One mechanism with its inputs; its noise is of the usual families as often as is said."""
    release = rng.choice(RELEASES)
    chosen = [rng.choice(list(STATISTICS)) for _ in range(2)]
    noises = [rng.choice(usual if rng.random() < often else list(NOISES)) for _ in range(2)]
    adjacency = rng.choice(["linf", "l1", "monotone", "replace", "add_remove"])
    # A row that becomes any other row moves a sum without a bound, unless its domain has one.
    domain = rng.choice(DOMAINS if adjacency in ("linf", "l1", "monotone") or rng.random() < 0.3 else DOMAINS[2:])
    statistics, drawn = [STATISTICS[c] for c in chosen], [NOISES[z] for z in noises]

    def mechanism(rows: list[Any]) -> Any:
        return release(statistics, drawn, [_number(row) for row in rows])

    words = f"{release.__name__}({', '.join(chosen)}; {', '.join(noises)})"
    return RandomQuestion(words, mechanism, rng.choice([1, 2, 2]), adjacency, rng.choice([1.0, 1.0, 0.5, 2.0]), domain)


def _number(row: Any) -> Any:
    """What the statistics see of a row."""
    if isinstance(row, dict):
        return row["a"] + row["b"]
    return row[0] - row[1] if isinstance(row, tuple) else row


def _row(domain: Any, rng: random.Random) -> Any:
    if isinstance(domain, dict):
        return {k: _row(d, rng) for k, d in domain.items()}
    if isinstance(domain, tuple) and not isinstance(domain[0], float | int):
        return tuple(_row(d, rng) for d in domain)
    if domain is int:
        return float(rng.randint(-3, 4))
    low, high = (-4.0, 4.0) if domain is None else (float(domain[0]), float(domain[1]))
    marks = [x / 2 for x in range(-8, 9) if low <= x / 2 <= high]
    return rng.choice([low, high, rng.choice(marks), rng.choice(marks), rng.uniform(low, high)])


def _moved(domain: Any, row: Any, most: float, rng: random.Random, sign: int | None) -> Any:
    """A row each of whose numbers moved by at most `most`, in one direction where a sign is given."""
    if isinstance(domain, dict):
        return {k: _moved(d, row[k], most, rng, sign) for k, d in domain.items()}
    if isinstance(domain, tuple) and not isinstance(domain[0], float | int):
        return tuple(_moved(d, x, most, rng, sign) for d, x in zip(domain, row, strict=True))
    if domain is int:
        step = float(rng.randint(0, math.floor(most)))
    else:
        step = rng.choice([0.0, most, most, most / 2, rng.uniform(0, most)])
    moved = row + (sign or rng.choice([-1, 1])) * step
    low, high = (-math.inf, math.inf) if domain in (None, int) else domain
    inside = min(max(moved, low), high)
    # Rounding may take a sum a hair beyond the allowed distance.
    return inside if abs(inside - row) <= most else row


def _moved_in_one(domain: Any, row: Any, most: float, rng: random.Random) -> Any:
    """A row of which one number moved."""
    moved = _moved(domain, row, most, rng, None)
    if isinstance(row, dict):
        k = rng.choice(list(row))
        return {**row, k: moved[k]}
    if isinstance(row, tuple):
        k = rng.randrange(len(row))
        return tuple(moved[i] if i == k else x for i, x in enumerate(row))
    return moved
