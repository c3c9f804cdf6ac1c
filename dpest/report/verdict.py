"""A claim beside what was found: does it hold?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dpest.errors import InvalidInput, MechanismRaised
from dpest.inputs.pairs import is_real
from dpest.report.numbers import bracket, loss
from dpest.report.text import NOTHING, evidence_text, returns_nothing
from dpest.results import PAIRS, DeltaWitness, Evidence, Result
from dpest.run.sudden_exit import no_sudden_exit

# Noise scales such as 1 / eps are rounded to floats: a claim is violated only beyond that.
ROUNDING = 1e-12
# A loss that equals its claim cannot be told from it below the numerical error: nine digits are enough to hold.
NINE_DIGITS = 1e-9


class Outcome(Enum):
    """What can be said of a claim."""

    HOLDS = "holds"
    VIOLATED = "violated"
    NOT_REFUTED = "not refuted"


@dataclass(frozen=True)
class Verdict:
    """A claim of (epsilon, delta)-privacy, the number it was compared with, and the outcome."""

    outcome: Outcome
    epsilon: float
    delta: float
    found: float
    lower: float
    upper: float
    event: DeltaWitness | None = None  # what shows a violated (epsilon, delta)

    @property
    def claim(self) -> str:
        """The claim in words."""
        return f"epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data; infinities are strings."""
        numbers = {name: getattr(self, name) for name in ("epsilon", "delta", "found", "lower", "upper")}
        plain = {k: v if math.isfinite(v) else str(v) for k, v in numbers.items()}
        event = {} if self.event is None else {"event": self.event.to_dict()}
        return {"outcome": self.outcome.value, **plain, **event}


@contextmanager
def verdict_or_error(name: str) -> Iterator[None]:
    """Nothing but a verdict, an error or Ctrl-C leads out of this block: `sys.exit(0)` and `os._exit(0)` become errors."""
    try:
        with no_sudden_exit():
            yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as leaving:
        said = f"{type(leaving).__name__}({', '.join(map(repr, leaving.args))})"
        raise MechanismRaised(
            f"{name} left with {said} before there was a verdict: let it return its output instead"
        ) from leaving


def judge(result: Result, epsilon: float, delta: float = 0.0) -> Verdict:
    """Whether the claim holds on the pairs that the result looked at."""
    if not is_real(epsilon) or not epsilon >= 0:
        raise InvalidInput(f"the claimed epsilon must be a number >= 0, got {epsilon!r}")
    if not is_real(delta) or not 0 <= delta <= 1:
        raise InvalidInput(f"the claimed delta must lie in [0, 1], got {delta!r}")
    if delta == 0:
        outcome = _outcome(result.evidence, result.lower, result.upper, epsilon)
        return Verdict(outcome, epsilon, delta, result.epsilon, result.lower, result.upper)
    found = result.delta(epsilon)
    outcome = _outcome(result.evidence, found.lower, found.upper, delta)
    event = result.delta_witness(epsilon) if outcome is Outcome.VIOLATED else None
    return Verdict(outcome, epsilon, delta, float(found), found.lower, found.upper, event)


def _outcome(evidence: Evidence, lower: float, upper: float, claim: float) -> Outcome:
    if lower > claim * (1 + ROUNDING):
        return Outcome.VIOLATED
    match evidence:
        case Evidence.EXACT | Evidence.CERTIFIED:
            return Outcome.HOLDS if upper <= claim * (1 + NINE_DIGITS) else Outcome.NOT_REFUTED
        case Evidence.ESTIMATE | Evidence.LOWER_BOUND:
            return Outcome.NOT_REFUTED


def found_text(result: Result, verdict: Verdict) -> str:
    """The number that the claim was compared with, with its bracket."""
    name = "delta" if verdict.delta else "epsilon"
    inside = ", ".join(part for part in (bracket(verdict.found, verdict.lower, verdict.upper), evidence_text(result)) if part)
    return f"{name} = {loss(verdict.found, verdict.lower, verdict.upper)} ({inside})"


def verdict_text(result: Result, verdict: Verdict) -> str:
    """The verdict in one sentence."""
    pairs = f"{len(result.pairs)} pair{'s' if len(result.pairs) > 1 else ''}"
    found = found_text(result, verdict) + (f"; {NOTHING}" if returns_nothing(result) else "")
    if result.scope != PAIRS:
        said = {Outcome.HOLDS: "holds", Outcome.VIOLATED: "is violated", Outcome.NOT_REFUTED: "is not proved"}[verdict.outcome]
        return f"{result.mechanism}: the claim {verdict.claim} {said} over {result.scope}: {found}"
    match verdict.outcome:
        case Outcome.HOLDS:
            return f"{result.mechanism}: the claim {verdict.claim} holds on the {pairs} checked: {found}"
        case Outcome.VIOLATED:
            shown = "" if verdict.event is None else f"\n  {verdict.event}"
            return f"{result.mechanism}: the claim {verdict.claim} is violated: {found}{shown}"
        case Outcome.NOT_REFUTED:
            return f"{result.mechanism}: the claim {verdict.claim} is not refuted on the {pairs} checked: {found}"
