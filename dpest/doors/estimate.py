"""`estimate`, the front door: what privacy loss does this mechanism really have?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpest.errors import DpestError, ExactRefused, MechanismRaised, NotReplayable, RandomTruth, UnsupportedOperation
from dpest.inputs.pairs import Pair, as_parameters
from dpest.inputs.question import AUDIT, check_call, check_executor, check_pairs, check_progress, check_statistics, one_of
from dpest.lang.generators.open_arrays import open_arrays
from dpest.lang.generators.swap import missing
from dpest.numerics.effort import counted_effort
from dpest.results import Evidence, Result

_OF_ARRAYS = TypeError | IndexError | ValueError | SystemError  # what NumPy raises where noise meets an array of numbers
_LONG_WORK = 500_000  # steps of an exact answer, some 5 s, after which no second trace is made to bring a known upper end down
# Relative: such a bound is coarse and takes as long as the answer. At 1e-4 two sparse vectors side by side, whose bracket is 2e-4
# wide, took half as long again without gain.
_WIDE = 1e-2
_HARDLY_KNOWN = 0.25  # the same from which on no work is too long: such a bracket is next to no answer
METHODS = ("auto", "exact", "sampling", "both")


def estimate(
    mechanism: Callable[..., Any],
    pairs: Any = None,
    *,
    n: int | None = None,
    adjacency: str = "linf",
    method: str = "auto",
    samples: int | None = None,
    seed: int | None = None,
    confidence: float = 0.95,
    executor: int | Executor | None = None,
    checkpoint: str | Path | None = None,
    progress: Any = None,
    params: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Result:
    """The privacy loss of `mechanism(data, **parameters)` over pairs of inputs: the largest, with bracket and witness.

    Args:
        mechanism: a function of its input, written with dpest draws, numpy.random or random.
        pairs: (D, D'), a list of such pairs, or a dict of named ones.
        n: in place of pairs: the input patterns of the literature with n values.
        adjacency: with n: "linf" for all seven patterns, "l1" for the two that change one value.
        method: "auto" (exact, and sampling where the structure defeats it), "exact", "sampling" or "both".
        samples: of each input, where sampling happens.
        seed: of the random streams; the same seed gives the same answer.
        confidence: of the statistical bounds.
        executor: a number of processes, or a `concurrent.futures.Executor`; for sampling.
        checkpoint: a file that keeps what was counted; the same question goes on from it.
        progress: None (a bar on a terminal), False, True, or a function of (done, total, message).
        params: parameters of the mechanism as a dict; for those whose names collide with these.
        keywords: parameters of the mechanism.

    Returns:
        A `Result` with epsilon with lower and upper, evidence, the worst pair, the witness, a row for each pair.

    Example:
        >>> import dpest
        >>> print(f"{dpest.estimate(lambda x, b: x + dpest.laplace(b), (0, 1), b=10):.3f}")
        0.100
    """
    one_of("method", method, METHODS)
    samples, seed, confidence = check_statistics(samples, seed, confidence)
    check_progress(progress)
    check_executor(executor)
    chosen = check_pairs(pairs, n, adjacency, "estimate")
    parameters = as_parameters(params, keywords)
    check_call(mechanism, chosen[0].left, parameters, missing(mechanism, parameters), estimate)

    def exact() -> Result:
        return _exactly(mechanism, chosen, parameters, adjacency if pairs is None else None, patient=method != "auto")

    def sampled(reason: str) -> Result:
        from dpest.sampling.answer import DEFAULT_SAMPLES, estimate_by_sampling

        return estimate_by_sampling(
            mechanism,
            chosen,
            params=parameters,
            samples=DEFAULT_SAMPLES if samples is None else samples,
            seed=seed,
            confidence=confidence,
            executor=executor,
            checkpoint=checkpoint,
            progress=progress,
            reason=reason,
        )

    def answered() -> Result:
        return _by_method(method, exact, sampled, lambda found: _bounded(found, mechanism, chosen, parameters))

    asked = {"samples": samples, "seed": seed, "confidence": confidence, "progress": progress}
    with _naming_the_audit():
        return _or_else(answered, partial(_as_a_black_box, mechanism, chosen, parameters, asked), method)


def _or_else(answered: Callable[[], Result], black_box: Callable[[DpestError], Result | None], method: str) -> Result:
    """The answer; where the mechanism does not run on random values, what is known of it as a black box."""
    try:
        return _with_open_arrays(answered)
    except (MechanismRaised, UnsupportedOperation, RandomTruth) as error:
        found = black_box(error) if method == "auto" else None
        if found is None:
            raise
        return found


_BLACK_BOX_SAMPLES = 20_000  # of each input, one call each: a second or two for what takes 50 microseconds


def _as_a_black_box(
    mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], asked: Mapping[str, Any], error: DpestError
) -> Result | None:
    """What an audit shows of one pair, and a bound from above; None where there is no bound."""
    from dpest.exact.processed import data_processing_bound, with_bound

    bound = data_processing_bound(mechanism, pairs, params) if len(pairs) == 1 else None
    if bound is None:
        return None
    from dpest.doors.audit import audit

    try:
        found = audit(mechanism, list(pairs), params=params, **{**asked, "samples": asked["samples"] or _BLACK_BOX_SAMPLES})
    except DpestError:  # on plain numbers it does not run either
        return None
    reason = f"the program as it stands, as a black box: {error}"
    return with_bound(replace(found, evidence=Evidence.ESTIMATE, reason=reason), bound)


def _with_open_arrays(answered: Callable[[], Result]) -> Result:
    """The answer; where the mechanism writes noise into plain arrays, which do not hold it, with arrays that do."""
    try:
        return answered()
    except (MechanismRaised, RandomTruth) as error:
        if isinstance(error, MechanismRaised) and not isinstance(error.__cause__, _OF_ARRAYS):
            raise
        try:
            with open_arrays():
                return answered()
        except MechanismRaised:
            raise error from error.__cause__


def _exactly(
    mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any], adjacency: str | None, *, patient: bool
) -> Result:
    """The exact answer, and where it is cheap a line about all adjacent inputs."""
    from dpest.doors.everywhere import over_all_inputs
    from dpest.exact.answer import estimate_exactly

    @cache
    def cheaper() -> Result | None:
        from dpest.exact.atoms import shown_by_atoms

        return shown_by_atoms(mechanism, pairs, params)

    with counted_effort() as effort:
        try:
            found = estimate_exactly(mechanism, pairs, params, patient=patient, cheaper=cheaper)
        except ExactRefused:
            shown = cheaper()
            if shown is None:
                raise
            return shown
    hardly_known = found.upper - found.lower > _HARDLY_KNOWN * max(1.0, found.lower)
    if hardly_known or effort.work <= _LONG_WORK:
        found = _bounded(found, mechanism, pairs, params)
    line = over_all_inputs(mechanism, pairs, params, adjacency, found.epsilon)
    return found if line is None else replace(found, notes=(*found.notes, line))


def _bounded(found: Result, mechanism: Callable[..., Any], pairs: Sequence[Pair], params: Mapping[str, Any]) -> Result:
    """The result with a smaller upper side where the values that the outputs are computed from give one."""
    wide = found.upper - found.lower > _WIDE * max(1.0, found.lower) if found.method == "exact" else found.upper == math.inf
    if not wide or found.lower == math.inf:
        return found
    from dpest.exact.processed import data_processing_bound, with_bound

    bound = data_processing_bound(mechanism, pairs, params)
    return found if bound is None else with_bound(found, bound)


@contextmanager
def _naming_the_audit() -> Iterator[None]:
    """Where the program as it stands cannot be answered for, say which door takes it."""
    try:
        yield
    except (NotReplayable, ExactRefused) as refusal:
        if "audit" not in str(refusal):
            refusal.args = (f"{refusal}; {AUDIT}",)
        raise


def _by_method(
    method: str, exact: Callable[[], Result], sampled: Callable[[str], Result], bounded: Callable[[Result], Result]
) -> Result:
    if method == "sampling":
        return sampled("sampling was asked for")
    try:
        found = exact()
    except ExactRefused as refusal:
        if method != "auto":
            raise
        return bounded(sampled(f"exact inference does not cover this mechanism: {refusal}"))
    return _side_by_side(found, sampled("sampling was asked for beside the exact answer")) if method == "both" else found


def _side_by_side(exact: Result, sampled: Result) -> Result:
    bound = f"[{sampled.lower:.6g}, {sampled.upper:.6g}]"
    agrees = sampled.lower <= exact.upper and exact.lower <= sampled.upper
    verdict = "agrees with" if agrees else "CONTRADICTS"
    note = (
        f"sampling {verdict} it: {sampled.epsilon:.6g}, bracket {bound} at {sampled.confidence:.0%} confidence from "
        f"{sampled.samples} samples"
    )
    return replace(exact, notes=(*exact.notes, note), samples=sampled.samples)
