"""`estimate`, the front door: what privacy loss does this mechanism really have?"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpest.errors import ExactRefused, InvalidInput, InvalidPair, NotReplayable, UnknownName
from dpest.inputs import Pair, as_pairs, as_parameters, pattern_pairs
from dpest.lang.generators.swap import missing
from dpest.results import Result

METHODS = ("auto", "exact", "sampling", "both")
AUDIT = "`dpest audit` (dpest.audit in Python) bounds the loss of the program as it stands, as a black box"


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

    Give `pairs=(D, D')`, a list of pairs, or `n=...` for the seven input patterns (`adjacency="l1"` for the two that
    change one coordinate). Parameters of the mechanism are keywords; one whose name collides goes into `params={...}`.
    `method` is "auto" (exact, and sampling where the structure defeats it), "exact", "sampling" or "both".

    >>> import dpest
    >>> print(f"{dpest.estimate(lambda x, b: x + dpest.laplace(b), (0, 1), b=10):.3f}")
    0.100
    """
    _check_method(method)
    _check_statistics(samples, seed, confidence)
    chosen = _pairs(pairs, n, adjacency)
    parameters = as_parameters(params, keywords)
    _check_call(mechanism, chosen[0], parameters)

    def exact() -> Result:
        from dpest.exact.answer import estimate_exactly

        return _bounded(estimate_exactly(mechanism, chosen, parameters))

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

    def _bounded(found: Result) -> Result:
        """The result with a finite upper side where the values that the outputs are computed from give one."""
        if math.isfinite(found.upper) or found.lower == math.inf:
            return found
        from dpest.exact.processed import data_processing_bound, with_bound

        bound = data_processing_bound(mechanism, chosen, parameters)
        return found if bound is None else with_bound(found, bound)

    with _naming_the_audit():
        return _by_method(method, exact, sampled, lambda reason: _bounded(sampled(reason)))


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
    method: str, exact: Callable[[], Result], sampled: Callable[[str], Result], bounded: Callable[[str], Result]
) -> Result:
    if method == "sampling":
        return sampled("sampling was asked for")
    try:
        found = exact()
    except ExactRefused as refusal:
        if method != "auto":
            raise
        return bounded(f"exact inference does not cover this mechanism: {refusal}")
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


def _check_method(method: str) -> None:
    if method not in METHODS:
        names = ", ".join(f'"{m}"' for m in METHODS)
        raise UnknownName(f"method must be one of {names}, got {method!r}")


def _check_statistics(samples: Any, seed: Any, confidence: Any) -> None:
    """Settings of sampling are checked before any work, also where the exact engine then answers."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie strictly between 0 and 1, such as 0.95, got {confidence!r}")
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int | float) or not samples >= 1):
        raise InvalidInput(f"samples must be a whole number >= 1, such as 1_000_000, got {samples!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise InvalidInput(f"seed must be a whole number >= 0, got {seed!r}")


def _pairs(pairs: Any, n: int | None, adjacency: str) -> list[Pair]:
    if pairs is not None and n is not None:
        raise InvalidPair("give either pairs=... or n=..., not both")
    if pairs is not None:
        return as_pairs(pairs)
    if n is None:
        raise InvalidPair(
            "no inputs to compare: give a pair, as in estimate(mechanism, (D, D')), a list of pairs, or n=10 for the input "
            "patterns"
        )
    return pattern_pairs(n, adjacency)


def _check_call(mechanism: Any, pair: Pair, parameters: Mapping[str, Any]) -> None:
    """Refuses before any work what cannot be called with an input and these parameters."""
    if not callable(mechanism):
        raise InvalidInput(f"the mechanism must be a function of its input, got {mechanism!r}")
    if inspect.iscoroutinefunction(mechanism):
        raise InvalidInput("the mechanism is an async function, whose output is a coroutine: write it with a plain def")
    try:
        signature = inspect.signature(mechanism)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(pair.left, **parameters, **missing(mechanism, parameters))
    except TypeError as error:
        name = getattr(mechanism, "__name__", "the mechanism")
        raise InvalidInput(
            f"{name}{signature} cannot be called as {name}(data{''.join(f', {k}=...' for k in parameters)}): {error}; it must "
            f"take its input first, and its parameters as keywords{_generator_hint(signature)}"
        ) from None


def _generator_hint(signature: inspect.Signature) -> str:
    """A mechanism that is handed its generator is one for the audit."""
    return f"; a function of (data, rng) draws for itself: {AUDIT}" if "rng" in signature.parameters else ""
