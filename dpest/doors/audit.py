"""The audit itself: race for the pair and the event, check how runs depend on each other, bound the event on fresh samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpest.errors import MechanismError
from dpest.inputs.neighbours import distinct_inputs, relation, resolve_pairs
from dpest.inputs.pairs import Pair, as_parameters
from dpest.inputs.question import check_executor, check_keywords, check_progress, check_seed
from dpest.run.checkpoint import Checkpoint
from dpest.run.executors import opened
from dpest.run.fingerprint import fingerprint
from dpest.run.progress import showing
from dpest.run.streams import resolve_seed, stream
from dpest.sampling.audit_result import AuditResult
from dpest.sampling.audit_witness import AuditWitness
from dpest.sampling.final import EventQuestion, FinalBound, bounded, keeps_state, plan
from dpest.sampling.probe import probe, width
from dpest.sampling.race import Runner
from dpest.sampling.runs.blackbox import Form, Sampler, as_traced, sampler
from dpest.sampling.runs.floats import has_fractions
from dpest.sampling.scores.choose import trade_off
from dpest.sampling.scores.screening import MOST_KEPT, SCREENED_ROWS, WIDE, differences
from dpest.sampling.search import FoundEvent, search
from dpest.sampling.settings import Settings, checked
from dpest.sampling.supply import ChunkSetup, Stage, Supply, block_size

_BITS_SHARE = 5  # one part in so many of the samples answers for the representation
_FEWEST_BITS, _MOST_BITS = 1_000, 20_000  # naive noise shows within some thousand
_BITS_ALPHA = 0.1  # of alpha: what the representation leaks is large or nothing
_BITS_CHUNKS = 1 << 30  # its final samples are none of those of the values


def audit(
    mechanism: Callable[..., Any] | Sampler,
    pairs: Any = None,
    *,
    n: int | None = None,
    adjacency: str | None = None,
    claim: float | None = None,
    delta: float = 0.0,
    attack: str = "auto",
    features: str | Sequence[str] = "auto",
    c: float | str = "auto",
    samples: int = 200_000,
    confidence: float = 0.95,
    seed: int | None = None,
    executor: int | Executor | None = None,
    checkpoint: str | Path | None = None,
    classifier: Any = "logistic",
    params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    errors: str | None = None,
    progress: Any = None,
    **keywords: Any,
) -> AuditResult:
    """A lower bound on the privacy loss of any callable, from samples, with the event that shows it.

    Args:
        mechanism: any callable of its input; `dpest.sampler` says how it is to be called where its signature does not.
        pairs: (D, D'), a list of such pairs, or a dict of named ones.
        n: in place of pairs: the input patterns with n values.
        adjacency: with n: "linf" or "l1".
        claim: the epsilon that is claimed; the audit stops as soon as it is refuted.
        delta: the delta of the claim.
        attack: "auto" (all that is known here), "sniper" or "statdp": those two as published.
        features: "auto", or what events may look at: "table", "half-lines", "values", "differences", "pooled",
            "pooled differences", "bits", or several of them.
        c: the probability of the event to aim at, "auto" or a number.
        samples: final samples of each input; training and choice use as many more each, up to a million.
        confidence: of the bound.
        seed: of the random streams; the same seed gives the same answer.
        executor: a number of processes, or a `concurrent.futures.Executor`.
        checkpoint: a file that keeps what was counted; the same question goes on from it.
        classifier: of "sniper": its name, or an estimator in the manner of scikit-learn.
        timeout: seconds that one call of the mechanism may take.
        errors: "outcome" makes an exception of the mechanism an output; None ends the audit.
        progress: None (a bar on a terminal), False, True, or a function of (done, total, message).
        params: parameters of the mechanism as a dict; for those whose names collide with these.
        keywords: parameters of the mechanism.

    Returns:
        An `AuditResult` with lower, the point estimate, the pair, the witness with its counts; `bits` speaks about the
        floating-point representation of the outputs.

    Example:
        >>> import dpest, random
        >>> r = dpest.audit(lambda x: x + random.expovariate(1), (0, 1), samples=2000, seed=1, progress=False)
        >>> r.lower > 1
        True
    """
    start = time.perf_counter()
    check_progress(progress)
    settings = checked(samples, confidence, claim, delta, attack, features, c, classifier)
    chosen = resolve_pairs(pairs, n, adjacency)
    used = resolve_seed(check_seed(seed))
    check_executor(executor)
    parameters = as_parameters(params, keywords)
    check_keywords(mechanism, keywords, audit)
    source = as_traced(sampler(mechanism, params=parameters, timeout=timeout, errors=errors), chosen[0].left)
    inputs, places = distinct_inputs(chosen)
    with opened(executor) as pool, showing(progress) as show:
        notes = probe(source, inputs, used, pool)
        source = _narrowed(replace(source, width=width(source, inputs[0], used)), inputs, used)
        store = None if checkpoint is None else Checkpoint(checkpoint, _identity(source, chosen, settings, used))
        where = ChunkSetup(pool, store, show)
        try:
            supply = Supply(source, inputs, block_size(source, settings.samples), used, where)
            result = _answered(supply, [Runner(p, at) for p, at in zip(chosen, places, strict=True)], settings)
        finally:
            if store is not None:
                store.close()
    said = replace(result, adjacency=adjacency or relation(result.pair) if n is None else adjacency or "linf")
    return replace(said, seconds=time.perf_counter() - start, notes=(*notes, *result.notes))


def _narrowed(source: Sampler, inputs: Sequence[Any], seed: int) -> Sampler:
    """Of very wide outputs, keep the columns that tell the inputs apart in a first sample."""
    if source.width <= WIDE:
        return source
    streams = [stream(seed, int(Stage.PROBE), 998, place) for place in range(len(inputs))]
    samples = [source.draw(data, SCREENED_ROWS // 2, rng) for data, rng in zip(inputs, streams, strict=True)]
    widest = max(b.width for b in samples)
    first, *others = (b.resized(widest) for b in samples)
    merit = np.max([differences(first.values, other.values) for other in others], axis=0)
    kept = np.sort(np.argsort(-merit, kind="stable")[:MOST_KEPT])
    return replace(source, columns=kept)


def _identity(source: Sampler, pairs: Sequence[Pair], settings: Settings, seed: int) -> dict[str, Any]:
    asked = {name: value for name, value in vars(settings).items() if name != "classifier"}
    return {
        "question": "audit",
        "mechanism": fingerprint(source.mechanism),
        "params": repr(sorted(source.params.items())),
        "pairs": [p.to_dict() for p in pairs],
        "seed": seed,
        "classifier": repr(settings.classifier),
        **asked,
    }


def _answered(supply: Supply, runners: Sequence[Runner], settings: Settings) -> AuditResult:
    """The bound for the values and, where outputs have fractions, on a share of the samples, that for the representation."""
    values = settings
    both = settings.features is None and settings.attack == "auto" and _has_bits(supply, runners[0])
    if both:
        values = replace(settings, alpha=settings.alpha * (1 - _BITS_ALPHA))
    found = search(supply, runners, values)
    if keeps_state(_question(supply, found, values, 0), found.trace):
        copies = replace(supply.sampler, fresh=True)
        block = block_size(copies, settings.samples)
        supply = Supply(copies, supply.inputs, block, supply.seed, supply.where, supply.runs, salt=1)
        found = search(supply, runners, values)
    looked = _bits_found(supply, found, settings) if both else None
    supply.forget()
    result = _bounded(supply, found, values, 0)
    result = replace(result, runs=result.runs + supply.runs)
    if looked is None:
        return result
    try:
        bits = _bounded(supply, looked[0], looked[1], _BITS_CHUNKS)
    except MechanismError as error:
        return replace(result, notes=(*result.notes, f"no answer about the floating-point representation: {error}"))
    return replace(result, bits=bits, runs=result.runs + bits.runs)


def _has_bits(supply: Supply, runner: Runner) -> bool:
    """Whether outputs are numbers whose floating-point representation may say more than their value."""
    if supply.sampler.form is Form.TRACED:
        return False
    return any(has_fractions(supply.get(place, Stage.TRAIN, 100).values) for place in runner.places)


def _bits_found(supply: Supply, found: FoundEvent, settings: Settings) -> tuple[FoundEvent, Settings]:
    """The telling event of the representation, on the pair that leaks most, from samples that are there already."""
    share = min(max(settings.samples // _BITS_SHARE, min(_FEWEST_BITS, settings.samples)), _MOST_BITS)
    fewer = replace(settings, samples=share, features=("bits",), alpha=settings.alpha * _BITS_ALPHA)
    return search(supply, [replace(found.runner, features=())], fewer), fewer


def _question(supply: Supply, found: FoundEvent, settings: Settings, first: int) -> EventQuestion:
    return EventQuestion(
        supply.sampler, found.pair, found.event, found.statement, settings.samples, supply.seed, settings.claim, first
    )


def _bounded(supply: Supply, found: FoundEvent, settings: Settings, first: int) -> AuditResult:
    """The bound on fresh samples."""
    question = _question(supply, found, settings, first)
    bound = bounded(question, plan(question, found.trace), supply.where)
    return _result(supply.sampler, found, settings, supply.seed, bound)


def _result(source: Sampler, found: FoundEvent, settings: Settings, seed: int, bound: FinalBound) -> AuditResult:
    counts, statement = bound.tally.counts, bound.statement
    if bound.tally.failure is not None and counts.trials_left == 0:
        raise MechanismError(bound.tally.failure)
    return AuditResult.of(
        AuditWitness.of(found.pair, found.event, counts, statement, bound.ended, seed),
        confidence=settings.confidence,
        reason=bound.rests,
        attack=found.attack,
        mechanism=source.name,
        samples=counts.trials_left,
        runs=counts.trials_left + counts.trials_right,
        claim=settings.claim,
        standings=found.standings,
        points=trade_off(*found.scores),
        laws=found.laws,
        interrupted=bound.interrupted,
        failure=bound.tally.failure,
    )
