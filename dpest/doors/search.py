"""The lower side of a proof: pairs that the alignments name, the input patterns, and a local search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpest.doors.asking import Forms, LossOf, at_a_glance, in_full
from dpest.errors import DpestError
from dpest.exact.proof.adjacency import Field, Inputs, boxes, unknown_inputs
from dpest.exact.proof.align import rounded_up
from dpest.exact.proof.crossed import crossed_pairs
from dpest.exact.proof.upper import ProofQuestion, Upper
from dpest.exact.proof.worst import landmarks, named_pairs
from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.laws.law import Continuous
from dpest.numerics.effort import counted_effort
from dpest.results import TIGHT, PairResult
from dpest.run.progress import Progress, silent

ENOUGH = 1e-9  # relative: a pair this close to the bound ends the search
# Work in steps of about ten microseconds (`dpest.numerics.effort`), never seconds: a busy machine gives the same answer. Pairs
# that are named get some 3 s of it, other candidates 2 s, the local search 1 s; a bound that is not tight is not made tight by
# more of it, on the mechanisms that were tried.
_NAMED_WORK = 300_000
_OTHER_WORK = 200_000  # see above
_LOCAL_WORK = 100_000  # see above
_SLOW_WORK = 50_000  # per pair, on one form of output: all forms together would take minutes
# For one pair: the dearest of the gallery (two sparse vectors side by side) takes 410,000, and half of this leaves the largest
# sums of maxima without a pair. Pairs that take more are left out.
_PAIR_WORK = 1_000_000
_QUICK_WORK = 20_000  # for one pair at first, where there is no bound
_FIRST_WORK = 150_000  # for one pair at first, where there is one: pairs that take more seldom show more
_OVERHEAD = 300  # what a pair takes beside the work that is counted: 1 to 8 ms on small mechanisms
_TABLING = 5, 5_000  # times the counted work, at most that much: tables of laws take up to 100 ms, and are not counted
_LARGE = 1e4  # a loss that is as good as infinite: larger ones are not looked for
_MOST_TRIES = 400  # pairs in all
_MOST_CLOSER = 3  # best pairs at a glance that are looked at in full
_MOST_FAR = 40  # pairs of infinite loss that are compared in how far apart they are
_CORNERS = 80  # random corners of the set of differences, where no corner is named
_CLOSE = 0.9  # of the bound: pairs of this kind are then worth going on with
_FACTORS = 30.0, 1e3, 1e5, 1e6  # by which the numbers of the best pair are spread: 1 / distance is then below 1e-6
_OUTLYING = 20.0  # in units of the widest noise: what is left of a tail is below 1e-8
_FEW_COLUMNS = 3  # of a row: 28 pairs of its corners
_BESIDE = 1e-9  # just beyond a constant of the program: `x > 3` is false at 3


@dataclass(frozen=True)
class WorstFound:
    """The pair of largest loss, and how many were looked at."""

    best: PairResult | None
    tried: int


class _PairSearch:
    def __init__(self, question: ProofQuestion, bound: float, show: Progress) -> None:
        self.question, self.bound, self.show = question, bound, show
        self.best: PairResult | None = None
        self.tried = 0
        self.work = 0
        self.seen: set[str] = set()
        self.aside: list[tuple[Pair, LossOf]] = []
        self.ranked: list[PairResult] = []  # the pairs that were better than all before them

    @property
    def result(self) -> WorstFound:
        """The best pair; its loss is at most what is proved for all pairs."""
        best = self.best
        return WorstFound(None if best is None else replace(best, upper=min(best.upper, self.bound)), self.tried)

    @property
    def done(self) -> bool:
        """Whether the best pair has reached the bound."""
        return self.best is not None and (self.best.lower >= min(self.bound * (1 - ENOUGH), _LARGE) or self.tried >= _MOST_TRIES)

    @property
    def tight(self) -> bool:
        """Whether the best pair is so close to the bound that dearer ways of searching are not worth their time."""
        return self.best is not None and self.best.lower >= self.bound * (1 - TIGHT)

    @property
    def close(self) -> bool:
        """Whether the best pair shows most of the bound."""
        return self.best is not None and self.best.lower >= _CLOSE * self.bound

    def look(self, pair: Pair, ask: LossOf, most: int = _PAIR_WORK) -> bool:
        """Asks the exact engine; True where the pair is better than all before it."""
        key = repr((pair.left, pair.right))
        if key in self.seen or repr(pair.left) == repr(pair.right):
            return False
        self.seen.add(key)
        self.tried += 1
        self.show(min(self.tried, _MOST_TRIES), _MOST_TRIES, "looking for the worst pair")
        with counted_effort(most) as effort:
            found = _asked(pair, ask)
        self.work += effort.work + _OVERHEAD + min(_TABLING[0] * effort.work, _TABLING[1])
        if found is None and most < effort.work <= _PAIR_WORK:
            self.aside.append((pair, ask))
        if found is None or (self.best is not None and found.lower <= self.best.lower):
            return False
        self.best = found
        self.ranked.append(found)
        return True

    def look_again(self) -> None:
        """The pairs that were put aside, with all the work that one pair may take."""
        for pair, _ in self.aside:
            self.seen.discard(repr((pair.left, pair.right)))
        again, self.aside = self.aside, []
        _try_all(self, again, _NAMED_WORK)

    def look_closer(self, ask: LossOf) -> None:
        """The best pairs in full, whose losses are largest between the outputs that were looked at."""
        closest = [x for x in self.ranked[: -_MOST_CLOSER - 1 : -1] if x.upper > x.lower * (1 + TIGHT)]
        for found in closest:
            self.seen.discard(repr((found.pair.left, found.pair.right)))
        _try_all(self, ((found.pair, ask) for found in closest), _NAMED_WORK)


def _asked(pair: Pair, ask: LossOf) -> PairResult | None:
    try:
        return ask(pair)
    except DpestError:
        return None


def lower_side(question: ProofQuestion, upper: Upper | None, show: Progress = silent) -> WorstFound:
    """The pair of largest loss that was found."""
    bound = math.inf if upper is None or upper.bound is None else rounded_up(upper.bound)
    search = _PairSearch(question, bound, show)
    # Without a bound an infinite loss is looked for, which shows quickly where it shows at all. Dear pairs wait in any case.
    each = _FIRST_WORK if bound < math.inf else _QUICK_WORK
    glance = at_a_glance(question)
    if upper is not None:
        forms = Forms(question, upper)
        named = ((Pair("", x.left, x.right), forms.asked(x)) for x in itertools.chain(crossed_pairs(upper), named_pairs(upper)))
        outlying = ((pair, glance) for pair in _outliers(question, upper))
        _try_all(search, named, _NAMED_WORK // 3, each)
        if not search.done:
            rest = (named, outlying) if search.close else (outlying, named)
            _try_all(search, itertools.chain(*rest), _NAMED_WORK, each)
        if bound < math.inf and search.best is None:
            search.look_again()
            if search.work > _SLOW_WORK * search.tried:
                return search.result
    if not search.tight:
        _try_all(search, ((pair, glance) for pair in _candidates(question, upper)), _OTHER_WORK, each)
    if not search.tight:
        search.look_again()
    if not search.tight:
        _try_all(search, ((pair, glance) for pair in _farther(search.best, question)), _LOCAL_WORK, each)
    if not search.tight:
        search.look_closer(in_full(question))
    if not search.tight:
        _climb(search, question, glance)
    return search.result


def farthest_pair(
    question: ProofQuestion, upper: Upper | None, found: WorstFound, mu: float, show: Progress = silent
) -> WorstFound:
    """The pair of infinite loss that is easiest to tell apart: at a distance of mu nothing is farther."""
    goal = math.erf(mu / math.sqrt(8)) * (1 - ENOUGH)  # the total variation of two normal laws
    best, most, tried = found.best, -1.0, found.tried
    work = 0
    ask = in_full(question)
    first = [] if best is None else [best.pair]
    for pair in itertools.islice(itertools.chain(first, _candidates(question, upper)), _MOST_FAR):
        with counted_effort(_PAIR_WORK) as effort:
            result, distance = _distance(pair, ask)
        work += effort.work + _OVERHEAD
        if result is None:
            continue
        tried += 1
        show(min(tried, _MOST_TRIES), _MOST_TRIES, "looking for the pair that is farthest apart")
        if distance > most:
            best, most = result, distance
        if most >= goal or work > _OTHER_WORK:
            break
    return WorstFound(best, tried)


def _distance(pair: Pair, ask: LossOf) -> tuple[PairResult | None, float]:
    """The pair's result and the total variation of its laws; None where it is not covered."""
    try:
        result = ask(pair)
        assert result.profile is not None
        return result, float(result.profile.delta(0.0).lower)
    except DpestError:
        return None, 0.0


def _far_apart(question: ProofQuestion, upper: Upper | None) -> Iterator[Pair]:
    """Each kind of difference at its full size: from the lowest of the values that matter to the highest that is allowed."""
    if upper is None:
        return
    inputs = upper.traced.inputs
    values = [_ends(f, question.sensitivity, landmarks(upper.traced)) for f in inputs.fields]
    low = [v[0] for v in values]
    if question.adjacency == "add_remove":
        for r, places in enumerate(inputs.rows):
            for end in (-1, 0):
                full = inputs.fill([values[i][end] if i in places else x for i, x in enumerate(low)])
                yield Pair("", full, [row for k, row in enumerate(full) if k != r])
        return
    for moves in boxes(question.adjacency, inputs, question.sensitivity):
        base = list(low)
        far = list(low)
        for i, (_, most) in moves.items():
            f = inputs.fields[i]
            if math.isfinite(most):
                base[i] = f.low if math.isfinite(f.low) else 0.0
            far[i] = min(base[i] + most, f.high) if math.isfinite(most) else values[i][-1]
        yield Pair("", inputs.fill(base), inputs.fill(far))
        yield from _between_corners(inputs, base, moves)


def _outliers(question: ProofQuestion, upper: Upper | None) -> Iterator[Pair]:
    """One number far above or below the others, which moves against them: gaps and ranks lose most there."""
    n = question.n or 1
    if upper is None or n < 2 or question.adjacency not in ("linf", "l1") or question.domain not in (None, float, int):
        return
    laws = [law for program in upper.traced.programs for region in program for _, law in region.laws]
    unit = max((law.scale for law in laws if isinstance(law, Continuous)), default=1.0)
    away = float(round(_OUTLYING * unit))
    step = question.sensitivity
    for i, height, sign in itertools.product((n - 1, 0), (away, -away), (step, -step)):
        others = -sign if question.adjacency == "linf" else 0.0
        left = [height if k == i else 0.0 for k in range(n)]
        yield Pair("", left, [x + (sign if k == i else others) for k, x in enumerate(left)])


def _between_corners(inputs: Inputs, base: list[float], moves: Mapping[int, tuple[float, float]]) -> Iterator[Pair]:
    """One row of a few columns, from each combination of the ends of its columns to each other one."""
    ends = [(inputs.fields[i].low, inputs.fields[i].high) for i in moves]
    if not 1 < len(ends) <= _FEW_COLUMNS or not all(math.isfinite(x) for pair in ends for x in pair):
        return
    for one, other in itertools.combinations(itertools.product(*ends), 2):
        if all(low <= b - a <= high for a, b, (low, high) in zip(one, other, moves.values(), strict=True)):
            left, right = list(base), list(base)
            for i, a, b in zip(moves, one, other, strict=True):
                left[i], right[i] = a, b
            yield Pair("", inputs.fill(left), inputs.fill(right))


def _try_all(search: _PairSearch, pairs: Iterable[tuple[Pair, LossOf]], work: int, each: int = _PAIR_WORK) -> None:
    end = search.work + work
    for pair, ask in pairs:
        search.look(pair, ask, each)
        if search.done or search.work > end:
            return


def _candidates(question: ProofQuestion, upper: Upper | None) -> Iterator[Pair]:
    inputs = unknown_inputs(question.n, question.domain, question.adjacency) if upper is None else upper.traced.inputs
    yield from _far_apart(question, upper)
    plain = question.domain in (None, float, int) and question.n is not None and question.sensitivity == 1
    if plain and question.adjacency in ("l1", "linf"):
        assert question.n is not None
        yield from pattern_pairs(question.n, question.adjacency)
    yield from _corners(question, inputs, [] if upper is None else landmarks(upper.traced))


def _corners(question: ProofQuestion, inputs: Inputs, marks: list[float]) -> Iterator[Pair]:
    """Values at the ends of their domains, next to the program's own constants, and far out, changed to other such values."""
    rng = np.random.default_rng(0)
    ends = [_ends(f, question.sensitivity, marks) for f in inputs.fields]
    ways = boxes(question.adjacency, inputs, question.sensitivity) if question.adjacency != "add_remove" else []
    for i, (low, high) in ((i, m[i]) for m in ways if len(m) <= 2 for i in m):
        base = [e[0] for e in ends]
        for a, b in itertools.product(ends[i], repeat=2):
            if a < b and low <= b - a <= high:
                yield Pair("", inputs.fill([*base[:i], a, *base[i + 1 :]]), inputs.fill([*base[:i], b, *base[i + 1 :]]))
    for _ in range(_CORNERS):
        x = [float(rng.choice(e)) for e in ends]
        if question.adjacency == "add_remove":
            r = int(rng.integers(len(inputs.rows)))
            full = inputs.fill(x)
            yield Pair("", full, [row for k, row in enumerate(full) if k != r])
            continue
        moves = ways[int(rng.integers(len(ways)))]
        y = list(x)
        for i, (low, high) in moves.items():
            f = inputs.fields[i]
            far = [v for v in ends[i] if low <= v - x[i] <= high]
            steps = (low, high) if f.whole else (low, high, low / 2, high / 2)
            near = [x[i] + s for s in steps if math.isfinite(s) and f.low <= x[i] + s <= f.high]
            y[i] = float(rng.choice([*far, *near, x[i]]))
        yield Pair("", inputs.fill(x), inputs.fill(y))


def _ends(f: Field, sensitivity: float, marks: list[float]) -> list[float]:
    step = sensitivity if f.whole else sensitivity * (1 - _BESIDE)
    beside = (0.0, -1.0, 1.0) if f.whole else (0.0, -_BESIDE, _BESIDE)
    around = [m + s + t for m in marks for s in beside for t in (0.0, -step, step)]
    far = [0.0] if math.isfinite(f.low) and math.isfinite(f.high) else [0.0, sensitivity, 100.0, -100.0]
    listed = [v for v in (f.low, f.high, *far, *around) if math.isfinite(v) and f.low <= v <= f.high]
    return sorted({float(round(v)) if f.whole else v for v in listed})


def _climb(search: _PairSearch, question: ProofQuestion, ask: LossOf) -> None:
    """Moves both inputs of the best pair together, by steps that shrink where they do not help."""
    end = search.work + _LOCAL_WORK
    rng = np.random.default_rng(1)
    step = 8.0
    while search.best is not None and step > 1e-3 and search.work < end and not search.done:
        left, right = search.best.pair.left, search.best.pair.right
        if not _numbers(left) or not _numbers(right) or len(left) != len(right) or question.domain is not None:
            return
        better = False
        for _ in range(2 * len(left)):
            i, s = int(rng.integers(len(left))), float(rng.choice([-step, step]))
            better = better or search.look(Pair("", _moved(left, i, s), _moved(right, i, s)), ask)
            if better or search.work > end or search.done:
                break
        step = step * 2 if better else step / 2


def _farther(best: PairResult | None, question: ProofQuestion) -> Iterator[Pair]:
    """The best pair with its numbers farther apart: where the tails of two draws meet, a loss is approached as 1 / distance."""
    if best is None or question.domain not in (None, float, int):
        return
    left, right = best.pair.left, best.pair.right
    if _numbers(left) and _numbers(right) and len(left) == len(right):
        for factor in _FACTORS:
            far = [float(round(factor * x)) for x in left]
            yield Pair("", far, [x + (b - a) for x, a, b in zip(far, left, right, strict=True)])


def _numbers(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(x, int | float) for x in data)


def _moved(data: list[Any], i: int, step: float) -> list[Any]:
    return [x + step if k == i else x for k, x in enumerate(data)]
