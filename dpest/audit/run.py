"""The audit itself: race for the pair and the event, then bound the event on fresh samples."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpest.audit.attacks import FEATURES, fit_by_features
from dpest.audit.blackbox import Sampler, as_traced, sampler
from dpest.audit.bounds import Counts, Statement, point_estimate
from dpest.audit.choose import Goal, trade_off
from dpest.audit.event import Event
from dpest.audit.outputs import Batch
from dpest.audit.pairs import distinct_inputs, resolve_pairs
from dpest.audit.probe import probe
from dpest.audit.race import Lap, Runner, Standing, race
from dpest.audit.result import AuditResult
from dpest.audit.sniper import snipe
from dpest.audit.statdp import statdp
from dpest.audit.supply import CountChunk, Stage, Supply, Tally, Where, block_size, chunk_size, count_event
from dpest.audit.witness import AuditWitness
from dpest.engine.checkpoint import Checkpoint
from dpest.engine.executors import opened
from dpest.engine.fingerprint import fingerprint
from dpest.engine.progress import Bar, Progress
from dpest.engine.streams import resolve_seed
from dpest.errors import InvalidInput, MechanismError, UnknownName
from dpest.inputs import Pair
from dpest.results import Direction

ATTACKS = ("auto", "sniper", "statdp")
MOST_TRAINING = 1_000_000
_LOOKS_PER_DOUBLING = 3
_CURVE_ROWS = 200_000


@dataclass(frozen=True)
class Settings:
    """What was asked, checked."""

    samples: int
    confidence: float
    claim: float | None
    delta: float
    attack: str
    features: tuple[str, ...] | None
    size: float | None
    classifier: Any

    @property
    def alpha(self) -> float:
        """The probability with which the answer may be wrong."""
        return 1 - self.confidence

    @property
    def training(self) -> int:
        """Samples of each input for training, and as many for choosing."""
        return min(self.samples, MOST_TRAINING)

    def goal(self, block: int) -> Goal:
        """What the event is chosen for; the published attacks are bounded on independent samples, as published."""
        common = self.attack == "auto"
        return Goal(self.samples, self.alpha, self.delta, self.claim, self.size, block, common)


@dataclass(frozen=True)
class Found:
    """An event to be bounded, and how it was found."""

    pair: Pair
    statement: Statement
    event: Event
    attack: str
    standings: tuple[Standing, ...]
    scores: tuple[Any, Any]


def audit(
    mechanism: Callable[..., Any] | Sampler,
    pairs: Any = None,
    *,
    n: int | None = None,
    adjacency: str = "linf",
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
    progress: Progress | None = None,
) -> AuditResult:
    """A lower bound on the privacy loss of any callable, from samples, with the event that shows it.

    `samples` is the number of final samples of each input; training and choice use as many more each, up to a million.
    With `claim`, the audit stops as soon as the claim is refuted.
    """
    start = time.perf_counter()
    settings = _settings(samples, confidence, claim, delta, attack, features, c, classifier)
    chosen = resolve_pairs(pairs, n, adjacency)
    used = resolve_seed(seed)
    source = as_traced(sampler(mechanism, params=params, timeout=timeout), chosen[0].left)
    inputs, places = distinct_inputs(chosen)
    notes = probe(source, inputs, used, executor)
    with opened(executor) as runner, Bar() as bar:
        store = None if checkpoint is None else Checkpoint(checkpoint, _identity(source, chosen, settings, used))
        where = Where(runner, store, bar if progress is None else progress)
        try:
            supply = Supply(source, inputs, block_size(source, settings.samples), used, where)
            found = _search(supply, [Runner(p, at) for p, at in zip(chosen, places, strict=True)], settings)
            supply.forget()
            result = _bounded(source, found, settings, used, where)
        finally:
            if store is not None:
                store.close()
    return replace(result, runs=result.runs + supply.runs, seconds=time.perf_counter() - start, notes=(*notes, *result.notes))


def _settings(
    samples: int,
    confidence: float,
    claim: float | None,
    delta: float,
    attack: str,
    features: str | Sequence[str],
    c: float | str,
    classifier: Any,
) -> Settings:
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 100:
        raise InvalidInput(f"samples must be a whole number >= 100, got {samples!r}")
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    if claim is not None and not 0 <= claim < math.inf:
        raise InvalidInput(f"claim must be a finite epsilon >= 0, got {claim!r}")
    if not 0 <= delta < 1:
        raise InvalidInput(f"delta must lie in [0, 1), got {delta!r}")
    if attack not in ATTACKS:
        raise UnknownName(f"attack must be one of {', '.join(ATTACKS)}, got {attack!r}")
    if c != "auto" and (isinstance(c, str) or not 0 < c < 1):
        raise InvalidInput(f'c must be "auto" or a probability strictly between 0 and 1, got {c!r}')
    size = None if isinstance(c, str) else float(c)
    return Settings(int(samples), confidence, claim, delta, attack, _features(features), size, classifier)


def _features(features: str | Sequence[str]) -> tuple[str, ...] | None:
    if features == "auto":
        return None
    names = (features,) if isinstance(features, str) else tuple(features)
    known = ("table", *FEATURES)
    for name in names:
        if name not in known:
            raise UnknownName(f"no features are called {name!r}: choose from auto, {', '.join(known)}")
    return names


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


def _search(supply: Supply, runners: Sequence[Runner], settings: Settings) -> Found:
    """Race with the chosen attack's features; DP-Sniper and StatDP take the winning pair."""
    features = settings.features
    goal = settings.goal(supply.block)
    lap, standings = race(supply, runners, settings.training, goal, features, fit_by_features)
    train, choose = _samples(supply, lap, settings.training)
    width = max(b.width for b in (*train, *choose))
    direction, name = lap.cut.direction, f"counting ({lap.features})" if lap.features == "table" else f"features: {lap.features}"
    event = Event(lap.attack, lap.cut.threshold, direction is Direction.LEFT, width)
    match settings.attack:
        case "sniper":
            event, direction = snipe(train, choose, settings.classifier, settings.size or 0.01, width)
            kind = settings.classifier if isinstance(settings.classifier, str) else type(settings.classifier).__name__
            name = f"DP-Sniper ({kind})"
        case "statdp":
            event, direction = statdp(train, goal, width)
            name = "StatDP"
    few = (Batch(b.values[:_CURVE_ROWS], b.names, b.single) for b in choose)
    left, right = (event.attack.score(b.resized(width)) for b in few)
    stake = lap.cut.stake if settings.attack == "auto" else None
    statement = Statement(direction, settings.alpha, settings.delta, stake)
    return Found(lap.runner.pair, statement, event.simplified(), name, standings, (left, right))


def _samples(supply: Supply, lap: Lap, count: int) -> tuple[list[Batch], list[Batch]]:
    places = lap.runner.places
    return [supply.get(p, Stage.TRAIN, count) for p in places], [supply.get(p, Stage.CHOOSE, count) for p in places]


def _bounded(source: Sampler, found: Found, settings: Settings, seed: int, where: Where) -> AuditResult:
    """The bound on fresh samples."""
    if settings.claim is None:
        tally, interrupted = _count(source, found, settings, settings.samples, 0, seed, where)
        lower = found.statement.lower(tally.counts, anytime=tally.failure is not None)
    else:
        tally, interrupted, lower = _until_refuted(source, found, settings, seed, where)
    return _result(source, found, settings, seed, tally, lower, interrupted)


def _count(
    source: Sampler, found: Found, settings: Settings, count: int, first: int, seed: int, where: Where
) -> tuple[Tally, bool]:
    common = found.statement.stake is not None
    block = block_size(source, settings.samples)
    work = CountChunk(source, found.pair.left, found.pair.right, found.event, block, seed, first, common)
    gathered = count_event(work, count, where)
    return gathered.state, gathered.interrupted


def _until_refuted(source: Sampler, found: Found, settings: Settings, seed: int, where: Where) -> tuple[Tally, bool, float]:
    """Look at growing samples.  Independent ones: half of alpha pays for looking at any time, half for the bound at the end."""
    assert settings.claim is not None
    common, size = found.statement.stake is not None, chunk_size(source)
    statement = found.statement if common else replace(found.statement, alpha=settings.alpha / 2)
    tally, lower, done, interrupted = Tally(Counts()), 0.0, 0, False
    while done < settings.samples and not interrupted and tally.failure is None:
        step = min(settings.samples - done, max(size, math.ceil(done / _LOOKS_PER_DOUBLING / size) * size))
        more, interrupted = _count(source, found, settings, step, done // size, seed, where)
        tally, done = tally + more, done + step
        lower = max(lower, statement.lower(tally.counts, anytime=True))
        if lower > settings.claim:
            return tally, interrupted, lower
    if tally.failure is None:
        lower = max(lower, statement.lower(tally.counts))
    return tally, interrupted, lower


def _result(
    source: Sampler, found: Found, settings: Settings, seed: int, tally: Tally, lower: float, interrupted: bool
) -> AuditResult:
    counts = tally.counts
    if tally.failure is not None and counts.trials_left == 0:
        raise MechanismError(tally.failure)
    direction, stake = found.statement.direction, found.statement.stake
    witness = AuditWitness(
        found.pair, direction, found.event, counts, lower, settings.confidence, settings.delta, seed, stake
    )
    return AuditResult(
        lower=lower,
        epsilon=max(point_estimate(counts, direction, settings.delta), lower),
        confidence=settings.confidence,
        witness=witness,
        attack=found.attack,
        mechanism=source.name,
        samples=counts.trials_left,
        runs=counts.trials_left + counts.trials_right,
        seed=seed,
        claim=settings.claim,
        delta=settings.delta,
        standings=found.standings,
        points=trade_off(*found.scores),
        interrupted=interrupted,
        failure=tally.failure,
    )
