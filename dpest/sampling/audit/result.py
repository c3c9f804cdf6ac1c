"""The answer of an audit: plain frozen data, with a JSON round trip."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpest.errors import InvalidInput
from dpest.inputs.pairs import Pair, is_real, reading
from dpest.results import Direction
from dpest.sampling.audit.bounds import delta_lower, epsilon_lower_published, point_estimate
from dpest.sampling.audit.choose import CurvePoint, ScoreLaws
from dpest.sampling.audit.race import Standing
from dpest.sampling.audit.statdp import p_values
from dpest.sampling.audit.witness import AuditWitness
from dpest.upward import upward


@dataclass(frozen=True)
class AuditResult:
    """A lower bound on the privacy loss of a black box, and how it was found."""

    lower: float
    epsilon: float  # the point estimate for the same event
    confidence: float
    witness: AuditWitness
    attack: str
    mechanism: str
    samples: int  # of each input in the final stage
    runs: int  # of the mechanism in all
    seed: int
    claim: float | None = None
    delta: float = 0.0
    standings: tuple[Standing, ...] = ()
    points: tuple[CurvePoint, ...] = ()
    laws: ScoreLaws | None = None  # both laws along the score of the event
    seconds: float = 0.0
    interrupted: bool = False
    failure: str | None = None
    notes: tuple[str, ...] = ()
    rests: str = ""  # what the bound rests on
    adjacency: str = ""
    bits: AuditResult | None = None  # the same question about the floating-point representation of outputs

    @property
    def pair(self) -> Pair:
        """The pair of inputs that the bound is for."""
        return self.witness.pair

    @property
    def violated(self) -> bool | None:
        """Whether the claim is refuted; None without a claim.  False means not refuted, never proved."""
        return None if self.claim is None else self.lower > self.claim

    @property
    def verdict(self) -> str:
        """The same in words."""
        return "no claim" if self.claim is None else "violated" if self.violated else "not refuted"

    def delta_at(self, epsilon: float) -> float:
        """A lower bound on delta at this epsilon, from the same event and counts."""
        if not is_real(epsilon) or not epsilon >= 0:
            raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
        return delta_lower(self.witness.counts, self.witness.direction, 1 - self.confidence, epsilon, anytime=self._stopped)

    def lower_published(self, floor: float = 0.0) -> float:
        """The bound as DP-Sniper computes it from the same counts: two Clopper-Pearson bounds, with the floor c."""
        counts, direction = self.witness.counts, self.witness.direction
        return epsilon_lower_published(counts, direction, 1 - self.confidence, floor, anytime=self._stopped)

    @property
    def _stopped(self) -> bool:
        """Whether the counts themselves may have decided when to stop."""
        return self.claim is not None or self.failure is not None

    def p_values(self, claims: Sequence[float]) -> list[float]:
        """p-values of each claim for the same event and counts: StatDP's, or those of the evidence from common noise."""
        witness = self.witness
        if witness.stake is not None:
            return [witness.statement.p_value(witness.counts, claim) for claim in claims]
        return p_values(witness.counts, witness.direction, claims, self.seed)

    def curve(self) -> tuple[CurvePoint, ...]:
        """The probabilities of ever larger events of the same score under both inputs, in both directions."""
        return self.points

    def plot(self) -> Any:
        """The trade-off curve with the event and the bound: a matplotlib figure."""
        return upward("plot_audit")(self)

    def __float__(self) -> float:
        return self.lower

    def __format__(self, spec: str) -> str:
        return format(self.lower, spec) if spec else str(self)

    def __repr__(self) -> str:
        claim = "" if self.claim is None else f"; claim {self.claim:g} {self.verdict}"
        return f"<AuditResult {self.headline}{claim}>"

    @property
    def headline(self) -> str:
        """Mechanism and bound on one line."""
        at = f" at delta = {self.delta:g}" if self.delta else ""
        return f"{self.mechanism}: eps >= {self.lower:.6g}{at} with confidence {self.confidence:g} (estimate {self.epsilon:.6g})"

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {label:<10} {text}" for label, text in self.rows())])

    def rows(self) -> Iterator[tuple[str, str]]:
        """What a person reads beside the bound: label and text."""
        if self.claim is not None:
            under = f" under {self.adjacency}" if self.adjacency else ""
            yield "claim", f"eps = {self.claim:g}{under}: {self.verdict}"
        elif self.adjacency:
            yield "adjacency", self.adjacency
        yield "pair", str(self.pair)
        yield "witness", str(self.witness)
        yield "rests on", self.rests
        yield "attack", f"{self.attack}; {self.samples:,} final samples of each input, {self.runs:,} runs, seed {self.seed}"
        if self.bits is not None:
            said = "" if self.claim is None else f"; the claim is {self.bits.verdict} by them"
            yield "bits", f"eps >= {self.bits.lower:.6g} by the bits of the outputs: {self.bits.witness.event}{said}"
        if self.interrupted:
            yield "interrupted", "the bound is from what was counted until then"
        if self.failure is not None:
            yield "stopped", self.failure
        for note in self.notes:
            yield "note", note

    def _repr_html_(self) -> str:
        return str(upward("audit_html")(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "lower": self.lower,
            "epsilon": self.epsilon,
            "confidence": self.confidence,
            "claim": self.claim,
            "verdict": self.verdict,
            "delta": self.delta,
            "mechanism": self.mechanism,
            "attack": self.attack,
            "samples": self.samples,
            "runs": self.runs,
            "seed": self.seed,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "failure": self.failure,
            "notes": list(self.notes),
            "rests": self.rests,
            "adjacency": self.adjacency,
            "bits": None if self.bits is None else self.bits.to_dict(),
            "standings": [
                {"pair": s.pair.to_dict(), "features": s.features, "promise": _finite(s.promise), "samples": s.samples}
                for s in self.standings
            ],
            "curve": [[p.direction.value, p.left, p.right] for p in self.points],
            "laws": None if self.laws is None else asdict(self.laws),
            "witness": self.witness.to_dict(),
        }

    def to_json(self, indent: int | None = None) -> str:
        """The result as JSON text; `AuditResult.from_json` reads it back."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AuditResult:
        """The inverse of `to_dict`; bound and estimate are computed from the counts, whatever the data say they are."""
        with reading("AuditResult"):
            return cls._from_dict(data)

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> AuditResult:
        witness = AuditWitness.from_dict(data["witness"])
        if not 0 < data["confidence"] <= witness.confidence + 1e-12:
            raise InvalidInput(
                f"the result says confidence {data['confidence']!r}, but its witness is bounded with {witness.confidence:g}"
            )
        names = ("confidence", "claim", "mechanism", "attack", "samples", "runs", "seed", "seconds", "interrupted", "failure")
        return cls(
            **{name: data[name] for name in names},
            lower=witness.lower,
            epsilon=max(point_estimate(witness.counts, witness.direction, witness.delta), witness.lower),
            delta=witness.delta,
            notes=tuple(data["notes"]),
            rests=data["rests"],
            adjacency=data["adjacency"],
            standings=tuple(
                Standing(Pair.from_dict(s["pair"]), s["features"], s["promise"], s["samples"]) for s in data["standings"]
            ),
            points=tuple(CurvePoint(Direction(d), p, q) for d, p, q in data["curve"]),
            laws=_laws(data.get("laws")),
            witness=witness,
            bits=None if data["bits"] is None else cls.from_dict(data["bits"]),
        )

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """The inverse of `to_json`."""
        with reading("AuditResult"):
            return cls.from_dict(json.loads(text))


def _laws(data: Mapping[str, Any] | None) -> ScoreLaws | None:
    if data is None:
        return None
    edges, left, right = (tuple(map(float, data[name])) for name in ("edges", "left", "right"))
    if not len(left) == len(right) == len(edges) + 1:
        raise InvalidInput(f"laws hold one share more than edges, got {len(left)} and {len(right)} for {len(edges)} edges")
    return ScoreLaws(edges, left, right, float(data["cut"]), bool(data["above"]))


def _finite(x: float) -> float:
    return max(min(x, 1e300), -1e300)
