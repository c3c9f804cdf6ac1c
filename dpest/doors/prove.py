"""`prove`: the privacy loss over all adjacent inputs, from above by alignments, from below by the worst pair."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from dpest.doors.search import WorstFound, farthest_pair, lower_side
from dpest.doors.table import Sweep
from dpest.errors import DpestError, ExactRefused, InvalidInput, InvalidLaw, NotAffine, RandomTruth, UnsupportedOperation
from dpest.exact.answer import collector_paused, estimate_exactly
from dpest.exact.inference.paths import trace
from dpest.exact.proof.adjacency import finite_values
from dpest.exact.proof.align import rounded_up
from dpest.exact.proof.finite import adjacent_pairs, symmetry_key
from dpest.exact.proof.gaussian import GaussianProof, gaussian_proof
from dpest.exact.proof.symbols import UnknownInput
from dpest.exact.proof.upper import ProofQuestion, Upper, scope, upper_side
from dpest.exact.proof.wording import obstacle_text
from dpest.inputs.pairs import Pair, as_parameters
from dpest.inputs.question import check_adjacency, check_keywords, check_mechanism, check_progress
from dpest.lang.nodes import draws_of
from dpest.results import TIGHT, Evidence, PairResult, Result
from dpest.run.progress import Progress, showing
from dpest.trace.explore import Trace


@overload
def prove(
    mechanism: Callable[..., Any],
    n: int | None = None,
    *,
    adjacency: str = "linf",
    sensitivity: float = 1.0,
    domain: Any = None,
    progress: Any = None,
    params: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Result: ...


@overload
def prove(
    mechanism: Callable[..., Any],
    n: Sequence[int],
    *,
    adjacency: str = "linf",
    sensitivity: float = 1.0,
    domain: Any = None,
    progress: Any = None,
    params: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Sweep: ...


def prove(
    mechanism: Callable[..., Any],
    n: int | Sequence[int] | None = None,
    *,
    adjacency: str = "linf",
    sensitivity: float = 1.0,
    domain: Any = None,
    progress: Any = None,
    params: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Result | Sweep:
    """The privacy loss of `mechanism(data, **parameters)` over all adjacent inputs, with a proof and the worst pair.

    Args:
        mechanism: a function of its input, written with dpest draws, numpy.random or random.
        n: how many rows the input has; None for one bare value; [1, 2, 4] for a table that shows how the loss grows.
        adjacency: "linf", "l1", "monotone" (numbers that move by at most `sensitivity`), "replace" or "add_remove" (rows).
        sensitivity: by how much a number may change.
        domain: the values of a row: (low, high), int, a finite list, set or range (all pairs are then enumerated), or a tuple or
            dict of domains, one for each column (listed columns may stand beside columns of numbers); None for any number.
        progress: None (a bar on a terminal), False, True, or a function of (done, total, message).
        params: parameters of the mechanism as a dict; for those whose names collide with these.
        keywords: parameters of the mechanism.

    Returns:
        A `Result` whose `upper` holds for every adjacent pair and whose `lower` is the loss of `pair`; a table for several n.

    Example:
        >>> import dpest
        >>> p = dpest.prove(lambda x, b: x[0] + dpest.laplace(b), n=1, b=10)
        >>> print(f"{p.lower:.3f} {p.upper:.3f} {p.proof.check()}")
        0.100 0.100 True
    """
    check_progress(progress)
    if isinstance(n, list | tuple | range):
        sizes = list(n)
        if not sizes:
            raise InvalidInput("n names no size: write n=3 for three rows, or n=[1, 2, 4] to see how the loss grows")
        options = {"adjacency": adjacency, "sensitivity": sensitivity, "domain": domain, "params": params}
        rows: list[tuple[int, Result]] = []
        with showing(progress, "sizes") as show:
            for k in sizes:
                show(len(rows), len(sizes), f"proof for n = {k}")
                rows.append((k, prove(mechanism, k, progress=False, **options, **keywords)))
        return Sweep("n", tuple(rows))
    question = _question(mechanism, n, adjacency, sensitivity, domain, as_parameters(params, keywords))
    start = time.perf_counter()
    values = finite_values(domain)
    with showing(progress, "steps") as show:
        if values is not None:
            return _enumerated(question, values, start)
        return _proved(question, start, show)


def proved_bound(
    mechanism: Callable[..., Any],
    n: int | None = None,
    *,
    adjacency: str = "linf",
    sensitivity: float = 1.0,
    domain: Any = None,
    params: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> float:
    """The upper side of `prove` alone: infinite where no alignment was found."""
    question = _question(mechanism, n, adjacency, sensitivity, domain, {**(params or {}), **keywords})
    values = finite_values(domain)
    if values is not None:
        return _enumerated(question, values, time.perf_counter()).upper
    bound = upper_side(question).bound
    return math.inf if bound is None else rounded_up(bound)


def _question(
    mechanism: Callable[..., Any], n: Any, adjacency: Any, sensitivity: Any, domain: Any, params: dict[str, Any]
) -> ProofQuestion:
    """The arguments, checked before any work."""
    check_mechanism(mechanism)
    check_keywords(mechanism, params, prove)
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
        raise InvalidInput(
            f"n must be a whole number >= 1 (rows of the input), or left out for a mechanism of one value, got {n!r}"
        )
    name = check_adjacency(adjacency)
    number = isinstance(sensitivity, int | float | np.number) and not isinstance(sensitivity, bool)
    if not number or not 0 < sensitivity < math.inf:
        raise InvalidInput(f"sensitivity must be a positive finite number, got {sensitivity!r}")
    if name == "add_remove" and n is None:
        raise InvalidInput('adjacency="add_remove" takes a row away: give n=..., the number of rows')
    return ProofQuestion(mechanism, params, None if n is None else int(n), name, float(sensitivity), domain)


def _proved(question: ProofQuestion, start: float, show: Progress) -> Result:
    """Unknown inputs: alignments from above, the pair that they name from below."""
    upper: Upper | None = None
    reason = ""
    try:
        with collector_paused():
            upper = upper_side(question, show)
    except (RandomTruth, UnsupportedOperation, InvalidLaw) as error:
        raise InvalidInput(_needs_a_number(question, str(error).split(":")[0].split(" (")[0])) from error
    except NotAffine as error:
        reason = str(error)
        if any(isinstance(d.law, UnknownInput) for x in error.values for d in draws_of(x)):
            raise InvalidInput(_needs_a_number(question, "the scale of a draw or a factor cannot be a random value")) from error
    except ExactRefused as error:
        reason = str(error)
    found = lower_side(question, upper, show)
    normal = None if upper is None or upper.bound is not None else gaussian_proof(question, upper.traced)
    if normal is not None:
        found = farthest_pair(question, upper, found, normal.mu, show)
    return _result(question, upper, found, reason, start, normal)


def _needs_a_number(question: ProofQuestion, what: str) -> str:
    said = what.replace("a random value", "an unknown input")
    return (
        f"prove(...) runs {question.name} on unknown inputs, and {said}: give domain=[...], a finite set whose pairs are all "
        "looked at, or keep the input in sums and comparisons"
    )


def _result(
    question: ProofQuestion, upper: Upper | None, found: WorstFound, reason: str, start: float, normal: GaussianProof | None
) -> Result:
    certificate = None if upper is None else upper.certificate
    bound = math.inf if certificate is None else rounded_up(certificate.bound)
    best = found.best
    lower = min(best.lower if best is not None else 0.0, bound)
    notes = []
    if certificate is None and lower < math.inf:
        why = reason or (obstacle_text(upper) if upper is not None else "")
        notes.append(f"no proof found: {why}" + ("; the pair shown is a lower bound" if best is not None else ""))
    elif certificate is None:
        notes.append(f"infinite: {obstacle_text(upper) if upper is not None else reason}")
    elif bound - lower > TIGHT * bound:
        notes.append(
            "bounded, not tight: the loss may be smaller than shifts of the noise can prove, so that only integrals would "
            "tell, or the worst pair was not found"
        )
    if normal is not None:
        notes.append(
            f"Gaussian differential privacy with mu = {normal.mu:.9g} for every adjacent pair, proved: ask .epsilon_at(1e-5), "
            ".delta(1.0) or .compose(k) for the curve over all adjacent inputs"
        )
    value = bound if certificate is not None else lower
    return Result(
        epsilon=value,
        lower=lower,
        upper=bound,
        method="exact",
        evidence=Evidence.CERTIFIED if certificate is not None or lower == math.inf else Evidence.LOWER_BOUND,
        confidence=None,
        pair=Pair("", None, None) if best is None else best.pair,
        witness=None if best is None else best.witness,
        reason=_method(certificate, found),
        pairs=() if best is None else (best,),
        mechanism=question.name,
        seconds=time.perf_counter() - start,
        notes=tuple(notes),
        scope=scope(question),
        proof=normal if certificate is None else certificate,
    )


def _method(certificate: Any, found: WorstFound) -> str:
    tried = f"{found.tried} pair{'s' if found.tried != 1 else ''} looked at from below"
    if certificate is None:
        return f"no alignment for every path; {tried}"
    regions = sum(len(p) for p in certificate.programs)
    return f"alignments of {regions} region{'s' if regions != 1 else ''} of runs, checked in rationals; {tried}"


def _enumerated(question: ProofQuestion, values: list[Any], start: float) -> Result:
    """A finite domain: the exact loss of every adjacent pair, one for each class of equal ones."""
    chosen = list(_up_to_symmetry(question, adjacent_pairs(values, question.n, question.adjacency, question.sensitivity)))
    if not chosen:
        raise InvalidInput(f"no two inputs from domain={question.domain!r} are {question.adjacency}-adjacent")
    pairs = [Pair("", left, right) for _, left, right in chosen]
    count = sum(k for k, _, _ in chosen)
    result = estimate_exactly(question.mechanism, pairs, question.params)
    worst = max(result.pairs, key=lambda p: p.epsilon)
    return Result(
        epsilon=result.epsilon,
        lower=result.lower,
        upper=result.upper,
        method="exact",
        evidence=Evidence.EXACT,
        confidence=None,
        pair=worst.pair,
        witness=worst.witness,
        reason=f"all {count} adjacent pairs of the domain, {len(pairs)} up to symmetry",
        pairs=_few(result.pairs, worst),
        mechanism=question.name,
        seconds=time.perf_counter() - start,
        notes=result.notes,
        scope=f"{scope(question)} from a domain of {len(values)} values",
    )


def _few(pairs: Sequence[PairResult], worst: PairResult) -> tuple[PairResult, ...]:
    return tuple(pairs) if len(pairs) <= 100 else (worst,)


def _up_to_symmetry(question: ProofQuestion, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[int, Any, Any]]:
    """(how many, left, right) of one pair for each class of pairs with equal losses."""
    traces: dict[str, Trace] = {}

    def traced(data: Any) -> Trace:
        key = repr(data)
        if key not in traces:
            traces[key] = trace(question.mechanism, data, question.params)
        return traces[key]

    classes: dict[Any, list[Any]] = {}
    for left, right in pairs:
        try:
            key = symmetry_key(traced(left), traced(right))
        except DpestError:
            key = None
        entry = classes.setdefault((repr(left), repr(right)) if key is None else key, [0, left, right])
        entry[0] += 1
    return [(k, left, right) for k, left, right in classes.values()]
