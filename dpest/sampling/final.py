"""The last part of an audit: check how runs depend on each other, then bound the event on fresh samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpest.errors import DependentRuns
from dpest.inputs.pairs import Pair
from dpest.results import Direction
from dpest.run.streams import stream
from dpest.sampling.bounds.common_noise import Blocks, Prospect
from dpest.sampling.bounds.dependence import (
    FEWEST_BLOCKS,
    BlockHits,
    Echo,
    Seen,
    Unit,
    alike_across,
    alike_apart,
    echo,
    look,
    repeated,
    shift,
    worst_echo,
)
from dpest.sampling.bounds.statement import Counts, Statement
from dpest.sampling.runs.blackbox import Form, Sampler
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import joined
from dpest.sampling.scores.event import Event
from dpest.sampling.supply import ChunkSetup, CountChunk, DrawChunk, Stage, Tally, block_size, chunk_size, count_event

_LOOKS_PER_DOUBLING = 3  # each look comes a third later than the one before, and so much later at most is a false claim refuted
_COPIES = 64  # blocks from copies, some 2,000 runs in all
_COPY_RUNS = 32  # runs of one copy
_ALIKE = 8  # so many blocks of few different outputs are not equal by chance
_CALIBRATION_BLOCKS = 256
_SMALL_BLOCK = 64  # rows of a call where only calls are independent: fewer cost time, more cost evidence
_MOST_SMALL_BLOCKS = 1 << 14
_SHIFTED = 1e-6  # p-value: refusing costs the whole audit, and each audit looks a few times
_DIFFERENT = 1e-4  # p-value: being run from copies costs time alone
_FROZEN = 3.0  # times as often; and three equal pairs for each copied run, since discrete outputs are equal by chance
_COPIED = (
    "independent copies: the mechanism keeps what it drew in earlier calls, so that each block of runs starts from a copy of it "
    "as it was handed over"
)


@dataclass(frozen=True)
class EventQuestion:
    """An event to be bounded: of which mechanism, on which pair, from how many samples, and the claim that it may refute."""

    source: Sampler
    pair: Pair
    event: Event
    statement: Statement
    samples: int
    seed: int
    claim: float | None = None
    first: int = 0  # the chunk that this question's samples start with


@dataclass(frozen=True)
class Plan:
    """How the final samples are drawn and bounded, and what the bound rests on."""

    source: Sampler
    statement: Statement
    block: int
    reserve: Statement  # for independent blocks of any law, should the final samples show dependence
    before: BlockHits
    rests: str


@dataclass(frozen=True)
class FinalBound:
    """What the final samples came to."""

    tally: Tally
    statement: Statement
    lower: float
    ended: bool  # as many samples as planned, none of them decided when to stop
    interrupted: bool
    rests: str


def keeps_state(question: EventQuestion, before: BlockHits) -> bool:
    """Whether copies of the mechanism, as it was handed over, show that it keeps what it drew in earlier calls."""
    source = question.source
    if source.form is Form.TRACED or source.pristine is None or source.fresh:
        return False
    copies = _sample(question, replace(source, fresh=True), _COPY_RUNS, _COPIES, 7)
    seen = look(before)
    if copies.echo is Echo.AGAIN or _frozen(copies, before):
        return False  # all copies draw the same noise: they say nothing
    return seen.linked or (look(copies).clumps < _DIFFERENT and not seen.clumped) or shift(before, copies) < _SHIFTED


def plan(question: EventQuestion, before: BlockHits) -> Plan:
    """Decide, on the samples that chose the event, between a bound for independent runs, for independent blocks, and none."""
    source, seen = question.source, look(before)
    if seen.linked:
        raise refusal(seen)
    if source.fresh:
        return _by_blocks(question, _COPIED)
    if _clumped(seen, question.statement):
        return _by_blocks(question, _clumped_words(source, seen))
    block = before.size
    blocks = Blocks.of(block, before.left, before.right)
    reserve = _reserve(question.statement, blocks, block, max(question.samples // block, 1), question.claim)
    return Plan(source, question.statement, block, reserve, before, _independent_words(source, seen, len(before.left)))


def _clumped(seen: Seen, statement: Statement) -> bool:
    """Whether the bound that was planned must not be used: that on common noise takes its variance from blocks anyway.

    It takes the law of single runs for nothing but what blocks may stray, many standard errors away.
    """
    return seen.clumped if statement.stake is None else seen.surely_clumped


def _by_blocks(question: EventQuestion, why: str) -> Plan:
    """A bound that takes blocks as independent and nothing else, with a stake for the blocks that it will use."""
    source = question.source
    block = block_size(source, question.samples)
    if source.form is Form.VECTORISED:
        block = min(block, max(_SMALL_BLOCK, 1 << max(question.samples // _MOST_SMALL_BLOCKS, 1).bit_length()))
    number = max(question.samples // block, 1)
    before = _sample(question, source, block, min(_CALIBRATION_BLOCKS, number), 9)
    seen = look(before)
    if seen.linked:
        raise refusal(seen)
    statement = _reserve(question.statement, Blocks.of(block, before.left, before.right), block, number, question.claim)
    return Plan(source, statement, block, statement, before, why)


def _reserve(statement: Statement, blocks: Blocks, block: int, number: int, claim: float | None) -> Statement:
    """The same statement for independent blocks of any law; without blocks there is none."""
    if not blocks.number:
        return statement
    oriented = blocks if statement.direction is Direction.LEFT else blocks.swapped()
    prospect = Prospect.of(oriented, block, number, statement.delta, Unit.BLOCKS)
    stake = prospect.stake(statement.alpha)[0] if claim is None else prospect.stake_against(claim, statement.alpha, 0.0)
    return replace(statement, stake=float(stake), unit=Unit.BLOCKS)


def _sample(question: EventQuestion, source: Sampler, size: int, number: int, key: int) -> BlockHits:
    """Hits of the event in some blocks of fresh runs."""
    found, echoes, outputs = [], [], []
    for side, data in enumerate((question.pair.left, question.pair.right)):
        ties = stream(question.seed, int(Stage.TIES), side, question.first, key)
        batches = DrawChunk(source, data, size, question.seed, (int(Stage.PROBE), key, question.first))(0, size * number)
        found.append(np.array([int(question.event.contains(b, ties).sum()) for b in batches], dtype=np.int64))
        keys = row_keys(joined(batches))
        echoes.append(Echo.AGAIN if _alike(keys.reshape(-1, size)) else echo(keys, size))
        outputs.append(keys)
    return BlockHits(size, found[0], found[1], worst_echo(echoes), ((outputs[0], outputs[1]),))


def _frozen(copies: BlockHits, before: BlockHits) -> bool:
    """Whether copies draw noise again that was drawn before they were made: it differs elsewhere.

    Outputs of two copies are then equal far more often than an output of a copy and one of the mechanism itself.
    """
    for side in (0, 1):
        own, other = (np.concatenate([stage[side] for stage in found.outputs]) for found in (copies, before))
        if alike_apart(own, copies.size) > _FROZEN * alike_across(own, other) + _FROZEN / len(own):
            return True
    return False


def _alike(blocks: NDArray[np.uint64]) -> bool:
    """Whether blocks are copies of each other, run for run, although runs differ."""
    few = blocks[:_ALIKE]
    return len(few) == _ALIKE and bool(np.all(few == few[0])) and bool(np.any(few[0] != few[0, 0]))


def first_look(question: EventQuestion, block: int) -> BlockHits:
    """Hits in some blocks before the final ones, for an event that was not chosen here."""
    return _sample(question, question.source, block, min(_CALIBRATION_BLOCKS, max(question.samples // block, 1)), 6)


def bounded(question: EventQuestion, chosen: Plan, where: ChunkSetup) -> FinalBound:
    """The bound on fresh samples; with a claim, as soon as it is refuted."""
    tally, ended, interrupted = _counted(question, chosen, where)
    statement, rests = chosen.statement, chosen.rests
    if tally.trace is not None and len(tally.trace.left):
        seen = look(tally.trace)
        unit = Unit.BLOCKS if _clumped(seen, statement) else statement.unit
        if repeated(chosen.before, tally.trace, unit):
            raise refusal(replace(seen, echo=Echo.AGAIN))
        if seen.linked or shift(chosen.before, tally.trace) < _SHIFTED:
            raise refusal(seen)
        if statement.unit is Unit.RUNS and _clumped(seen, statement):
            statement, rests = chosen.reserve, _clumped_words(chosen.source, seen)
    counts = tally.counts if statement.stake is not None else replace(tally.counts, blocks=None)
    return FinalBound(replace(tally, counts=counts), statement, statement.lower(counts, ended=ended), ended, interrupted, rests)


def _counted(question: EventQuestion, chosen: Plan, where: ChunkSetup) -> tuple[Tally, bool, bool]:
    """All samples, or as many as it takes to refute the claim: the counts, whether they ended as planned, or by Ctrl-C."""
    if question.claim is None:
        tally, interrupted = _count(question, chosen, question.samples, 0, where)
        return tally, tally.failure is None, interrupted
    size = chunk_size(chosen.source)
    tally, done, interrupted = Tally(Counts()), 0, False
    while done < question.samples and not interrupted and tally.failure is None:
        step = min(question.samples - done, max(size, math.ceil(done / _LOOKS_PER_DOUBLING / size) * size))
        more, interrupted = _count(question, chosen, step, done // size, where)
        tally, done = tally + more, done + step
        ended = done >= question.samples and tally.failure is None and not interrupted
        if chosen.statement.lower(tally.counts, ended=ended) > question.claim:
            return tally, ended, interrupted
    return tally, done >= question.samples and tally.failure is None and not interrupted, interrupted


def _count(question: EventQuestion, chosen: Plan, count: int, first: int, where: ChunkSetup) -> tuple[Tally, bool]:
    pair, common = question.pair, chosen.statement.stake is not None
    work = CountChunk(
        chosen.source, pair.left, pair.right, question.event, chosen.block, question.seed, question.first + first, common
    )
    gathered = count_event(work, count, where)
    return gathered.state, gathered.interrupted


def _independent_words(source: Sampler, seen: Seen, blocks: int) -> str:
    if source.form is Form.TRACED:
        return "independent runs (dpest draws them)"
    if blocks < FEWEST_BLOCKS:
        return f"independent runs (not checked: {blocks} blocks of runs are too few to show dependence)"
    kept = "" if source.pristine is not None else "; it cannot be copied, so what it kept before is part of it"
    return (
        f"independent runs (checked: hits per block vary {seen.dispersion:.2f} times as much as independent ones would, "
        f"and blocks do not go together{kept})"
    )


def _clumped_words(source: Sampler, seen: Seen) -> str:
    what = "rows of one call" if source.form is Form.VECTORISED else "neighbouring calls"
    unit = "calls" if source.form is Form.VECTORISED else "blocks of calls"
    return f"independent {unit}: {what} share a draw (hits vary {seen.dispersion:.3g} times as much as independent ones would)"


def refusal(seen: Seen) -> DependentRuns:
    """The error that says what was seen, and what to write."""
    what = "the same noise comes again in later blocks of runs" if seen.echo is Echo.AGAIN else (
        f"hits per block of runs vary {seen.dispersion:.3g} times as much as independent ones would, and blocks go together "
        f"(p = {seen.links:.1g})"
    )
    return DependentRuns(
        f"runs of the mechanism depend on each other: {what}; no bound from counts holds for such runs: draw everything from the "
        "generator that is handed in, mechanism(data, rng), keep no noise between calls, and seed neither by the clock nor alike "
        "in each process"
    )
