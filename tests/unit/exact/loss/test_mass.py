"""The probabilities of all outputs must add up to one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import dpest
from dpest.errors import ExactRefused
from dpest.exact.loss import compare
from dpest.exact.loss.logs import BothWays
from dpest.exact.loss.mass import TotalMass
from dpest.trace.explore import Trace


def test_a_sum_of_one_passes_and_another_is_refused() -> None:
    whole = Trace(())
    fine = TotalMass()
    fine.add([(0.25, 0.5)])
    fine.add([(0.75, 0.25), (1.0, 2.0)])  # groups are independent
    fine.check(whole, whole)
    for second in ((0.7, 0.5), (0.75, 0.500001), (0.75000011, 0.5)):
        wrong = TotalMass()
        wrong.add([(0.25, 0.5)])
        wrong.add([second])
        with pytest.raises(ExactRefused, match="add up to"):
            wrong.check(whole, whole)


def test_what_was_not_explored_may_be_missing_and_no_more() -> None:
    for left, fine in ((0.991, True), (0.989, False), (1.0, True), (1.001, False)):
        total = TotalMass()
        total.add([(left, 1.0)])
        open_end = Trace((), log_unexplored=math.log(0.01))
        if fine:
            total.check(open_end, Trace(()))
        else:
            with pytest.raises(ExactRefused):
                total.check(open_end, Trace(()))


def test_nothing_is_said_where_a_part_is_not_known() -> None:
    total = TotalMass()
    total.add([(0.25, 0.5)])
    total.add([None, (0.5, 0.5)])
    total.check(Trace(()), Trace(()))
    total.unknown()
    total.add([(0.25, 0.5)])
    total.check(Trace(()), Trace(()))


def test_a_program_cut_down_to_some_of_its_runs_has_less_than_one() -> None:
    total = TotalMass()
    total.add([(0.25, 1.0)])
    total.check(Trace((), whole=False), Trace(()))
    with pytest.raises(ExactRefused):
        total.check(Trace(()), Trace((), whole=False))


def _above(queries: list[float]) -> int | None:
    t = dpest.laplace(2)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4) >= t:
            return i
    return None


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_a_wrong_probability_is_refused_and_not_told(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """An engine that has probabilities a thousandth too large does not answer."""
    right = dpest.estimate(_above, ([0.0, 1.0], [1.0, 1.0]), method="exact")
    assert 0 < right.lower <= right.upper <= 0.5 + 1e-12
    honest = compare.supremum

    def wrong(block: object, *rest: object) -> BothWays:
        found = honest(block, *rest)  # type: ignore[arg-type]
        off = replace(getattr(found, way), log_p=getattr(found, way).log_p + 1e-3)
        return replace(found, **{way: off})

    monkeypatch.setattr(compare, "supremum", wrong)
    with pytest.raises(ExactRefused, match="add up to"):
        dpest.estimate(_above, ([0.0, 1.0], [1.0, 1.0]), method="exact")
