"""Runs one mechanism in a process of its own, with a time limit, and judges the answer against the truth."""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import dpest
import dpest.exact.answer  # before the fork: the time of imports is no mechanism's
from benchmarks.coverage.case import Case
from dpest.errors import DpestError, ExactRefused

NARROW = 1e-5  # relative width of a bracket that counts as exact
REFERENCE = 1e-9  # relative error that a reference may have
_WALL = 10.0  # seconds on the clock for each CPU second of the limit, before a process is given up
SAMPLES = 20_000  # where exact inference refuses: enough to see whether the sampled answer has two sides


@dataclass(frozen=True)
class Row:
    """What came of one mechanism."""

    family: str
    case: Case
    truth: float
    outcome: str
    seconds: float
    figures: str = ""
    reason: str = ""


def answer(family: str, case: Case, limit: float) -> Row:
    """The outcome of one mechanism: exact, two-sided, refused, slow or wrong."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(case, theirs, limit), daemon=True)
    truth = case.truth()
    start = time.perf_counter()
    worker.start()
    theirs.close()
    found = _received(ours, limit)
    seconds = time.perf_counter() - start
    if found is None:
        worker.kill()
        worker.join()
        return Row(family, case, truth, "slow", limit, f"truth {truth:.6g}", f"no answer in {limit:g} s")
    worker.join()
    outcome, figures, reason = _judged(found, truth)
    return Row(family, case, truth, outcome, found.get("seconds", seconds), figures, reason)


def _received(ours: Connection, limit: float) -> Any:
    """What the process says; nothing where its CPU time is over, or its time on the clock of a machine that others use."""
    try:
        return ours.recv() if ours.poll(_WALL * limit) else None
    except EOFError:
        return None


def _work(case: Case, theirs: Connection, limit: float) -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
    start = time.process_time()
    try:
        found = _asked(case, "exact")
    except ExactRefused as refusal:
        found = {"refused": str(refusal), **_sampled(case)}
    except DpestError as error:
        found = {"refused": f"{type(error).__name__}: {error}"}
    except Exception as error:
        found = {"raised": f"{type(error).__name__}: {error}"}
    theirs.send({**found, "seconds": time.process_time() - start})


def _asked(case: Case, method: str) -> dict[str, Any]:
    more: dict[str, Any] = {} if method == "exact" else {"samples": SAMPLES, "seed": 1}
    result = dpest.estimate(case.mechanism, case.pair, method=method, params=case.params, **more)
    found: Any = result if case.delta_at is None else result.delta(case.delta_at)
    return {"value": float(found), "lower": found.lower, "upper": found.upper}


def _sampled(case: Case) -> dict[str, Any]:
    try:
        return _asked(case, "auto")
    except Exception as error:
        return {"auto": f"{type(error).__name__}: {error}"}


def _judged(found: dict[str, Any], truth: float) -> tuple[str, str, str]:
    if "raised" in found:
        return "wrong", f"truth {truth:.6g}", found["raised"]
    reason = found.get("refused", "")
    if "value" not in found:
        return "refused", f"truth {truth:.6g}", reason
    lower, upper = found["lower"], found["upper"]
    figures = f"{found['value']:.9g} in [{lower:.9g}, {upper:.9g}], truth {truth:.9g}"
    room = REFERENCE * max(abs(truth), 1e-3) if math.isfinite(truth) else 0.0
    if not lower <= truth + room or not truth <= upper + room:
        return ("refused" if reason else "wrong"), figures, reason
    if reason:
        return ("two-sided" if upper < math.inf else "refused"), figures, reason
    if truth == math.inf:
        return ("exact" if lower == math.inf else "one-sided"), figures, ""
    if upper - lower <= NARROW * max(truth, 1e-3):
        return "exact", figures, ""
    return ("two-sided" if upper < math.inf else "one-sided"), figures, ""
