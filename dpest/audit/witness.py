"""What an audit found, as data that others can check: the pair, the event, the counts, and how to count again."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from dpest.audit.blackbox import Sampler, as_traced, sampler
from dpest.audit.bounds import Counts, Statement
from dpest.audit.common import FEWEST_BLOCKS, Blocks, Prospect
from dpest.audit.event import Event
from dpest.audit.supply import CountChunk, Where, block_size, count_event
from dpest.engine.executors import opened
from dpest.engine.streams import resolve_seed
from dpest.errors import InvalidInput, MechanismError
from dpest.inputs import Pair
from dpest.results import Direction


@dataclass(frozen=True)
class Verification:
    """A witness counted again on new samples."""

    lower: float
    counts: Counts
    confidence: float
    seed: int

    def __float__(self) -> float:
        return self.lower


@dataclass(frozen=True)
class AuditWitness:
    """A pair, an event, how often it was hit under both inputs, and the bound that follows."""

    pair: Pair
    direction: Direction
    event: Event
    counts: Counts
    lower: float
    confidence: float
    delta: float
    seed: int
    stake: float | None = None  # with common noise for both inputs: what was staked per hit
    versions: Mapping[str, str] = field(default_factory=lambda: versions())

    @property
    def left(self) -> float:
        """The share of hits under D."""
        return self.counts.left / max(self.counts.trials_left, 1)

    @property
    def right(self) -> float:
        """The share of hits under D'."""
        return self.counts.right / max(self.counts.trials_right, 1)

    @property
    def statement(self) -> Statement:
        """What was fixed before the counts."""
        return Statement(self.direction, 1 - self.confidence, self.delta, self.stake)

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
        # A stream apart from the audit's own: the same seed must not bring the same samples.
        block = block_size(source, samples)
        statement = self._restated(samples, block)
        common = statement.stake is not None
        work = CountChunk(source, self.pair.left, self.pair.right, self.event, block, used, 1 << 40, common)
        with opened(executor) as where:
            tally = count_event(work, samples, Where(where)).state
        if tally.failure is not None:
            raise MechanismError(tally.failure)
        return Verification(statement.lower(tally.counts), tally.counts, self.confidence, used)

    def _restated(self, samples: int, block: int) -> Statement:
        """The same statement, with the stake that these counts recommend for so many samples."""
        statement = self.statement
        if self.stake is None or self.counts.blocks is None or samples < FEWEST_BLOCKS * block:
            return replace(statement, stake=None)
        prospect = Prospect.of(statement.oriented(self.counts), block, samples // block, self.delta)
        return replace(statement, stake=prospect.stake(statement.alpha)[0])

    def __str__(self) -> str:
        c = self.counts
        return (
            f"{self.event}: {c.left:,} of {c.trials_left:,} runs under D, {c.right:,} of {c.trials_right:,} under D' "
            f"({self.direction.value}{'' if self.stake is None else ', on the same noise'}; "
            f"log ratio >= {self.lower:.6g} with confidence {self.confidence:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        c = self.counts
        return {
            "pair": self.pair.to_dict(),
            "direction": self.direction.value,
            "words": str(self.event),
            "event": self.event.to_dict(),
            "counts": [c.left, c.right, c.trials_left, c.trials_right],
            "stake": self.stake,
            "blocks": None if c.blocks is None else {"size": c.blocks.size, "number": c.blocks.number, "sums": c.blocks.sums},
            "lower": self.lower,
            "confidence": self.confidence,
            "delta": self.delta,
            "seed": self.seed,
            "versions": dict(self.versions),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AuditWitness:
        """The inverse of `to_dict`."""
        return cls(
            Pair.from_dict(data["pair"]),
            Direction(data["direction"]),
            Event.from_dict(data["event"]),
            replace(Counts(*data["counts"]), blocks=_blocks(data.get("blocks"))),
            data["lower"],
            data["confidence"],
            data["delta"],
            data["seed"],
            data.get("stake"),
            dict(data["versions"]),
        )

    def to_json(self, indent: int | None = None) -> str:
        """The witness as JSON text; `AuditWitness.from_json` reads it back."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> AuditWitness:
        """The inverse of `to_json`."""
        return cls.from_dict(json.loads(text))


def _blocks(data: Mapping[str, Any] | None) -> Blocks | None:
    return None if data is None else Blocks(data["size"], data["number"], tuple(data["sums"]))


def versions() -> dict[str, str]:
    """What the counts depend on besides the mechanism."""
    from dpest import __version__

    return {"dpest": __version__, "numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version()}
