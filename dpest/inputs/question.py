"""The check of a question before any work: the same words for the same mistake at every door."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np

from dpest.errors import InvalidInput, InvalidPair, UnknownName
from dpest.inputs.pairs import Pair, as_pairs, is_real, pattern_pairs

ADJACENCIES = ("linf", "l1", "monotone", "replace", "add_remove")
AUDIT = "`dpest audit` (dpest.audit in Python) bounds the loss of the program as it stands, as a black box"

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)  # parameters that can be given by name


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a message; nothing where none is close."""
    folded = {n.casefold(): n for n in names}
    close = [folded[n] for n in difflib.get_close_matches(name.casefold(), folded, 1, 0.5)]
    return f'; did you mean "{close[0]}"?' if close else ""


def one_of(what: str, value: Any, names: Iterable[str]) -> str:
    """A choice among names."""
    known = list(names)
    if isinstance(value, str) and value in known:
        return value
    listed = ", ".join(f'"{name}"' for name in known)
    near = nearest(value, known) if isinstance(value, str) else ""
    raise UnknownName(f"{what} must be one of {listed}, got {value!r}{near}")


def check_adjacency(name: Any) -> str:
    """The name of an adjacency."""
    return one_of("adjacency", name, ADJACENCIES)


def whole_number(what: str, value: Any, least: int, example: str) -> int:
    """A whole number, also written as a float such as 1e5."""
    if isinstance(value, bool) or not is_real(value) or not math.isfinite(value) or value != int(value) or value < least:
        raise InvalidInput(f"{what} must be a whole number >= {least}, such as {example}, got {value!r}")
    return int(value)


def check_samples(samples: Any, least: int = 1) -> int:
    """The number of samples."""
    return whole_number("samples", samples, least, "1_000_000")


def check_seed(seed: Any) -> int | None:
    """A seed, or None for a fresh one."""
    return None if seed is None else whole_number("seed", seed, 0, "1")


def check_confidence(confidence: Any) -> float:
    """A probability strictly between 0 and 1."""
    if not is_real(confidence) or not 0 < confidence < 1:
        raise InvalidInput(f"confidence must lie strictly between 0 and 1, such as 0.95, got {confidence!r}")
    return float(confidence)


def check_epsilon(what: str, epsilon: Any) -> float:
    """A finite epsilon."""
    if not is_real(epsilon) or not 0 <= epsilon < math.inf:
        raise InvalidInput(f"{what} must be a finite epsilon >= 0, got {epsilon!r}")
    return float(epsilon)


def check_delta(delta: Any) -> float:
    """A delta below 1."""
    if not is_real(delta) or not 0 <= delta < 1:
        raise InvalidInput(f"delta must lie in [0, 1), got {delta!r}")
    return float(delta)


def check_progress(progress: Any) -> None:
    """None, False, True or a function that is told how far the work is."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InvalidInput(
            f"progress must be None (a bar on a terminal), False, True, or a function of (done, total, message), got {progress!r}"
        )


def check_executor(executor: Any) -> None:
    """How many processes, or an executor of one's own."""
    if executor is None or isinstance(executor, Executor) or hasattr(executor, "submit"):
        return
    if isinstance(executor, bool) or not isinstance(executor, int | np.integer) or executor < 1:
        raise InvalidInput(
            "executor must be a whole number of processes >= 1, an Executor of concurrent.futures, or a Dask client, "
            f"got {executor!r}"
        )


def check_statistics(samples: Any, seed: Any, confidence: Any, least: int = 1) -> tuple[int | None, int | None, float]:
    """What sampling is asked, checked before any work, also where the exact engine then answers."""
    found = None if samples is None else check_samples(samples, least)
    return found, check_seed(seed), check_confidence(confidence)


def check_pairs(pairs: Any, n: Any, adjacency: str, call: str) -> list[Pair]:
    """The pairs that are asked about: those given, or the input patterns."""
    if pairs is not None and n is not None:
        raise InvalidPair("give either pairs=... or n=..., not both")
    if pairs is not None:
        return as_pairs(pairs)
    if n is None:
        raise InvalidPair(
            f"no inputs to compare: give a pair, as in {call}(mechanism, (D, D')), a list of pairs, or n=10 for the input "
            "patterns"
        )
    if adjacency in ADJACENCIES[2:]:
        raise UnknownName(
            f"the input patterns are adjacent as \"l1\" or \"linf\": for {adjacency!r} give a pair, or ask about all inputs with "
            f"dpest.prove(mechanism, n={n!r}, adjacency={adjacency!r})"
        )
    return pattern_pairs(n, one_of("adjacency", adjacency, ("l1", "linf")))


def check_mechanism(mechanism: Any) -> None:
    """Something that can be called, and that returns its output when it is."""
    if not callable(mechanism):
        gallery = "algorithms of the gallery are dpest.algorithms.svt1 and its like"
        instead = gallery if isinstance(mechanism, str) else "give the function itself, `mechanism`, not `mechanism(data)`"
        raise InvalidInput(f"the mechanism must be a function of its input, got {mechanism!r}; {instead}")
    if inspect.iscoroutinefunction(mechanism):
        raise InvalidInput("the mechanism is an async function, whose output is a coroutine: write it with a plain def")


def check_call(
    mechanism: Callable[..., Any], data: Any, parameters: Mapping[str, Any], supplied: Iterable[str], door: Callable[..., Any]
) -> None:
    """Refuses before any work what cannot be called with an input and these parameters; `supplied` are given by the door."""
    check_mechanism(mechanism)
    try:
        signature = inspect.signature(mechanism)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(data, **parameters, **dict.fromkeys(supplied))
    except TypeError as error:
        name = getattr(mechanism, "__name__", "the mechanism")
        unset = [p.name for p in [*signature.parameters.values()][1:] if p.default is p.empty and p.kind in _NAMED]
        unset = [x for x in unset if x not in parameters and x not in supplied]
        if unset and str(error).startswith("missing") and "self" not in signature.parameters:
            raise InvalidInput(
                f"{name}{signature} needs {unset[0]}: give it as a keyword of the question, {unset[0]}=..., on the command line "
                f"--param {unset[0]}=...{_meant(signature, parameters, door)}{_generator(signature)}"
            ) from None
        raise InvalidInput(
            f"{name}{signature} cannot be called as {name}(data{''.join(f', {k}=...' for k in parameters)}): {error}; it must "
            f"take its input first, and its parameters as keywords{_meant(signature, parameters, door)}{_generator(signature)}"
        ) from None


def check_keywords(mechanism: Any, keywords: Mapping[str, Any], door: Callable[..., Any]) -> None:
    """Refuses keywords that neither the door nor the mechanism takes; a mechanism may want more than its input and these."""
    check_mechanism(mechanism) if keywords else None
    try:
        signature = inspect.signature(mechanism)
    except (TypeError, ValueError):
        return
    taken = signature.parameters
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return
    for name in keywords:
        if name not in taken:
            what = getattr(mechanism, "__name__", "the mechanism")
            raise InvalidInput(f"{what}{signature} has no parameter {name!r}{_meant(signature, {name: None}, door)}")


def _meant(signature: inspect.Signature, parameters: Mapping[str, Any], door: Callable[..., Any]) -> str:
    """The nearest name, of the mechanism or of the door, to a keyword that nobody takes."""
    own = [n for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD]
    of_door = [n for n, p in inspect.signature(door).parameters.items() if p.kind is p.KEYWORD_ONLY]
    return "".join(nearest(k, [*own, *of_door]) for k in parameters if k not in own)


def _generator(signature: inspect.Signature) -> str:
    """A mechanism that is handed its generator is one for the audit."""
    return f"; a function of (data, rng) draws for itself: {AUDIT}" if "rng" in signature.parameters else ""
