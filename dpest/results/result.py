"""The answer of every door: plain frozen data, with a JSON round trip that checks what it reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, cast

from dpest.errors import InvalidInput, NotCovered
from dpest.inputs.pairs import Pair, is_real, reading
from dpest.numerics.bracket import Bracketed
from dpest.results.pair import (
    DeltaWitness,
    PairResult,
    Profile,
    Witness,
    decode,
    encode,
    pair_from_dict,
    pair_to_dict,
    witness_from_dict,
    witness_to_dict,
)
from dpest.upward import upward

if TYPE_CHECKING:
    from dpest.curves.curve import Curve

PAIRS = "the pairs looked at"
TIGHT = 1e-6  # relative: what counts as agreement of a proved bound with the loss of a pair
ROUNDING = 1e-9  # relative: other versions of SciPy round the quantiles behind a stored bound differently, in the last digits


class Evidence(Enum):
    """How strong the statement is."""

    EXACT = "exact"
    CERTIFIED = "certified"
    ESTIMATE = "estimate"
    LOWER_BOUND = "lower bound"


class Proof(Protocol):
    """Why a bound holds for every adjacent pair: the certificates of `dpest.exact`."""

    def check(self) -> bool:
        """Whether the proof is right, decided in rational arithmetic."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""


@dataclass(frozen=True)
class Result:
    """The answer to one question, at every door: the largest loss over the pairs that were looked at, or over all of them."""

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
        """The number that the result states: epsilon, or the lower end where nothing is said from above."""
        return self.lower if self.evidence is Evidence.LOWER_BOUND else self.epsilon

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

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
            "epsilon": encode(self.epsilon),
            "lower": encode(self.lower),
            "upper": encode(self.upper),
            "method": self.method,
            "evidence": self.evidence.value,
            "confidence": self.confidence,
            "pair": self.pair.to_dict(),
            "witness": None if self.witness is None else witness_to_dict(self.witness),
            "reason": self.reason,
            "pairs": [pair_to_dict(p) for p in self.pairs],
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
        """The inverse of `to_dict`, for estimates, proofs and audits (without the privacy profile, which is not stored)."""
        with reading(cls.__name__):
            if data.get("kind") == "audit":
                return cast(Result, upward("read_audit")(data))
            return _checked(cls._from_dict(data))

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Result:
        return cls(
            epsilon=decode(data["epsilon"]),
            lower=decode(data["lower"]),
            upper=decode(data["upper"]),
            method=data["method"],
            evidence=Evidence(data["evidence"]),
            confidence=data["confidence"],
            pair=Pair.from_dict(data["pair"]),
            witness=None if data["witness"] is None else witness_from_dict(data["witness"]),
            reason=data["reason"],
            pairs=tuple(pair_from_dict(p) for p in data["pairs"]),
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
        with reading(cls.__name__):
            return cls.from_dict(json.loads(text))


def _checked(result: Result) -> Result:
    """The result, if its numbers can belong together; a stored one that claims more than its own parts show is refused."""
    parts: tuple[Result | PairResult, ...] = (result, *result.pairs)
    for part in parts:
        if not 0 <= part.lower <= part.epsilon <= part.upper:
            raise InvalidInput(
                f"a bracket is 0 <= lower <= epsilon <= upper, got lower {part.lower!r}, epsilon {part.epsilon!r} and upper "
                f"{part.upper!r}"
            )
    for p in result.pairs:
        if result.method == "sampling":
            _at_most("lower", p.lower, max((c.lower for c in p.counted), default=0.0), "the counts beside it")
    if result.pairs and result.scope == PAIRS:
        _at_most("lower", result.lower, max(p.lower for p in result.pairs), "its pairs")
        _at_most("upper", max(p.upper for p in result.pairs), result.upper, "its pairs")
    elif result.pairs and not _overlap(result, max(p.lower for p in result.pairs), max(p.upper for p in result.pairs)):
        raise InvalidInput(f"the stored bracket [{result.lower!r}, {result.upper!r}] leaves out the loss of its own pairs")
    bound = getattr(result.proof, "bound", None)
    if bound is not None:
        _at_most("upper", float(bound), result.upper, "its proof")
    return result


def _at_most(name: str, smaller: float, larger: float, source: str) -> None:
    if smaller > larger * (1 + ROUNDING) + ROUNDING:
        said, found = (smaller, larger) if name == "lower" else (larger, smaller)
        raise InvalidInput(f"the stored {name} is {said!r}, but {found!r} follows from {source}")


def _overlap(result: Result, lower: float, upper: float) -> bool:
    """Whether the bracket of a statement about all inputs can hold this one of a pair."""
    return result.lower <= upper * (1 + ROUNDING) and result.upper >= lower * (1 - ROUNDING)


def agree(name: str, said: float, found: float, source: str) -> None:
    """Refuse a stored number that is not the one that the data beside it give."""
    if not math.isclose(said, found, rel_tol=ROUNDING, abs_tol=ROUNDING):
        raise InvalidInput(f"the stored {name} is {said!r}, but {found!r} follows from {source}")


def _proof(data: Mapping[str, Any] | None) -> Proof | None:
    if data is None:
        return None
    return cast(Proof, upward("read_certificate")(data))
