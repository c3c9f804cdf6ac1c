"""What is known of one pair: the loss with its bracket, and the events that show it; as data and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from dpest.inputs.pairs import Pair
from dpest.inputs.shown import brief_event
from dpest.numerics import binomial
from dpest.numerics.bracket import Bracketed

if TYPE_CHECKING:
    from dpest.curves.curve import Curve


class Direction(Enum):
    """Which input makes the event likelier."""

    LEFT = "D over D'"
    RIGHT = "D' over D"


@dataclass(frozen=True)
class Witness:
    """An event, and how likely it is under both inputs: what one checks by hand."""

    pair: Pair
    direction: Direction
    event: str
    measure: str  # "probability" or "density"
    log_left: float
    log_right: float
    limit: bool = False  # the supremum is approached along the event, not attained
    supremum: float | None = None  # what the log ratio tends to, where it is a limit

    @property
    def left(self) -> float:
        """The event's probability (or density) under the first input."""
        return _exp(self.log_left)

    @property
    def right(self) -> float:
        """The event's probability (or density) under the second input."""
        return _exp(self.log_right)

    @property
    def loss(self) -> float:
        """The log ratio in the witness's direction; for a limit, what it tends to."""
        if self.limit and self.supremum is not None:
            return self.supremum
        if self.log_left == self.log_right:
            return 0.0
        gap = self.log_left - self.log_right
        return gap if self.direction is Direction.LEFT else -gap

    def __str__(self) -> str:
        verb = "tends to" if self.limit else "is"
        return (
            f"{brief_event(self.event)}: {self.measure} {_number(self.left, self.log_left)} under D, "
            f"{_number(self.right, self.log_right)} under D' (log ratio {verb} {self.loss:.12g}, {self.direction.value})"
        )


@dataclass(frozen=True)
class Hits:
    """An event's count under the input that makes it likelier, and under the other."""

    more: int
    of_more: int
    fewer: int
    of_fewer: int

    @property
    def log_ratio(self) -> float:
        """The log of the ratio of frequencies."""
        return _log_share(self.more, self.of_more) - _log_share(self.fewer, self.of_fewer) if self.more else -math.inf

    @property
    def error(self) -> float:
        """The standard error of the log ratio."""
        if not self.more or not self.fewer:
            return math.inf
        return math.sqrt(1 / self.more - 1 / self.of_more + 1 / self.fewer - 1 / self.of_fewer)

    def bound(self, alpha: float, *, given_total: bool) -> CountedBound:
        """The same counts with the bound that follows from them, at level alpha."""
        return CountedBound(self.more, self.of_more, self.fewer, self.of_fewer, alpha, given_total)

    def times(self, factor: int) -> Hits:
        """The same frequencies in a larger sample."""
        return Hits(self.more * factor, self.of_more * factor, self.fewer * factor, self.of_fewer * factor)


def _log_share(k: int, n: int) -> float:
    return math.log(k) - math.log(n) if k else -math.inf


@dataclass(frozen=True)
class CountedBound(Hits):
    """The counts of an event that was fixed beforehand, and the lower bound on the loss that follows from them."""

    alpha: float  # the chance that the bound may fail with; 0 where none is claimed
    given_total: bool  # which of two bounds on independent counts is used

    @property
    def lower(self) -> float:
        """The lower bound on the loss that follows from the counts."""
        if not self.alpha or not self.of_more or not self.of_fewer:
            return 0.0
        bound = binomial.ratio_lower if self.given_total else binomial.ratio_lower_clopper_pearson
        return float(bound(self.more, self.of_more, self.fewer, self.of_fewer, self.alpha))


@dataclass(frozen=True)
class PairResult:
    """The loss of one pair of inputs, in both directions."""

    pair: Pair
    epsilon: float
    lower: float
    upper: float
    forward: float  # sup of ln P(S) - ln P'(S)
    backward: float
    witness: Witness | None
    profile: Profile | None = field(default=None, compare=False, repr=False)
    counted: tuple[CountedBound, ...] = ()  # where the bound is from samples: the counts that it follows from


class Profile(Protocol):
    """delta(eps) of one pair, both directions; the engine's implementations live in `dpest.privacy`."""

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta for which the pair is (epsilon, delta)-close, with its bracket."""

    @property
    def curve(self) -> Curve:
        """The pair's privacy losses."""

    def event(self, epsilon: float) -> DeltaWitness:
        """The event that shows delta(epsilon)."""


@dataclass(frozen=True)
class DeltaWitness:
    """The event S whose probabilities show delta(epsilon): P(S) - e^epsilon P'(S), in the worse direction."""

    pair: Pair | None
    direction: Direction
    event: str
    epsilon: float
    left: float  # its probability under the first input; NaN where only the difference is known
    right: float
    delta: float

    def __str__(self) -> str:
        likely, other = ("D", "D'") if self.direction is Direction.LEFT else ("D'", "D")
        p, q = (self.left, self.right) if self.direction is Direction.LEFT else (self.right, self.left)
        event = brief_event(self.event)
        if math.isnan(p):
            return f"S: {event}; P(S) under {likely} exceeds e^{self.epsilon:g} P(S) under {other} by {self.delta:.6g}"
        return (
            f"S: {event}; P(S) = {p:.6g} under {likely}, e^{self.epsilon:g} P(S) = {_exp(self.epsilon) * q:.6g} under "
            f"{other}, difference {self.delta:.6g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        numbers = {name: encode(getattr(self, name)) for name in ("epsilon", "left", "right", "delta")}
        return {"event": self.event, "direction": self.direction.value, **numbers}


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf


def _number(x: float, log_x: float) -> str:
    if math.isnan(log_x):  # a limit whose ratio is known in closed form, while the densities are integrals of integrals
        return "(not worked out)"
    return f"{x:.6g}" if 1e-300 < x < math.inf or log_x == -math.inf else f"exp({log_x:.6g})"


def encode(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)


def decode(x: float | str) -> float:
    return float(x)


def witness_to_dict(w: Witness) -> dict[str, Any]:
    return {
        "pair": w.pair.to_dict(),
        "direction": w.direction.value,
        "event": w.event,
        "measure": w.measure,
        "log_left": encode(w.log_left),
        "log_right": encode(w.log_right),
        "limit": w.limit,
        "supremum": None if w.supremum is None else encode(w.supremum),
    }


def witness_from_dict(d: Mapping[str, Any]) -> Witness:
    return Witness(
        Pair.from_dict(d["pair"]),
        Direction(d["direction"]),
        d["event"],
        d["measure"],
        decode(d["log_left"]),
        decode(d["log_right"]),
        d["limit"],
        None if d["supremum"] is None else decode(d["supremum"]),
    )


def pair_to_dict(p: PairResult) -> dict[str, Any]:
    return {
        "pair": p.pair.to_dict(),
        "epsilon": encode(p.epsilon),
        "lower": encode(p.lower),
        "upper": encode(p.upper),
        "forward": encode(p.forward),
        "backward": encode(p.backward),
        "witness": None if p.witness is None else witness_to_dict(p.witness),
        "counted": [list(astuple(c)) for c in p.counted],
    }


def pair_from_dict(d: Mapping[str, Any]) -> PairResult:
    return PairResult(
        Pair.from_dict(d["pair"]),
        epsilon=decode(d["epsilon"]),
        lower=decode(d["lower"]),
        upper=decode(d["upper"]),
        forward=decode(d["forward"]),
        backward=decode(d["backward"]),
        witness=None if d["witness"] is None else witness_from_dict(d["witness"]),
        counted=tuple(CountedBound(*c) for c in d["counted"]),
    )
