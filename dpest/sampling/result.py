"""Conclusions from counts as a result that a person reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpest.inputs.pairs import Pair
from dpest.results import Direction, Evidence, PairResult, Result, Witness
from dpest.sampling.conclude import Conclusion, DirectionFinding, Finding
from dpest.sampling.tables import Table


@dataclass(frozen=True)
class Facts:
    """What a run was, beside what it found."""

    reason: str
    mechanism: str
    confidence: float
    seconds: float
    samples: int
    interrupted: bool
    seed: int


def result_from(
    conclusion: Conclusion, tables: Sequence[Table], pairs: Sequence[Pair], facts: Facts, *, exhaustive: bool
) -> Result:
    """The result, with a witness for each pair and what more samples would buy."""
    found = tuple(_pair_result(*part) for part in zip(pairs, conclusion.findings, tables, strict=True))
    notes = _notes(conclusion.findings[conclusion.worst], facts, exhaustive=exhaustive, learned=tables[0].learned)
    return _result(found, conclusion.worst, (conclusion.epsilon, conclusion.lower, conclusion.upper), facts, notes)


def nothing_yet(pairs: Sequence[Pair], facts: Facts) -> Result:
    """The answer of a run that was stopped before anything was counted: nothing is excluded."""
    vacuous = tuple(PairResult(pair, 0.0, 0.0, math.inf, 0.0, 0.0, None) for pair in pairs)
    return _result(vacuous, 0, (0.0, 0.0, math.inf), facts, ["stopped before anything was counted"])


def _result(
    found: tuple[PairResult, ...], worst: int, bracket: tuple[float, float, float], facts: Facts, notes: list[str]
) -> Result:
    epsilon, lower, upper = bracket
    return Result(
        epsilon=epsilon,
        lower=lower,
        upper=upper,
        method="sampling",
        evidence=Evidence.ESTIMATE,
        confidence=facts.confidence,
        pair=found[worst].pair,
        witness=found[worst].witness,
        reason=facts.reason,
        pairs=found,
        mechanism=facts.mechanism,
        seconds=facts.seconds,
        samples=facts.samples,
        interrupted=facts.interrupted,
        notes=tuple(notes),
    )


def _pair_result(pair: Pair, finding: Finding, table: Table) -> PairResult:
    forward, backward = finding.sides
    witness = _witness(pair, forward if finding.forward >= finding.backward else backward, table)
    counted = (forward.bound, backward.bound)
    return PairResult(
        pair, finding.epsilon, finding.lower, finding.upper, finding.forward, finding.backward, witness, counted=counted
    )


def _witness(pair: Pair, side: DirectionFinding, table: Table) -> Witness | None:
    event, hits = side.shown, side.shown_hits
    if not hits.more:
        return None
    more, fewer = (math.log(k / n) if k else -math.inf for k, n in ((hits.more, hits.of_more), (hits.fewer, hits.of_fewer)))
    left, right = (more, fewer) if event.direction is Direction.LEFT else (fewer, more)
    return Witness(pair, event.direction, table.words(event.cells), "probability", left, right)


def _notes(worst: Finding, facts: Facts, *, exhaustive: bool, learned: bool) -> list[str]:
    notes = [f"seed {facts.seed}: the same seed gives the same answer"]
    if facts.interrupted:
        notes.append(f"stopped early: this is the answer from {facts.samples:,} samples of each input")
    side = max(worst.sides, key=lambda s: (s.infinite, s.lower, s.bound.log_ratio))
    if side.infinite:
        notes.append(
            f"infinite: an event was seen {side.shown_hits.more:,} times under one input and never under the other, more than "
            "chance explains at the loss that shared outputs support"
        )
    elif side.bound.more and side.bound.fewer:
        bounds = [side.bound.times(k).bound((1 - facts.confidence) / 2, given_total=True).lower for k in (4, 16)]
        notes.append(
            f"what more samples would buy: a lower bound of about {bounds[0]:.4g} from {4 * facts.samples:,} samples, "
            f"{bounds[1]:.4g} from {16 * facts.samples:,}"
        )
    if not exhaustive:
        why = "the events are learned, and others may show more" if learned else "outcomes that were not seen may show more"
        notes.append(f"no upper bound: {why}")
    return notes
