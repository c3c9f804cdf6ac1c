"""Privacy claims as assertions: `assert_private` in the tests of any project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from dpest.numerics.setting import Setting

if TYPE_CHECKING:
    from dpest.report.verdict import Verdict
    from dpest.results import Result

_checks: ContextVar[list[Check] | None] = ContextVar("dpest_checks", default=None)


@dataclass(frozen=True)
class Check:
    """One claim that was checked, once or many times alike: what a test run's summary shows."""

    mechanism: str
    claim: str
    outcome: str
    found: str
    method: str
    pairs: int
    value: float = 0.0  # the number that `found` tells: the largest of several
    times: int = 1
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        largest = "largest found" if self.times > 1 else "found"
        checks = f"; {self.times} checks" if self.times > 1 else ""
        where = f" [{', '.join(self.tests[:3])}{', ...' if len(self.tests) > 3 else ''}]" if self.tests else ""
        line = f"{self.mechanism}: {self.claim} {self.outcome}; {largest} {self.found}; {self.method}, {self.pairs} pair(s)"
        return f"{line}{checks}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as it travels from a test worker."""
        return {**asdict(self), "value": repr(self.value), "tests": list(self.tests)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Check:
        """The inverse of `to_dict`."""
        return cls(**{**data, "value": float(data["value"]), "tests": tuple(data["tests"])})


def summed(checks: Iterable[Check]) -> list[Check]:
    """Checks of one claim about one mechanism with one outcome as one, with the largest number that was found."""
    groups: dict[tuple[str, str, str, str], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.mechanism, check.claim, check.outcome, check.method), []).append(check)
    return [_summed(group) for group in groups.values()]


def _summed(group: Sequence[Check]) -> Check:
    largest = max(group, key=lambda c: c.value)
    tests = dict.fromkeys(t for c in group for t in c.tests)
    return replace(largest, times=sum(c.times for c in group), tests=tuple(tests), pairs=max(c.pairs for c in group))


class PrivacyViolation(AssertionError):
    """A claim does not hold: the message is the counterexample."""


def assert_private(
    mechanism: Callable[..., Any],
    epsilon: float,
    pairs: Any = None,
    *,
    delta: float = 0.0,
    n: int | None = None,
    adjacency: str = "linf",
    exact: bool = False,
    all_inputs: bool = False,
    **options: Any,
) -> Result:
    """Fail, with the counterexample, unless the mechanism keeps its claim on these pairs.

    A check that Ctrl-C stopped, or that the mechanism left with `sys.exit`, never passes.

    Args:
        mechanism: a function of its input, as for `dpest.estimate`.
        epsilon: the claim.
        pairs: (D, D'), a list of such pairs, or a dict of named ones.
        delta: the claim's delta.
        n: in place of pairs: the input patterns with n values; with `all_inputs` all inputs of n rows.
        adjacency: "linf" or "l1"; with `all_inputs` any that `dpest.prove` knows.
        exact: True also fails where only sampling could answer.
        all_inputs: True asks `dpest.prove`, and fails unless the claim is proved for every adjacent pair.
        options: other keywords of `dpest.estimate`, or of `dpest.prove`.

    Returns:
        The `Result`, where the claim holds.

    Example:
        >>> import dpest
        >>> from dpest.testing import assert_private
        >>> r = assert_private(lambda x: x + dpest.laplace(2), epsilon=0.5, pairs=(0, 1))
        >>> r.method
        'exact'
    """
    from dpest.doors.estimate import estimate
    from dpest.errors import DpestError
    from dpest.report.verdict import Outcome, judge, verdict_or_error

    __tracebackhide__ = True  # pytest then ends its traceback at the line of the test
    if exact:
        options["method"] = "exact"
    result: Result
    try:
        with verdict_or_error(getattr(mechanism, "__name__", "the mechanism")):
            if all_inputs:
                result = _over_all_inputs(mechanism, pairs, n=n, adjacency=adjacency, **options)
            else:
                result = estimate(mechanism, pairs, n=n, adjacency=adjacency, **options)
        verdict = judge(result, epsilon, delta)
    except DpestError as error:  # its message says it all; what the mechanism itself raised stays as the cause
        raise error.with_traceback(None) from error.__cause__
    if result.interrupted and verdict.outcome is not Outcome.VIOLATED:  # what was counted until then is no verdict
        raise KeyboardInterrupt(f"interrupted before the claim {verdict.claim} of {result.mechanism} was checked")
    _record(result, verdict)
    if verdict.outcome is Outcome.VIOLATED or (all_inputs and verdict.outcome is not Outcome.HOLDS):
        raise PrivacyViolation(_counterexample(result, verdict))
    return result


def _over_all_inputs(mechanism: Callable[..., Any], pairs: Any, **options: Any) -> Result:
    from dpest.doors.prove import prove
    from dpest.errors import InvalidInput

    if pairs is not None:
        raise InvalidInput("all_inputs=True is about every adjacent pair: leave out pairs=...")
    options.pop("method", None)
    result: Result = prove(mechanism, **options)
    return result


def recording() -> AbstractContextManager[list[Check]]:
    """The checks made inside this block, as a list that grows."""
    return Setting(_checks, [])


def _record(result: Result, verdict: Verdict) -> None:
    checks = _checks.get()
    if checks is not None:
        from dpest.report.verdict import found_text

        outcome = verdict.outcome.value
        method = result.method if result.samples is None else f"{result.method} ({result.samples:,} samples)"
        found = found_text(result, verdict)
        checks.append(Check(result.mechanism, verdict.claim, outcome, found, method, len(result.pairs), verdict.found))


def _counterexample(result: Result, verdict: Verdict) -> str:
    from dpest.report.verdict import verdict_text

    return f"{verdict_text(result, verdict)}\n{result}"
