"""The answer of an audit: plain frozen data, with a JSON round trip."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from dpest.errors import InvalidInput, NotCovered
from dpest.inputs.pairs import Pair, is_real
from dpest.numerics.bracket import Bracketed
from dpest.results import DeltaWitness, Direction, Evidence, PairResult, Result
from dpest.results.result import agree
from dpest.sampling.audit_witness import AuditWitness
from dpest.sampling.bounds.statement import delta_lower, epsilon_lower_published
from dpest.sampling.race import Standing
from dpest.sampling.scores.choose import CurvePoint, ScoreLaws
from dpest.sampling.scores.statdp import p_values
from dpest.upward import upward

if TYPE_CHECKING:
    from dpest.curves.curve import Curve


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """The result of an audit: a lower bound on the privacy loss of a black box, and how it was found.

    `epsilon` is the estimate for the event that is bounded, `reason` says what the bound rests on.
    """

    witness: AuditWitness
    confidence: float
    samples: int = field(kw_only=True)  # of each input in the final stage
    attack: str = field(kw_only=True)
    runs: int = field(kw_only=True)  # of the mechanism in all
    claim: float | None = None
    standings: tuple[Standing, ...] = ()
    points: tuple[CurvePoint, ...] = ()  # probabilities of ever larger events of the same score, in both directions
    laws: ScoreLaws | None = None  # both laws along the score of the event
    failure: str | None = None
    adjacency: str = ""
    bits: AuditResult | None = None  # the same question about the floating-point representation of outputs

    @classmethod
    def of(cls, witness: AuditWitness, **fields: Any) -> AuditResult:
        """The result that the counts of a witness give."""
        epsilon, lower = witness.estimate_at(witness.delta), witness.lower
        sides = (epsilon, 0.0) if witness.direction is Direction.LEFT else (0.0, epsilon)
        return cls(
            epsilon=epsilon,
            lower=lower,
            upper=math.inf,
            method="sampling",
            evidence=Evidence.LOWER_BOUND,
            pair=witness.pair,
            witness=witness,
            pairs=(PairResult(witness.pair, epsilon, lower, math.inf, *sides, witness),),
            **fields,
        )

    @property
    def at_delta(self) -> float:
        """The delta at which epsilon is bounded."""
        return self.witness.delta

    @property
    def seed(self) -> int:
        """The seed of all samples."""
        return self.witness.seed

    @property
    def rests(self) -> str:
        """What the bound rests on."""
        return self.reason

    @property
    def violated(self) -> bool | None:
        """Whether the claim is refuted; None without a claim.  False means not refuted, never proved."""
        return None if self.claim is None else self.lower > self.claim

    @property
    def verdict(self) -> str:
        """The same in words."""
        return "no claim" if self.claim is None else "violated" if self.violated else "not refuted"

    def delta(self, epsilon: float) -> Bracketed:
        """delta at this epsilon, from the same event and counts: the estimate with its lower bound."""
        if not is_real(epsilon) or not epsilon >= 0:
            raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
        counts, direction = self.witness.counts, self.witness.direction
        lower = delta_lower(counts, direction, 1 - self.confidence, epsilon, anytime=self._stopped)
        return Bracketed(max(self.delta_witness(epsilon).delta, lower), lower, 1.0)

    def delta_at(self, epsilon: float) -> float:
        """A lower bound on delta at this epsilon, from the same event and counts."""
        return self.delta(epsilon).lower

    def epsilon_at(self, delta: float) -> Bracketed:
        """epsilon at this delta, from the same event and counts: the estimate with its lower bound."""
        if not is_real(delta) or not 0 <= delta <= 1:
            raise InvalidInput(f"delta must lie in [0, 1], got {delta!r}")
        return Bracketed(self.witness.estimate_at(delta), self.witness.lower_at(delta), math.inf)

    def delta_witness(self, epsilon: float) -> DeltaWitness:
        """The event of the audit, and the delta that its frequencies show at this epsilon."""
        w = self.witness
        more, fewer = (w.left, w.right) if w.direction is Direction.LEFT else (w.right, w.left)
        shown = max(more - math.exp(min(epsilon, 700.0)) * fewer, 0.0)
        return DeltaWitness(self.pair, w.direction, w.event, epsilon, w.left, w.right, shown)

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

    def curve(self) -> Curve:
        """Refused: an audit bounds one event, and a curve needs all of them."""
        raise NotCovered(
            "an audit bounds one event from below and knows no whole curve: ask .delta(eps) or .epsilon_at(delta) at single "
            "points; .points holds the probabilities of the events of its score"
        )

    def plot(self) -> Any:
        """The trade-off curve with the event and the bound: a matplotlib figure."""
        return upward("plot_audit")(self)

    def __repr__(self) -> str:
        claim = "" if self.claim is None else f"; claim {self.claim:g} {self.verdict}"
        return f"<AuditResult {self.headline}{claim}>"

    @property
    def headline(self) -> str:
        """Mechanism and bound on one line."""
        at = f" at delta = {self.at_delta:g}" if self.at_delta else ""
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
            **super().to_dict(),
            "kind": "audit",
            "claim": self.claim,
            "verdict": self.verdict,
            "delta": self.at_delta,
            "attack": self.attack,
            "runs": self.runs,
            "seed": self.seed,
            "failure": self.failure,
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

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> AuditResult:
        return read_audit(data)

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """The inverse of `to_json`."""
        return cast(AuditResult, super().from_json(text))


def read_audit(data: Mapping[str, Any]) -> AuditResult:
    """A stored audit; bound and estimate follow from its counts, and data that claim others are refused."""
    witness = AuditWitness.from_dict(data["witness"])
    if not 0 < data["confidence"] <= witness.confidence + 1e-12:
        raise InvalidInput(
            f"the result says confidence {data['confidence']!r}, but its witness is bounded with {witness.confidence:g}"
        )
    names = ("confidence", "reason", "claim", "mechanism", "attack", "samples", "runs", "seconds", "interrupted", "failure")
    found = AuditResult.of(
        witness,
        **{name: data[name] for name in names},
        notes=tuple(data["notes"]),
        adjacency=data["adjacency"],
        standings=tuple(
            Standing(Pair.from_dict(s["pair"]), s["features"], s["promise"], s["samples"]) for s in data["standings"]
        ),
        points=tuple(CurvePoint(Direction(d), p, q) for d, p, q in data["curve"]),
        laws=_laws(data.get("laws")),
        bits=None if data["bits"] is None else read_audit(data["bits"]),
    )
    agree("lower", float(data["lower"]), found.lower, "the counts of its witness")
    agree("epsilon", float(data["epsilon"]), found.epsilon, "the counts of its witness")
    agree("upper", float(data["upper"]), math.inf, "the counts of its witness")
    return found


def _laws(data: Mapping[str, Any] | None) -> ScoreLaws | None:
    if data is None:
        return None
    edges, left, right = (tuple(map(float, data[name])) for name in ("edges", "left", "right"))
    if not len(left) == len(right) == len(edges) + 1:
        raise InvalidInput(f"laws hold one share more than edges, got {len(left)} and {len(right)} for {len(edges)} edges")
    return ScoreLaws(edges, left, right, float(data["cut"]), bool(data["above"]))


def _finite(x: float) -> float:
    return max(min(x, 1e300), -1e300)
