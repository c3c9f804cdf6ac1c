"""Which regions are bounded together: the dearest ones first, as long as that lowers the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpest.exact.proof.certificate import PairKind, ProofStep
from dpest.exact.proof.folding import Known
from dpest.exact.proof.pools import cheapest_pool
from dpest.exact.proof.regions import Region

_MOST_TRIED = 60  # pools, each of which takes a linear program for every corner of the differences


def pooled(
    programs: Sequence[Sequence[Region]], cases: Sequence[PairKind], steps: Sequence[ProofStep], known: Known
) -> list[ProofStep] | None:
    """The steps with regions of one output bounded together where that costs less; None where it never does."""
    families: dict[Any, list[ProofStep]] = {}
    for step in steps:
        case = cases[step.case]
        region = programs[case.source][step.source]
        key: Any = id(step)
        if step.policy is not None or step.corners is not None:
            key = (step.case, region.group, region.key, region.released, region.cell)
        families.setdefault(key, []).append(step)
    ordered = sorted(families.values(), key=lambda own: -max(s.cost for s in own))
    out: list[ProofStep] = []
    settled: set[tuple[int, int]] = set()
    for tried, own in enumerate(ordered):
        first = own[0]
        case = cases[first.case]
        place = first.case, programs[case.source][first.source].group
        most = max(s.cost for s in own)
        found = None
        if place not in settled and tried < _MOST_TRIED and first.crossing is None and first.apart is None:
            found = cheapest_pool(programs[case.source], sorted(s.source for s in own), case.box, most, known)
        if found is None:
            settled.add(place)  # the largest cost stays as it is
            out.extend(own)
        else:
            at = min(found[0].members)
            out.append(replace(first, source=at, target=at, policy=None, corners=None, pool=found[0], cost=found[1]))
    return out if any(s.pool is not None for s in out) else None
