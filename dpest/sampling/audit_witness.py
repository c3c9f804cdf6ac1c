"""What an audit found, as data that others can check: the pair, the event, the counts, and how to count again."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from dpest.errors import InvalidInput, MechanismError
from dpest.inputs.pairs import Pair
from dpest.inputs.shown import brief_event
from dpest.results import Direction, Witness
from dpest.results.pair import witness_to_dict
from dpest.results.result import agree
from dpest.run.executors import opened
from dpest.run.streams import resolve_seed
from dpest.sampling.bounds.common_noise import FEWEST_BLOCKS, Blocks, Prospect
from dpest.sampling.bounds.dependence import Unit
from dpest.sampling.bounds.statement import Counts, Statement, point_estimate
from dpest.sampling.final import EventQuestion, bounded, first_look, keeps_state, plan
from dpest.sampling.runs.blackbox import Sampler, as_traced, sampler
from dpest.sampling.scores.event import Event
from dpest.sampling.supply import ChunkSetup, block_size


@dataclass(frozen=True)
class Verification:
    """A witness counted again on new samples."""

    lower: float
    counts: Counts
    confidence: float
    seed: int
    rests: str = ""

    def __float__(self) -> float:
        return self.lower


@dataclass(frozen=True)
class AuditWitness(Witness):
    """A witness from counts: the event as data, what was fixed before counting, and the hits under both inputs.

    The bound is no part of it: it follows from the counts, wherever they come from.
    """

    region: Event = field(kw_only=True)  # what `event` says in words
    counts: Counts = field(kw_only=True)
    statement: Statement = field(kw_only=True)
    ended: bool = field(kw_only=True)  # the number of samples was fixed beforehand and reached
    seed: int = field(kw_only=True)
    versions: Mapping[str, str] = field(kw_only=True)

    @classmethod
    def of(
        cls,
        pair: Pair,
        region: Event,
        counts: Counts,
        statement: Statement,
        ended: bool,
        seed: int,
        versions: Mapping[str, str] | None = None,
    ) -> AuditWitness:
        """The witness of these counts."""
        shares = ((counts.left, counts.trials_left), (counts.right, counts.trials_right))
        log_left, log_right = (math.log(k / n) if k else -math.inf for k, n in shares)
        return cls(
            pair,
            statement.direction,
            str(region),
            "probability",
            log_left,
            log_right,
            region=region,
            counts=counts,
            statement=statement,
            ended=ended,
            seed=seed,
            versions=current_versions() if versions is None else versions,
        )

    @cached_property
    def lower(self) -> float:
        """The bound that follows from the counts."""
        return self.statement.lower(self.counts, ended=self.ended)

    def lower_at(self, delta: float) -> float:
        """The bound on epsilon at another delta, from the same counts."""
        return replace(self.statement, delta=delta).lower(self.counts, ended=self.ended)

    def estimate_at(self, delta: float) -> float:
        """The loss that the counts show at this delta, and at least the bound."""
        return max(point_estimate(self.counts, self.direction, delta), self.lower_at(delta))

    @property
    def confidence(self) -> float:
        """How sure the bound is."""
        return 1 - self.statement.alpha

    @property
    def delta(self) -> float:
        """The delta at which epsilon is bounded."""
        return self.statement.delta

    @property
    def stake(self) -> float | None:
        """What was staked per hit where blocks of runs are bounded; None for independent samples."""
        return self.statement.stake

    def verify(
        self,
        mechanism: Callable[..., Any] | Sampler,
        samples: int = 1_000_000,
        seed: int | None = None,
        executor: int | Executor | None = None,
    ) -> Verification:
        """Bound the same event again on new samples of a mechanism; the event is fixed, so all of alpha goes to it."""
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
            raise InvalidInput(f"samples must be a whole number >= 1, got {samples!r}")
        used = resolve_seed(seed)
        source = as_traced(sampler(mechanism), self.pair.left)
        columns = self.region.columns
        if columns is not None:
            source = replace(source, columns=np.array(columns), width=max(columns) + 1)
        block = block_size(source, samples)
        statement = self._restated(samples, block)
        # A stream apart from the audit's own: the same seed must not bring the same samples.
        question = EventQuestion(source, self.pair, self.region, statement, samples, used, None, 1 << 40)
        with opened(executor) as pool:
            where = ChunkSetup(pool)
            before = first_look(question, block)
            if keeps_state(question, before):
                question = replace(question, source=replace(source, fresh=True))
                before = first_look(question, block)
            bound = bounded(question, plan(question, before), where)
        if bound.tally.failure is not None:
            raise MechanismError(bound.tally.failure)
        return Verification(bound.lower, bound.tally.counts, self.confidence, used, bound.rests)

    def _restated(self, samples: int, block: int) -> Statement:
        """The same statement, with the stake that these counts recommend for so many samples."""
        statement = replace(self.statement, looks=False)
        if self.stake is None or self.counts.blocks is None or samples < FEWEST_BLOCKS * block:
            return replace(statement, stake=None, unit=Unit.RUNS)
        prospect = Prospect.of(statement.oriented(self.counts), block, samples // block, self.delta, statement.unit)
        return replace(statement, stake=prospect.stake(statement.alpha)[0])

    def __str__(self) -> str:
        c = self.counts
        event = brief_event(str(self.event))
        return (
            f"{event}: {c.left:,} of {c.trials_left:,} runs under D, {c.right:,} of {c.trials_right:,} under D' "
            f"({self.direction.value}{'' if self.stake is None else ', on the same noise'}; "
            f"log ratio >= {self.lower:.6g} with confidence {self.confidence:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        c, s = self.counts, self.statement
        return {
            **witness_to_dict(self),
            "region": self.region.to_dict(),
            "counts": [c.left, c.right, c.trials_left, c.trials_right],
            "blocks": None if c.blocks is None else {"size": c.blocks.size, "number": c.blocks.number, "sums": c.blocks.sums},
            "stake": s.stake,
            "unit": s.unit.value,
            "looks": s.looks,
            "given_total": s.given_total,
            "ended": self.ended,
            "alpha": s.alpha,
            "delta": s.delta,
            "lower": self.lower,
            "confidence": self.confidence,
            "seed": self.seed,
            "versions": dict(self.versions),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AuditWitness:
        """The inverse of `to_dict`; the bound is computed from the counts, and data that claim another one are refused."""
        try:
            counts = replace(Counts(*data["counts"]), blocks=_blocks(data.get("blocks")))
            statement = Statement(
                Direction(data["direction"]),
                float(data["alpha"]),
                float(data["delta"]),
                None if data["stake"] is None else float(data["stake"]),
                Unit(data["unit"]),
                bool(data["looks"]),
                bool(data.get("given_total", True)),
            )
            pair, region = Pair.from_dict(data["pair"]), Event.from_dict(data["region"])
            ended, seed, known = bool(data["ended"]), int(data["seed"]), dict(data["versions"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is not the JSON of a witness of this dpest: {type(error).__name__}: {error}") from error
        _check(counts, statement)
        found = cls.of(pair, region, counts, statement, ended, seed, known)
        agree("lower", float(data["lower"]), found.lower, "the counts beside it")
        return found

    def to_json(self, indent: int | None = None) -> str:
        """The witness as JSON text; `AuditWitness.from_json` reads it back."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> AuditWitness:
        """The inverse of `to_json`."""
        return cls.from_dict(json.loads(text))


def _blocks(data: Mapping[str, Any] | None) -> Blocks | None:
    return None if data is None else Blocks(data["size"], data["number"], tuple(data["sums"]))


def _check(counts: Counts, statement: Statement) -> None:
    """Refuse counts that no run can have."""
    given = (counts.left, counts.right, counts.trials_left, counts.trials_right)
    whole = all(isinstance(k, int) and not isinstance(k, bool) and k >= 0 for k in given)
    if not whole or counts.left > counts.trials_left or counts.right > counts.trials_right:
        raise InvalidInput(f"the counts of a witness are hits and runs under D and D', got {list(given)}")
    if not 0 < statement.alpha < 1 or not 0 <= statement.delta < 1:
        raise InvalidInput(f"alpha and delta are probabilities, got {statement.alpha!r} and {statement.delta!r}")
    blocks = counts.blocks
    if statement.stake is not None and (blocks is None or not blocks.possible or blocks.hits != (counts.left, counts.right)):
        raise InvalidInput("the sums over blocks do not belong to the counts of this witness")


def current_versions() -> dict[str, str]:
    """What the counts depend on besides the mechanism."""
    from dpest import __version__

    return {"dpest": __version__, "numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version()}
