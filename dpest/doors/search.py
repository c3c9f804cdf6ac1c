"""The lower side of a proof: pairs that the alignments name, the input patterns, and a local search."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.analysis.exact import estimate_exactly
from dpest.errors import DpestError
from dpest.exact.adjacency import Field, Inputs, boxes, unknown_inputs
from dpest.exact.align import rounded_up
from dpest.exact.upper import Question, Upper
from dpest.exact.worst import landmarks, named_pairs
from dpest.inputs import Pair, pattern_pairs
from dpest.results import PairResult

ENOUGH = 1e-9  # relative: a pair this close to the bound ends the search
# Seconds for pairs that are named, and for the local search after them; a bound that is not tight is not made tight by
# more of it, on the mechanisms that were tried.
_NAMED_SECONDS = 5.0
_LOCAL_SECONDS = 2.0
_MOST_TRIES = 400
_CORNERS = 80
_BESIDE = 1e-9  # just beyond a constant of the program: `x > 3` is false at 3


@dataclass(frozen=True)
class Found:
    """The pair of largest loss, and how many were looked at."""

    best: PairResult | None
    tried: int


class _Search:
    def __init__(self, question: Question, bound: float) -> None:
        self.question, self.bound = question, bound
        self.best: PairResult | None = None
        self.tried = 0
        self.seen: set[str] = set()

    @property
    def done(self) -> bool:
        """Whether the best pair has reached the bound."""
        return self.best is not None and (self.best.lower >= self.bound * (1 - ENOUGH) or self.tried >= _MOST_TRIES)

    def look(self, left: Any, right: Any, name: str = "") -> bool:
        """Asks the exact engine; True where the pair is better than all before it."""
        key = repr((left, right))
        if key in self.seen or repr(left) == repr(right):
            return False
        self.seen.add(key)
        self.tried += 1
        try:
            (found,) = estimate_exactly(self.question.mechanism, [Pair(name, left, right)], self.question.params).pairs
        except DpestError:
            return False
        if self.best is None or found.lower > self.best.lower:
            self.best = found
            return True
        return False


def lower_side(question: Question, upper: Upper | None) -> Found:
    """The pair of largest loss that was found."""
    bound = math.inf if upper is None or upper.bound is None else rounded_up(upper.bound)
    search = _Search(question, bound)
    _try_all(search, _candidates(question, upper), _NAMED_SECONDS)
    if not search.done:
        _climb(search, question)
    return Found(search.best, search.tried)


def _try_all(search: _Search, pairs: Iterator[tuple[Any, Any, str]], seconds: float) -> None:
    end = time.perf_counter() + seconds
    for left, right, name in pairs:
        search.look(left, right, name)
        if search.done or time.perf_counter() > end:
            return


def _candidates(question: Question, upper: Upper | None) -> Iterator[tuple[Any, Any, str]]:
    if upper is not None:
        yield from ((left, right, "") for left, right in named_pairs(upper))
    inputs = unknown_inputs(question.n, question.domain) if upper is None else upper.traced.inputs
    yield from _corners(question, inputs, [] if upper is None else landmarks(upper.traced))
    plain = question.domain in (None, float, int) and question.n is not None and question.sensitivity == 1
    if plain and question.adjacency in ("l1", "linf"):
        assert question.n is not None
        yield from ((p.left, p.right, p.name) for p in pattern_pairs(question.n, question.adjacency))


def _corners(question: Question, inputs: Inputs, marks: list[float]) -> Iterator[tuple[Any, Any, str]]:
    """Values at the ends of their domains, next to the program's own constants, and far out, changed to other such values."""
    rng = np.random.default_rng(0)
    ends = [_ends(f, question.sensitivity, marks) for f in inputs.fields]
    ways = boxes(question.adjacency, inputs, question.sensitivity) if question.adjacency != "add_remove" else []
    for i, (low, high) in ((i, m[i]) for m in ways if len(m) <= 2 for i in m):
        base = [e[0] for e in ends]
        for a, b in itertools.product(ends[i], repeat=2):
            if a < b and low <= b - a <= high:
                yield inputs.fill([*base[:i], a, *base[i + 1 :]]), inputs.fill([*base[:i], b, *base[i + 1 :]]), ""
    for _ in range(_CORNERS):
        x = [float(rng.choice(e)) for e in ends]
        if question.adjacency == "add_remove":
            r = int(rng.integers(len(inputs.rows)))
            full = inputs.fill(x)
            yield full, [row for k, row in enumerate(full) if k != r], ""
            continue
        moves = ways[int(rng.integers(len(ways)))]
        y = list(x)
        for i, (low, high) in moves.items():
            f = inputs.fields[i]
            far = [v for v in ends[i] if low <= v - x[i] <= high]
            steps = (low, high) if f.whole else (low, high, low / 2, high / 2)
            near = [x[i] + s for s in steps if math.isfinite(s) and f.low <= x[i] + s <= f.high]
            y[i] = float(rng.choice([*far, *near, x[i]]))
        yield inputs.fill(x), inputs.fill(y), ""


def _ends(f: Field, sensitivity: float, marks: list[float]) -> list[float]:
    step = sensitivity if f.whole else sensitivity * (1 - _BESIDE)
    beside = (0.0, -1.0, 1.0) if f.whole else (0.0, -_BESIDE, _BESIDE)
    around = [m + s + t for m in marks for s in beside for t in (0.0, -step, step)]
    far = [] if math.isfinite(f.low) and math.isfinite(f.high) else [0.0, sensitivity, 100.0, -100.0]
    listed = [v for v in (f.low, f.high, *far, *around) if math.isfinite(v) and f.low <= v <= f.high]
    return sorted({float(round(v)) if f.whole else v for v in listed})


def _climb(search: _Search, question: Question) -> None:
    """Moves both inputs of the best pair together, by steps that shrink where they do not help."""
    end = time.perf_counter() + _LOCAL_SECONDS
    rng = np.random.default_rng(1)
    step = 8.0
    while search.best is not None and step > 1e-3 and time.perf_counter() < end and not search.done:
        left, right = search.best.pair.left, search.best.pair.right
        if not _numbers(left) or not _numbers(right) or len(left) != len(right) or question.domain is not None:
            return
        better = False
        for _ in range(2 * len(left)):
            i, s = int(rng.integers(len(left))), float(rng.choice([-step, step]))
            better = better or search.look(_moved(left, i, s), _moved(right, i, s))
            if better or time.perf_counter() > end or search.done:
                break
        step = step * 2 if better else step / 2


def _numbers(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(x, int | float) for x in data)


def _moved(data: list[Any], i: int, step: float) -> list[Any]:
    return [x + step if k == i else x for k, x in enumerate(data)]
