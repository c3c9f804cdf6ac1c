"""How losses of parts make up the loss of a pair: sums, worst ones, and brackets that hold whatever was not explored."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import pytest

import dpest
from dpest.exact.loss import compare
from dpest.exact.loss.blocks import CoordinateKind
from dpest.exact.loss.compare import (
    OPEN,
    ZERO,
    Loss,
    StratumLoss,
    _bucket_loss,
    _capped,
    _group_losses,
    _OpenStrata,
    _promising_first,
    _reached,
    _stratum_loss,
    _suprema,
    _worst,
    below,
    is_open,
)
from dpest.exact.loss.logs import NOTHING, OPEN_ENDED, BothWays, Sup
from dpest.trace.explore import Trace

HERE: Any = SimpleNamespace()


def loss(value: float, settled: bool = True, **ends: float) -> Loss:
    return Loss(value, ends.get("lower", value), ends.get("upper", value), None, (), settled)


def part(log_p: float, log_q: float, room: float = 0.0) -> StratumLoss:
    value = log_p - log_q
    return StratumLoss(HERE, (), value, value - room, value + room, log_p, log_q)


# -- the worst of several ----------------------------------------------------------------------------------------------


def test_the_worst_has_the_largest_ends_of_all() -> None:
    known = [loss(1.0, lower=0.9, upper=1.1), loss(0.8, lower=0.1, upper=3.0), loss(0.95, lower=0.94, upper=0.96)]
    found = _worst(known, Trace(()))
    assert (found.value, found.lower, found.upper) == (1.0, 0.94, 3.0)
    assert _worst([], Trace(())) is ZERO
    assert (ZERO.value, ZERO.lower, ZERO.upper, ZERO.settled) == (0.0, 0.0, 0.0, True)


@pytest.mark.parametrize("losses", [[], [loss(1.0)], [loss(1.0), loss(2.0, settled=False)]])
def test_paths_that_were_not_explored_leave_no_upper_end_unless_they_return_what_others_do(losses: list[Loss]) -> None:
    left_out, closed = Trace((), -1000.0, closed=False), Trace((), -1000.0, closed=True)
    highest = max((x.value for x in losses), default=0.0)
    assert _worst(losses, left_out).upper == math.inf
    assert _worst(losses, left_out).value == _worst(losses, closed).value == highest
    assert _worst(losses, closed).upper == highest
    assert _worst([loss(1.0, settled=False), loss(1.0)], closed).settled


# -- mass that was not explored ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("logs", [(-1.0, -1.5), (-3.0, -1.0), (-0.1, -4.0)])
@pytest.mark.parametrize("missing", [(0.01, 0.02), (0.3, 0.0), (0.0, 0.3), (0.2, 1e-9)])
def test_the_bracket_holds_wherever_the_unexplored_mass_belongs(logs: tuple[float, float], missing: tuple[float, float]) -> None:
    p, q = map(math.exp, logs)
    unexplored = tuple(math.log(m) if m else -math.inf for m in missing)
    found = _bucket_loss(HERE, [part(*logs, room=1e-3)], unexplored)  # type: ignore[arg-type]
    assert found is not None
    ratios = [math.log((p + a * missing[0]) / (q + b * missing[1])) for a, b in itertools.product((0, 0.5, 1), repeat=2)]
    assert found.lower == pytest.approx(min(ratios) - 1e-3, abs=1e-12)
    assert found.upper == pytest.approx(max(ratios) + 1e-3, abs=1e-12)
    assert found.value == pytest.approx(logs[0] - logs[1])
    assert not found.settled
    assert found.log_unseen == -math.inf


def test_groups_share_no_noise_and_add() -> None:
    nothing = (-math.inf, -math.inf)
    found = _bucket_loss(HERE, [part(-1.0, -1.5, 0.01), part(-2.0, -1.0, 0.02)], nothing)
    assert found is not None
    assert (found.value, found.lower, found.upper) == pytest.approx((-0.5, -0.53, -0.47))
    assert found.settled
    assert _bucket_loss(HERE, [part(-1.0, -1.5), None], nothing) is None
    for missing in ((-40.0, -40.0), (-27.0, -27.1)):
        rare = _bucket_loss(HERE, [part(-1.0, -1.5)], missing)
        assert rare is not None
        assert rare.settled
    for missing in ((-25.5, -40.0), (-40.0, -26.0)):
        common = _bucket_loss(HERE, [part(-1.0, -1.5)], missing)
        assert common is not None
        assert not common.settled


def test_an_output_that_one_side_was_not_seen_to_produce() -> None:
    """It weighs e^-2 on one side, and at most e^-7 on the other."""
    alone = StratumLoss(HERE, (), math.inf, math.inf, math.inf, -2.0, -math.inf)
    found = _bucket_loss(HERE, [alone], (-9.0, -7.0))
    assert found is not None
    assert (found.value, found.lower, found.upper, found.log_unseen) == (5.0, 5.0, math.inf, -7.0)
    certain = _bucket_loss(HERE, [alone], (-math.inf, -math.inf))
    assert certain is not None
    assert (certain.value, certain.lower) == (math.inf, math.inf)


# -- proved bounds -----------------------------------------------------------------------------------------------------


def test_a_proved_bound_cuts_all_three() -> None:
    x = loss(1.0, lower=0.9, upper=1.5)
    for bound, expected in ((2.0, (1.0, 0.9, 1.5)), (1.2, (1.0, 0.9, 1.2)), (0.95, (0.95, 0.9, 0.95)), (0.5, (0.5, 0.5, 0.5))):
        cut = below(x, bound)
        assert (cut.value, cut.lower, cut.upper) == expected


def test_what_counts_as_open_and_as_reached() -> None:
    assert is_open(loss(1.0, upper=1.0 + 2 * OPEN))
    assert not is_open(loss(1.0, upper=1.0 + 0.5 * OPEN))
    assert not is_open(loss(10.0, upper=10.0 + 5 * OPEN))
    assert is_open(loss(0.0, upper=2 * OPEN))
    assert is_open(loss(1.0, upper=math.inf))
    assert not is_open(loss(math.inf))
    assert _reached([loss(1.0, lower=0.2), loss(0.5)], 0.5)
    assert _reached([loss(0.5)], 0.5 + 0.5 * OPEN)
    assert not _reached([loss(1.0, lower=0.2)], 0.5)
    assert not _reached([], 0.0)


class _Proof:
    """Bounds for all strata."""

    def __init__(self, bounds: tuple[float, float] | None, adds_up: bool = True) -> None:
        self.bounds, self.adds_up, self.asked = bounds, adds_up, 0

    def bound(self) -> tuple[float, float] | None:
        return self.bounds

    def bound_of(self, _key: Any, _positions: Any) -> tuple[float, float] | None:
        self.asked += 1
        return self.bounds


def stratum(dimension: int, *more: int, kind: CoordinateKind = CoordinateKind.REAL) -> Any:
    law = SimpleNamespace(factors=lambda: (), conditions=0)
    blocks = [SimpleNamespace(dimension=d, kinds=(kind,) * d, equal=False, left=law, right=law) for d in (dimension, *more)]
    return SimpleNamespace(blocks=blocks, leaves=())


def opened(proof: _Proof | None, groups: int = 1, strata: Any = ()) -> _OpenStrata:
    bucket: Any = SimpleNamespace(constants=(), groups=[None] * groups, structure=None)
    group: Any = SimpleNamespace(positions=(0,), strata=strata)
    return _OpenStrata(bucket, group, None if proof is None else lambda: proof)


def test_open_strata_are_closed_by_a_proof() -> None:
    x = StratumLoss(HERE, (), 1.0, 0.9, math.inf, -1.0, -2.0)
    closed = opened(_Proof((1.25, 3.0))).closed(stratum(2), [x, None])
    assert closed[0] is not None
    assert (closed[0].value, closed[0].lower, closed[0].upper, closed[1]) == (1.0, 0.9, 1.25, None)
    turned = opened(_Proof((1.25, 3.0))).closed(stratum(2), [None, x])
    assert turned[1] is not None
    assert turned[1].upper == 3.0
    sharp = part(-1.0, -2.0)
    proof = _Proof((0.5, 0.5))
    assert opened(proof).closed(stratum(2), [sharp, sharp]) == [sharp, sharp]
    assert proof.asked == 0
    for nothing in (opened(None), opened(_Proof(None)), opened(_Proof((1.0, 1.0), adds_up=False), groups=2)):
        assert nothing.closed(stratum(2), [x, x]) == [x, x]
    assert opened(_Proof((1.0, 1.0))).closed(stratum(1, kind=CoordinateKind.LATTICE), [x, x]) == [x, x]


def test_bounds_are_offered_after_one_was_needed() -> None:
    x = StratumLoss(HERE, (), 1.0, 0.9, math.inf, -1.0, -2.0)
    strata = opened(_Proof((1.25, 3.0)))
    assert strata.known(stratum(2)) == OPEN_ENDED
    strata.closed(stratum(2), [x, x])
    assert strata.known(stratum(2)) == strata.known(stratum(1)) == (1.25, 3.0)
    assert strata.known(stratum(0)) == OPEN_ENDED  # its loss is a number
    assert strata.known(stratum(1, kind=CoordinateKind.LATTICE)) == OPEN_ENDED


def test_bounds_are_offered_at_once_where_many_strata_take_a_search() -> None:
    for dimensions, known in (((1, 2), OPEN_ENDED), ((1, 0, 1), OPEN_ENDED), ((1, 1, 2), (1.25, 3.0))):
        strata = [stratum(d) for d in dimensions]
        assert opened(_Proof((1.25, 3.0)), strata=strata).known(strata[0]) == known
        assert opened(None, strata=strata).known(strata[0]) == OPEN_ENDED


# -- strata and groups -------------------------------------------------------------------------------------------------


def test_independent_blocks_add() -> None:
    one, two = Sup(1.0, 0.9, 1.2, (), -1.0, -2.0), Sup(0.5, 0.4, 0.7, (), -3.0, -3.5)
    sups = [BothWays(one, two), BothWays(two, NOTHING)]
    found = _stratum_loss(HERE, sups, 0)
    assert found is not None
    assert (found.value, found.lower, found.upper) == pytest.approx((1.5, 1.3, 1.9))
    assert (found.log_p, found.log_q) == (-4.0, -5.5)
    assert _stratum_loss(HERE, sups, 1) is None
    endless = Sup(math.inf, math.inf, math.inf, (), -1.0, -math.inf)
    assert _stratum_loss(HERE, [BothWays(endless, one), BothWays(one, one)], 0).value == math.inf  # type: ignore[union-attr]


def test_a_group_has_the_largest_upper_end_of_its_strata(monkeypatch: pytest.MonkeyPatch) -> None:
    sups = {
        1: BothWays(Sup(1.0, 0.9, 1.1, (), -1.0, -2.0), Sup(0.1, 0.1, 0.1, (), -1.0, -1.1)),
        2: BothWays(Sup(0.8, 0.7, 1.6, (), -1.0, -1.8), Sup(0.3, 0.2, 0.35, (), -1.0, -1.3)),
        3: BothWays(NOTHING, Sup(0.2, 0.1, 0.9, (), -1.0, -1.2)),
    }
    monkeypatch.setattr(compare, "supremum", lambda block, worth=None, most=None, each=False: sups[block.dimension])
    monkeypatch.setattr(compare, "glimpse", lambda block: (0.0, 0.0))
    monkeypatch.setattr(compare, "with_stratum", lambda masses, _stratum, _sups: masses)
    group: Any = SimpleNamespace(strata=[stratum(3), stratum(1), stratum(2)], complete=True)
    forward, backward = _group_losses(group, opened(None)).ways
    assert forward is not None
    assert backward is not None
    assert (forward.value, forward.lower, forward.upper) == (1.0, 0.9, 1.6)
    assert (backward.value, backward.lower, backward.upper) == (0.3, 0.2, 0.9)
    assert _capped(None, 1.0) is None
    assert _capped(forward, 0.5) is forward
    assert _group_losses(SimpleNamespace(strata=[], complete=False), opened(None)).ways == (None, None)  # type: ignore[arg-type]


def test_strata_that_a_proof_leaves_below_what_was_reached_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first on two coordinates is open and asks for the proof; the second is left to it."""
    looked: list[Any] = []

    def supremum(block: Any, worth: Any = None, most: Any = None, *, each: bool = False) -> BothWays:
        looked.append((block, worth))
        both = Sup(1.0, 1.0, math.inf, (), -1.0, -2.0)
        return BothWays(both, both)

    monkeypatch.setattr(compare, "supremum", supremum)
    monkeypatch.setattr(compare, "glimpse", lambda block: (0.0, 0.0))
    monkeypatch.setattr(compare, "with_stratum", lambda masses, _stratum, _sups: masses)
    for bounds, times in (((1.0, 1.0), 1), ((1.0 + 1e-11, 1.0), 1), ((1.0, 1.5), 2), ((1.5, 1.0), 2)):
        looked.clear()
        found = _group_losses(SimpleNamespace(strata=[stratum(2), stratum(2)], complete=True), opened(_Proof(bounds)))  # type: ignore[arg-type]
        assert len(looked) == times
        assert [w.upper for w in found.ways if w is not None] == list(bounds)
    assert looked[1][1] == (1.0, math.inf)  # in the direction that is settled nothing is worth a look


def test_strata_that_promise_most_in_either_direction_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"a": (0.1, 0.0), "b": (0.3, 0.1), "c": (0.2, 0.2), "d": (0.0, 0.4)}
    monkeypatch.setattr(compare, "glimpse", lambda block: seen[block.name])

    def named(name: str, dimension: int) -> Any:
        found = stratum(dimension)
        found.blocks[0].name = name
        return found

    unknown: Any = SimpleNamespace(known=lambda s: OPEN_ENDED)
    strata = [named("a", 1), named("b", 1), named("c", 1), named("d", 1)]
    assert [s.blocks[0].name for s in _promising_first(strata, unknown)] == ["b", "d", "c", "a"]
    strata = [named("b", 2), named("c", 1), named("a", 1), stratum(0)]
    assert [b.dimension for s in _promising_first(strata, unknown) for b in s.blocks] == [0, 1, 1, 2]
    assert _promising_first(strata[:1], unknown) == strata[:1]


def test_of_strata_with_equal_bounds_those_come_first_that_have_less_to_lose_the_other_way() -> None:
    ends = {"a": (0.3, 0.2), "b": (0.3, 0.1), "c": (0.2, 0.4), "d": (0.1, 0.4)}
    strata = [stratum(2) for _ in ends]
    for s, name in zip(strata, ends, strict=True):
        s.blocks[0].name = name
    proved: Any = SimpleNamespace(known=lambda s: ends[s.blocks[0].name])
    assert [s.blocks[0].name for s in _promising_first(strata, proved)] == ["b", "d", "a", "c"]
    ends["a"] = ends["b"]
    strata[1].blocks[0].left = SimpleNamespace(conditions=3)  # of equal ones, the likelier
    assert [s.blocks[0].name for s in _promising_first(strata, proved)] == ["a", "d", "b", "c"]


@pytest.mark.parametrize("easy", [(0.25, 0.5), (math.inf, 0.5), (-math.inf, 0.5)])
def test_a_single_hard_block_need_only_add_to_more_than_was_reached(easy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def supremum(block: Any, worth: Any = compare.ANY, most: Any = OPEN_ENDED, *, each: bool = False) -> BothWays:
        asked.append((block.dimension, worth, most))
        return BothWays(*(Sup(x, x - 0.125, x) for x in easy))

    monkeypatch.setattr(compare, "supremum", supremum)
    _suprema(stratum(0, 2), [1.0, 2.0], (3.0, 4.0), each=False)
    free = (compare.ANY, OPEN_ENDED)
    assert asked == [(0, *free), (2, *(((0.75, 1.5), (2.875, 3.625)) if math.isfinite(easy[0]) else free))]
    asked.clear()
    _suprema(stratum(0, 2, 1), [1.0, 2.0], (3.0, 4.0), each=False)  # two hard ones: each may add
    assert asked == [(0, *free), (2, *free), (1, *free)]


def test_constants_that_share_a_place_with_an_open_value_are_told_apart() -> None:
    """Whether x + L(1) > 0 is told by 1 and 2, at the place that has a number or noise beside another tag."""

    def mechanism(x: float) -> Any:
        if dpest.laplace(1.0) > 1:
            return "b", dpest.where(dpest.laplace(1.0) > 0, 0.0, dpest.laplace(1.0))
        return "a", 1 if x + dpest.laplace(1.0) > 0 else 2

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    assert found.lower <= 1.0 <= found.upper
    assert found.upper - found.lower < 1e-9
