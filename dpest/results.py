"""What was found: plain frozen data, with a JSON round trip."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, cast

from dpest.errors import InvalidInput, NotCovered
from dpest.inputs.pairs import Pair, is_real, reading
from dpest.inputs.shown import brief_event
from dpest.numerics.bracket import Bracketed
from dpest.upward import upward

if TYPE_CHECKING:
    from dpest.curves.curve import Curve

PAIRS = "the pairs looked at"
TIGHT = 1e-6  # relative: what counts as agreement of a proved bound with the loss of a pair


class Evidence(Enum):
    """How strong the statement is."""

    EXACT = "exact"
    CERTIFIED = "certified"
    ESTIMATE = "estimate"
    LOWER_BOUND = "lower bound"


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


class Proof(Protocol):
    """Why a bound holds for every adjacent pair: the certificates of `dpest.exact`."""

    def check(self) -> bool:
        """Whether the proof is right, decided in rational arithmetic."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""


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
        numbers = {name: _encode(getattr(self, name)) for name in ("epsilon", "left", "right", "delta")}
        return {"event": self.event, "direction": self.direction.value, **numbers}


@dataclass(frozen=True)
class Result:
    """The answer to one question: the largest loss over the pairs that were looked at."""

    epsilon: float
    lower: float
    upper: float
    method: str  # "exact" or "sampling"
    evidence: Evidence
    confidence: float | None
    pair: Pair
    witness: Witness | None
    reason: str
    pairs: tuple[PairResult, ...]
    mechanism: str = "mechanism"
    seconds: float = 0.0
    samples: int | None = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    scope: str = PAIRS  # which inputs the bracket speaks about
    proof: Proof | None = field(default=None, compare=False, repr=False)

    @property
    def tight(self) -> bool:
        """Whether both sides of the bracket agree to a millionth."""
        return self.lower == self.upper or self.upper - self.lower <= TIGHT * self.upper < math.inf

    def __float__(self) -> float:
        return self.epsilon

    def __format__(self, spec: str) -> str:
        return format(self.epsilon, spec) if spec else str(self)

    def delta(self, epsilon: float) -> Bracketed:
        """The smallest delta at which the mechanism is (epsilon, delta)-private on these pairs."""
        if not is_real(epsilon) or not epsilon >= 0:
            raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
        if self.scope != PAIRS:
            return self.curve().delta(epsilon)
        found = [self._profile(p).delta(epsilon) for p in self.pairs]
        return Bracketed(max(map(float, found)), max(d.lower for d in found), max(d.upper for d in found))

    def epsilon_at(self, delta: float) -> Bracketed:
        """The smallest epsilon at which the mechanism is (epsilon, delta)-private on these pairs."""
        if not is_real(delta) or not 0 <= delta <= 1:
            raise InvalidInput(f"delta must lie in [0, 1], got {delta!r}")
        if delta == 0:
            return Bracketed(self.epsilon, self.lower, self.upper)
        return self.curve().epsilon_at(delta)

    def curve(self) -> Curve:
        """The privacy losses of all pairs, in both directions, as a value; of a proof, bounds for all adjacent inputs."""
        from dpest.curves.curve import Curve

        listed = self.proof is None and len(self.pairs) > 1  # every adjacent pair of a finite domain
        if self.scope != PAIRS and not listed:
            return self._bounded()
        return Curve(tuple(way for p in self.pairs for way in self._profile(p).curve.ways))

    def _bounded(self) -> Curve:
        from dpest.curves.bounded import over_all_inputs

        mu = getattr(self.proof, "mu", None)
        return over_all_inputs(self.scope, self.upper, mu, self.pair, [p.profile for p in self.pairs])

    def compose(self, k: int = 1, *, tolerance: float | None = None) -> Curve:
        """The curve of k independent runs; `dpest.compose` takes different results together."""
        return self.curve().compose(k, tolerance=tolerance)

    def renyi(self, alpha: float) -> Bracketed:
        """The Renyi divergence of order alpha > 1, the largest over pairs and directions."""
        return self.curve().renyi(alpha)

    def tradeoff(self, alpha: float) -> Bracketed:
        """The smallest type II error of any test between the inputs with type I error alpha."""
        return self.curve().tradeoff(alpha)

    def delta_witness(self, epsilon: float) -> DeltaWitness:
        """The event that shows delta(epsilon), of the worst pair and direction."""
        if not is_real(epsilon) or not epsilon >= 0:
            raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
        worst = max(self.pairs, key=lambda p: float(self._profile(p).delta(epsilon)))
        return self._profile(worst).event(epsilon)

    @staticmethod
    def _profile(pair: PairResult) -> Profile:
        if pair.profile is None:
            raise NotCovered("this result does not hold a privacy profile: run estimate(...) again for delta(eps)")
        return pair.profile

    def __repr__(self) -> str:
        return f"<Result {upward('headline')(self)}; {self.method}, {len(self.pairs)} pair{'s' if len(self.pairs) != 1 else ''}>"

    def __str__(self) -> str:
        return str(upward("result_text")(self))

    def _repr_html_(self) -> str:
        return str(upward("result_html")(self))

    def plot(self) -> Any:
        """The output under both inputs of the worst pair, with the log ratio: a matplotlib figure."""
        return upward("plot_result")(self)

    def plot_profile(self) -> Any:
        """delta(eps) of the worst pair: a matplotlib figure."""
        return upward("plot_profile")(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; infinities are the strings "inf" and "-inf", so that it is valid JSON."""
        return {
            "epsilon": _encode(self.epsilon),
            "lower": _encode(self.lower),
            "upper": _encode(self.upper),
            "method": self.method,
            "evidence": self.evidence.value,
            "confidence": self.confidence,
            "pair": self.pair.to_dict(),
            "witness": None if self.witness is None else _witness_to_dict(self.witness),
            "reason": self.reason,
            "pairs": [_pair_to_dict(p) for p in self.pairs],
            "mechanism": self.mechanism,
            "seconds": self.seconds,
            "samples": self.samples,
            "interrupted": self.interrupted,
            "notes": list(self.notes),
            "scope": self.scope,
            "proof": None if self.proof is None else self.proof.to_dict(),
        }

    def to_json(self, indent: int | None = None) -> str:
        """The result as JSON text; `Result.from_json` reads it back."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """The inverse of `to_dict` (without the privacy profile, which is not stored)."""
        with reading("Result"):
            return cls._from_dict(data)

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Result:
        return cls(
            epsilon=_decode(data["epsilon"]),
            lower=_decode(data["lower"]),
            upper=_decode(data["upper"]),
            method=data["method"],
            evidence=Evidence(data["evidence"]),
            confidence=data["confidence"],
            pair=Pair.from_dict(data["pair"]),
            witness=None if data["witness"] is None else _witness_from_dict(data["witness"]),
            reason=data["reason"],
            pairs=tuple(_pair_from_dict(p) for p in data["pairs"]),
            mechanism=data["mechanism"],
            seconds=data["seconds"],
            samples=data["samples"],
            interrupted=data["interrupted"],
            notes=tuple(data["notes"]),
            scope=data.get("scope", PAIRS),
            proof=_proof(data.get("proof")),
        )

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The inverse of `to_json`."""
        with reading("Result"):
            return cls.from_dict(json.loads(text))


def _proof(data: Mapping[str, Any] | None) -> Proof | None:
    if data is None:
        return None
    return cast(Proof, upward("read_certificate")(data))


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf


def _number(x: float, log_x: float) -> str:
    if math.isnan(log_x):  # a limit whose ratio is known in closed form, while the densities are integrals of integrals
        return "(not worked out)"
    return f"{x:.6g}" if 1e-300 < x < math.inf or log_x == -math.inf else f"exp({log_x:.6g})"


def _encode(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)


def _decode(x: float | str) -> float:
    return float(x)


def _witness_to_dict(w: Witness) -> dict[str, Any]:
    return {
        "pair": w.pair.to_dict(),
        "direction": w.direction.value,
        "event": w.event,
        "measure": w.measure,
        "log_left": _encode(w.log_left),
        "log_right": _encode(w.log_right),
        "limit": w.limit,
        "supremum": None if w.supremum is None else _encode(w.supremum),
    }


def _witness_from_dict(d: Mapping[str, Any]) -> Witness:
    return Witness(
        Pair.from_dict(d["pair"]),
        Direction(d["direction"]),
        d["event"],
        d["measure"],
        _decode(d["log_left"]),
        _decode(d["log_right"]),
        d["limit"],
        None if d["supremum"] is None else _decode(d["supremum"]),
    )


def _pair_to_dict(p: PairResult) -> dict[str, Any]:
    return {
        "pair": p.pair.to_dict(),
        "epsilon": _encode(p.epsilon),
        "lower": _encode(p.lower),
        "upper": _encode(p.upper),
        "forward": _encode(p.forward),
        "backward": _encode(p.backward),
        "witness": None if p.witness is None else _witness_to_dict(p.witness),
    }


def _pair_from_dict(d: Mapping[str, Any]) -> PairResult:
    return PairResult(
        Pair.from_dict(d["pair"]),
        epsilon=_decode(d["epsilon"]),
        lower=_decode(d["lower"]),
        upper=_decode(d["upper"]),
        forward=_decode(d["forward"]),
        backward=_decode(d["backward"]),
        witness=None if d["witness"] is None else _witness_from_dict(d["witness"]),
    )
