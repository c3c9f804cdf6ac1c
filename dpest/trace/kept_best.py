"""A loop that keeps the best of what its rounds draw, as one round and the noise of the best.

A round is followed from what is kept at first, and again from what each of its ways keeps. It keeps the best where the second
time every way comes twice: once with a score above the one that is kept, which is then replaced by what this way keeps, and
once with a score below it, where nothing changes; and where whether the loop ends depends on a draw that decides nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dpest.errors import DpestError
from dpest.lang.dist import RUN, Dist, fresh
from dpest.lang.generators.standins import StandIn
from dpest.lang.nodes import Draw, draws_of, is_node
from dpest.lang.plain import evaluate
from dpest.lang.substitute import substituted
from dpest.laws.best_of import BestOf, Rival, is_of_a_score
from dpest.laws.discrete import Atoms, bernoulli_law
from dpest.laws.law import Continuous
from dpest.laws.round_counts import Capped, Endless, RoundCount
from dpest.laws.scipy_law import ScipyDiscrete
from dpest.numerics.rationals import Rational
from dpest.numerics.setting import Setting
from dpest.trace.counting import Tosses
from dpest.trace.literal import log_weight
from dpest.trace.memory import answered
from dpest.trace.one_round import (
    MOST_WAYS,
    PLAIN,
    Kept,
    Key,
    RoundWay,
    changes_nothing,
    flat,
    followed,
    held_in,
    is_an_object,
    mapped,
    noise_of,
)
from dpest.trace.outputs import Flat
from dpest.trace.replay import UNBOUND, Unusual, same_output

_OFF = 1e-12  # how far probabilities of ways may be from adding up to 1
_DEPTH = 3  # of objects inside objects, which may lead back to themselves
_FAR_OFF = 1e-9  # the same for integrals


@dataclass(frozen=True)
class KeptWay:
    """What may be kept at the end: ln of its chance, and how that is drawn: the noise of its score, and what is made of it."""

    log_p: float
    law: BestOf
    noise: Draw
    kept: Kept


@dataclass(frozen=True)
class BestOfRounds:
    """All that may be kept at the end, and the chance that there is no round at all."""

    ways: tuple[KeptWay, ...]
    none: float

    def of_some(self) -> BestOfRounds:
        """The same, where it is known that there is a round."""
        return replace(self, none=0.0)

    def drawn(self, held: Kept) -> Kept:
        """What is kept."""
        if self.none and fresh(bernoulli_law(self.none)) == 1:
            return held
        way = self.ways[0]
        if len(self.ways) > 1:
            points = tuple(map(float, range(len(self.ways))))
            off = max(x.law.off for x in self.ways)
            which = fresh(Atoms(points, tuple(x.log_p for x in self.ways), off=off, counts=True))
            way = next((x for k, x in enumerate(self.ways[:-1]) if which == k), self.ways[-1])
        noise = fresh(way.law)
        kept: Kept = mapped(way.kept, lambda x: _with_noise(x, way.noise, noise))
        return kept


@dataclass(frozen=True)
class BestLoop:
    """A round that is asked about, and what its ways depend on, by which questions are compared."""

    step: FunctionType = field(compare=False)
    held: Kept = field(compare=False)
    count: Callable[[], Any] | None = field(compare=False)
    most: int | None
    depends_on: Any

    def answer(self) -> BestOfRounds:
        """What a loop keeps."""
        step, held, count = self.step, self.held, self.count
        table: dict[tuple[int, Any], Draw] = {}
        first = followed(step, held, table)
        stop = None if count else _stop_of(first)
        asked_first, ways = _going(first, stop, flat(held))
        chances = [math.exp(log_weight(x.literals, {})) for x in ways]
        if len(ways) > MOST_WAYS or any(len(x.terms) > 1 for way in ways for x in way.literals):
            raise Unusual
        if abs(sum(chances) - 1.0) > _OFF:
            raise Unusual
        asked = _Asked(step, stop, asked_first, table)
        scores = _scores([_against(asked, ways, i) for i in range(len(ways))], ways)
        none, rounds = _counted(count) if count else _until(first, stop, self.most)
        if stop is not None and not asked_first:
            none = 0.0
        return BestOfRounds(tuple(_bests(ways, chances, scores, rounds)), none)


def best_of_rounds(step: Any, text: str, held: Kept, count: Callable[[], Any] | None, most: int | None = None) -> BestOfRounds:
    """What a loop of at most so many rounds keeps; raises `Unusual` where it does anything but keep the best."""
    if type(step) is not FunctionType or not changes_nothing(step, text):
        raise Unusual
    seen = [step.__closure__ or (), getattr(count, "__closure__", None) or ()]
    codes = step.__code__, getattr(count, "__code__", None)
    content = _content([[held_in(cell) for cell in cells] for cells in seen]), _content(held)
    try:
        found: BestOfRounds = answered(BestLoop(step, held, count, most, (*codes, content)))
    except DpestError as error:  # more ways than are followed, or a condition that cannot be decided
        raise Unusual from error
    return found


def _content(x: Any, depth: int = _DEPTH) -> Any:
    """What a value holds, as a part of a key."""
    if type(x) in (list, tuple):
        return type(x), tuple(_content(own, depth) for own in x)
    if type(x) is np.ndarray and x.dtype != object:
        return x.shape, x.dtype, x.tobytes()
    if isinstance(x, StandIn):
        return type(x)
    if x is UNBOUND or type(x) in PLAIN or isinstance(x, FunctionType | ModuleType):
        return type(x), x if x is not UNBOUND else None
    if is_an_object(x) and depth and hasattr(x, "__dict__"):
        return type(x), tuple((name, _content(own, depth - 1)) for name, own in vars(x).items())
    raise Unusual


# -- how many rounds there are -----------------------------------------------------------------------------------------


def _stop_of(ways: Sequence[RoundWay]) -> Draw:
    """The draw that decides whether the loop ends, and nothing else."""
    held = {id(d) for way in ways for x in way.flat.leaves if is_node(x) for d in draws_of(x)}
    last = [way for way in ways if way.ended]
    asking = last if len(last) == 1 else ways  # where it is asked first, the ways behind it have conditions of their own
    met = {id(d): d for way in asking for x in way.literals for d, _ in x.terms if id(d) not in held}
    found = [d for d in met.values() if _conditions(ways, d, ended=True) != _conditions(ways, d, ended=False)]
    if len(found) != 1 or any(len(x.terms) > 1 for way in ways for x in way.literals if found[0] in [d for d, _ in x.terms]):
        raise Unusual
    return found[0]


def _conditions(ways: Sequence[RoundWay], draw: Draw, *, ended: bool) -> set[frozenset[Key]]:
    """What the ways that end, or go on, say about a draw."""
    return {
        frozenset(x.direction for x in way.literals if any(d is draw for d, _ in x.terms)) for way in ways if way.ended is ended
    }


def _going(ways: Sequence[RoundWay], stop: Draw | None, held: Flat) -> tuple[bool, list[RoundWay]]:
    """Whether a round asks first if it is the last, and its ways but for that.

    Those that end the loop do what others do, too, or nothing.
    """
    ended, going = ([x.without(stop) for x in ways if x.ended is end] for end in (True, False))
    if stop is None:
        if ended:
            raise Unusual
        return False, going
    if len(ended) == 1 and not ended[0].literals and same_output(ended[0].flat, held):
        return True, going
    if len(ended) != len(going) or not all(any(_alike(x, y) for y in going) for x in ended):
        raise Unusual
    return False, going


def _alike(a: RoundWay, b: RoundWay) -> bool:
    return a.keys == b.keys and same_output(a.flat, b.flat)


def _until(ways: Sequence[RoundWay], stop: Draw | None, most: int | None) -> tuple[float, RoundCount]:
    """The chance that a round is the last, and the rounds up to that, or up to a number."""
    assert stop is not None
    chances = []
    for ended in (True, False):
        own = [x for x in ways if x.ended is ended]
        if len(_conditions(ways, stop, ended=ended)) != 1:
            raise Unusual
        literals = tuple(x for x in own[0].literals if x.terms[0][0] is stop)
        chances.append(math.exp(log_weight(literals, {})))
    end, again = chances
    if not 0.0 < end < 1.0 or abs(1.0 - end - again) > _OFF * again:
        raise Unusual
    return end, Endless(end, 1.0) if most is None else Capped(end, most)


def _counted(count: Callable[[], Any]) -> tuple[float, RoundCount]:
    tosses = Tosses()
    with Setting(RUN, tosses):
        found = count()
    node = getattr(found, "node", None)
    if len(tosses.made) != 1 or node is not tosses.made[0] or not isinstance(node.law, ScipyDiscrete) or node.law.identity:
        raise Unusual
    match node.law.name, node.law.shapes:
        case "geom", (p,):
            return 0.0, Endless(p, 1.0)
        case "poisson", (rate,):
            return math.exp(-rate), Endless(rate, 0.0)
        case "nbinom", (r, p):
            return p**r, Endless(p, r)
    raise Unusual


# -- which score a way has ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """coefficient * noise + constant, up to what all scores have in common."""

    noise: Draw
    coefficient: Rational
    constant: Rational


@dataclass(frozen=True)
class _Asked:
    """How a round is followed once more."""

    step: Callable[..., Any]
    stop: Draw | None
    asked_first: bool
    table: dict[tuple[int, Any], Draw]


@dataclass(frozen=True)
class _Comparison:
    """a * (noise of the new score) + b * (noise of the kept one) + constant >= 0: then the new one is kept."""

    new: Draw
    old: Draw  # as it was drawn
    a: Rational
    b: Rational
    constant: Rational


def _against(asked: _Asked, ways: Sequence[RoundWay], i: int) -> list[_Comparison]:
    """Each way of a round where another one was kept before: when it replaces that."""
    old = {id(d): (d, Draw(d.law)) for x in ways[i].flat.leaves if is_node(x) for d in noise_of(x)}
    held = mapped(ways[i].kept, lambda x: substituted(x, {k: new for k, (_, new) in old.items()}))
    before = flat(held)
    asked_first, going = _going(followed(asked.step, held, asked.table), asked.stop, before)
    if asked_first is not asked.asked_first or len(going) != 2 * len(ways):
        raise Unusual
    was = {id(new): before for before, new in old.values()}
    found = []
    for way in ways:
        likes = way, replace(way, flat=before)
        replaced, left = ([_told(x, way, was) for x in going if _alike(_own(x, was), like)] for like in likes)
        if len(replaced) != 1 or len(left) != 1 or replaced[0][1] == left[0][1] or replaced[0][0] != _turned(left[0][0]):
            raise Unusual
        found.append(replaced[0][0])
    return found


def _own(way: RoundWay, was: dict[int, Draw]) -> RoundWay:
    """A way with the conditions on its own draws alone."""
    return replace(way, literals=tuple(x for x in way.literals if not any(id(d) in was for d, _ in x.terms)))


def _told(way: RoundWay, like: RoundWay, was: dict[int, Draw]) -> tuple[_Comparison, bool]:
    """The comparison with what was kept, which says where the new score is kept or, where the flag is set, lost."""
    mixed = [x for x in way.literals if any(id(d) in was for d, _ in x.terms)]
    if len(mixed) != 1 or len(mixed[0].terms) != 2:
        raise Unusual
    (first, a), (second, b) = mixed[0].terms
    if id(first) in was:
        (first, a), (second, b) = (second, b), (first, a)
    if id(first) in was or id(second) not in was:
        raise Unusual
    size = abs(a)
    lost = not same_output(way.flat, like.flat)
    return _Comparison(first, was[id(second)], a / size, b / size, mixed[0].constant / size), lost


def _turned(x: _Comparison) -> _Comparison:
    """Where the other score is the larger one; equal scores have no probability."""
    return replace(x, a=-x.a, b=-x.b, constant=-x.constant)


def _scores(against: Sequence[Sequence[_Comparison]], ways: Sequence[RoundWay]) -> list[Score]:
    """The score of each way, where all comparisons compare these."""
    same = against[0][0]
    if same.new is not same.old or same.a != -same.b or same.constant:
        raise Unusual
    scores = [Score(x.new, -x.a * same.a / x.b, -x.constant * same.a / x.b) for x in against[0]]
    for i, row in enumerate(against):
        for x, score in zip(row, scores, strict=True):
            factor = -scores[i].coefficient / x.b
            told = x.a * factor, x.constant * factor
            if factor <= 0 or x.old is not scores[i].noise or x.new is not score.noise:
                raise Unusual
            if told != (score.coefficient, score.constant - scores[i].constant):
                raise Unusual
    for way, score in zip(ways, scores, strict=True):
        seen = {id(d) for x in way.literals for d, _ in x.terms}
        drawn = {id(d) for x in way.flat.leaves if is_node(x) for d in noise_of(x)}
        if id(score.noise) in seen or drawn - {id(score.noise)} or not is_of_a_score(score.noise.law):
            raise Unusual
    return scores


def _bests(ways: Sequence[RoundWay], chances: Sequence[float], scores: Sequence[Score], rounds: RoundCount) -> list[KeptWay]:
    """What may be kept at the end."""
    found = []
    for way, chance, own in zip(ways, chances, scores, strict=True):
        rivals = tuple(_rival(own, other, p) for other, p in zip(scores, chances, strict=True))
        assert isinstance(own.noise.law, Continuous)
        law = BestOf(own.noise.law, rivals, rounds, own.coefficient < 0)
        if len(ways) > 1:
            law = replace(law, log_whole=law.table.log_mass, off=law.table.error)
        found.append(KeptWay(math.log(chance) + law.log_whole, law, own.noise, way.kept))
    if abs(sum(math.exp(x.log_p) for x in found) - 1.0) > _FAR_OFF:
        raise Unusual
    return found


def _rival(own: Score, other: Score, chance: float) -> Rival:
    law = other.noise.law
    assert isinstance(law, Continuous)
    slope, offset = own.coefficient / other.coefficient, (own.constant - other.constant) / other.coefficient
    return Rival(chance, law, float(slope), float(offset), other.coefficient < 0)


def _with_noise(node: Any, noise: Draw, value: Any) -> Any:
    """A value that is made of the noise of a score."""
    return substituted(node, {id(noise): value.node}) if isinstance(value, Dist) else evaluate(node, {id(noise): value})
