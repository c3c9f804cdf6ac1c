"""Answers an estimate question by sampling: an estimate, a valid lower bound, and an upper one where that is possible."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dpest.inputs.pairs import Pair
from dpest.inputs.question import check_confidence, check_samples
from dpest.results import Result
from dpest.run.checkpoint import Checkpoint, stored_identity
from dpest.run.chunks import Chunks, Gathered, Work, run_chunks
from dpest.run.executors import Automatic, opened
from dpest.run.fingerprint import fingerprint
from dpest.run.progress import Progress, showing
from dpest.run.streams import resolve_seed
from dpest.sampling.conclude import conclude
from dpest.sampling.gathering import (
    CHOOSING_SHARE,
    STORED,
    CountCells,
    CountOutcomes,
    Fold,
    Learn,
    Model,
    Parts,
    SamplingQuestion,
)
from dpest.sampling.result import Facts, nothing_yet, result_from
from dpest.sampling.runs.outcomes import aligned
from dpest.sampling.runs.outputs import Keys
from dpest.sampling.runs.sources import OutputSource, TracedSampler
from dpest.sampling.runs.support import covers
from dpest.sampling.tables import Table, cell_tables, outcome_tables

DEFAULT_SAMPLES = 1_000_000  # of each input: a bound within some percent of a loss of 1, in seconds
_SMALL_CHUNK = 1 << 15  # few samples are at least four chunks, so that both parts exist whenever a run is stopped
_LARGE_CHUNK = 1 << 20  # many samples are at least sixteen: progress, interrupts and checkpoints go by chunks
_FEWEST_SAMPLES = 100  # of each input: some thirty choose the event, some seventy bound it


def estimate_by_sampling(
    mechanism: Callable[..., Any] | OutputSource,
    pairs: Sequence[Pair],
    *,
    params: Mapping[str, Any] | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
    confidence: float = 0.95,
    executor: int | Executor | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | bool | None = None,
    reason: str = "sampling was asked for",
) -> Result:
    """The largest loss over the pairs, from `samples` outputs on each input.

    `executor` is a number of processes or any `concurrent.futures.Executor`; by default the work starts here and goes
    to all cores when it is long. The answer is the same in every case.
    """
    start = time.perf_counter()
    samples, confidence = check_samples(samples, _FEWEST_SAMPLES), check_confidence(confidence)
    sampler = TracedSampler(mechanism, params) if callable(mechanism) else mechanism
    with ExitStack() as stack:
        show = stack.enter_context(showing(progress))
        seed = _seed(seed, checkpoint)
        question = SamplingQuestion.of(sampler, pairs, seed)
        store = _opened_store(checkpoint, mechanism, params, pairs, seed, samples, stack)
        if isinstance(sampler, TracedSampler):
            for data in question.inputs:
                sampler.check(data)
        place = stack.enter_context(opened(Automatic() if executor is None else executor))
        tables, outcomes, gathered = _gathered(question, samples, place, store, show)
    name = str(getattr(mechanism, "__name__", type(mechanism).__name__))
    seconds = time.perf_counter() - start
    facts = Facts(reason, name, confidence, seconds, gathered.done, gathered.interrupted, seed)
    if not gathered.done:
        return nothing_yet(pairs, facts)
    exhaustive = outcomes is not None and callable(mechanism) and covers(outcomes, mechanism, question.inputs, params or {})
    return result_from(conclude(tables, 1 - confidence, exhaustive=exhaustive), tables, pairs, facts, exhaustive=exhaustive)


def _gathered(
    question: SamplingQuestion, samples: int, place: Executor | Automatic | None, store: Checkpoint | None, show: Progress
) -> tuple[list[Table], Keys | None, Gathered[Parts]]:
    """Learn, then count: a table for each pair, and the outcomes that were seen, where they repeat."""
    nothing: tuple[Model | None, ...] = ()
    show(0, samples, "looking at a first sample")
    learn = Learn(question, samples)
    learned = run_chunks(
        learn, Chunks(1, 1), lambda _, found: (found,), nothing, checkpoint=store, key="learn", known=STORED
    )
    if not learned.state:
        return [], None, Gathered(([], []), 0, interrupted=True)
    model = learned.state[0]
    chunks = _chunks(samples)
    work: CountOutcomes | CountCells = CountOutcomes(question) if model is None else CountCells(question, model)
    count: Work[tuple[int, list[Any]]] = work
    fold = Fold(max(1, round(len(chunks) * CHOOSING_SHARE)), len(chunks))
    empty: Parts = (work.empty(), work.empty())
    gathered = run_chunks(
        count, chunks, fold, empty, executor=place, checkpoint=store, progress=show, message="counting", key="count", known=STORED
    )
    if model is not None:
        return cell_tables(model, gathered.state), None, gathered
    seen = aligned([outcomes for part in gathered.state for outcomes in part])
    return outcome_tables(question, seen), seen.keys, gathered


def _chunks(samples: int) -> Chunks:
    """At least four chunks, so that one of them can choose; not too small, since each costs a little of its own."""
    size = max(min(_SMALL_CHUNK, samples // 4), min(_LARGE_CHUNK, samples // 16))
    return Chunks(samples, size)




def _seed(seed: int | None, checkpoint: str | Path | None) -> int:
    """A run that goes on from a checkpoint goes on with its seed."""
    if seed is None and checkpoint is not None:
        known = stored_identity(checkpoint)
        if known is not None:
            return resolve_seed(known.get("seed"))
    return resolve_seed(seed)


def _opened_store(
    path: str | Path | None,
    mechanism: Any,
    params: Mapping[str, Any] | None,
    pairs: Sequence[Pair],
    seed: int,
    samples: int,
    stack: ExitStack,
) -> Checkpoint | None:
    if path is None:
        return None
    identity = {
        "mechanism": f"{getattr(mechanism, '__name__', type(mechanism).__name__)} {fingerprint(mechanism)}",
        "params": {k: _known_as(v) for k, v in (params or {}).items()},
        "pairs": [p.to_dict() for p in pairs],
        "seed": seed,
        "samples": samples,
    }
    return stack.enter_context(Checkpoint(path, identity))


def _known_as(value: Any) -> str:
    plain = isinstance(value, int | float | str | bool | None | list | tuple)
    return repr(value) if plain else f"{type(value).__name__} {fingerprint(value)}"
