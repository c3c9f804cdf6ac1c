"""Several processes, one noise?  Compares what fresh processes draw before their counts are added up."""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import NDArray

from dpest.errors import DependentRuns, MechanismError
from dpest.run.executors import SpawnPool, call_pickled
from dpest.run.streams import stream
from dpest.sampling.runs.blackbox import Sampler
from dpest.sampling.runs.copies import reason_against
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import Batch

_RUNS = 256  # of each process: long enough for a stretch of equal outputs that is no chance
_STAY = 0.2  # seconds that a worker keeps its task, so that the next task goes to another one
_SECOND = 1.05  # after which a clock that counts seconds has moved
_CHANCE = 1e-9  # of taking independent noise for copies
_COPIES = (
    "two processes draw the same noise: the mechanism's generator starts from the same seed in each of them (in a module, or in "
    "a C library that seeds itself), so that their counts are copies; write mechanism(data, rng) and draw from rng, "
    "seed the library from os.urandom() in each process, or run it without an executor"
)
_KEY = 3000  # of the streams of this comparison


@dataclass(frozen=True)
class _Look:
    """Draws some outputs in a worker, and stays there for a moment."""

    sampler: Sampler
    data: Any
    seed: int

    def __call__(self, place: int) -> tuple[int, Batch]:
        start = time.monotonic()
        batch = self.sampler.draw(self.data, _RUNS, stream(self.seed, 3, _KEY + place))
        time.sleep(max(_STAY - (time.monotonic() - start), 0.0))
        return os.getpid(), batch


def must_differ(sampler: Sampler, data: Any, seed: int, pool: Executor) -> None:
    """Refuse to add up the counts of processes that draw the same noise."""
    if isinstance(pool, ThreadPoolExecutor):
        return
    try:
        payload = cloudpickle.dumps(_Look(sampler, data, seed))
    except Exception as error:
        raise MechanismError(
            f"the mechanism cannot be sent to other processes: {reason_against(sampler.mechanism) or error}; make it inside the "
            "mechanism, or run it without an executor"
        ) from error
    workers = min(int(getattr(pool, "workers", getattr(pool, "_max_workers", 2)) or 2), 4)
    looks = [future.result() for future in [pool.submit(call_pickled, payload, place) for place in range(workers)]]
    for place, (pid, batch) in enumerate(looks):
        for other_pid, other in looks[:place]:
            if pid != other_pid and same_noise(batch, other):
                raise DependentRuns(_COPIES)


def same_noise(a: Batch, b: Batch) -> bool:
    """Whether a stretch of one sample comes again in the other, where chance cannot explain it."""
    keys = [row_keys(batch) for batch in (a, b.resized(a.width))]
    length = _telling_length(np.concatenate(keys))
    if length is None:
        return False
    stretches = [{tuple(window) for window in _windows(k, length)} for k in keys]
    return not stretches[0].isdisjoint(stretches[1])


def _telling_length(keys: NDArray[np.uint64]) -> int | None:
    """How long a common stretch must be to be none of chance; None where outputs repeat too much to tell."""
    counts = np.unique(keys, return_counts=True)[1]
    # Two independent outputs are equal with about this probability; a few more pairs for what was never seen.
    equal = (float(np.sum(counts * (counts - 1.0))) + 8) / (len(keys) * (len(keys) - 1.0))
    if equal >= 1:
        return None
    length = math.ceil(math.log(_CHANCE / _RUNS**2) / math.log(equal))
    return length if length <= _RUNS // 2 else None


def _windows(keys: NDArray[np.uint64], length: int) -> list[list[int]]:
    return np.lib.stride_tricks.sliding_window_view(keys, length).tolist()  # type: ignore[no-any-return]


def must_be_deterministic(sampler: Sampler, data: Any, seen: Batch) -> None:
    """Refuse a mechanism that gives one output here and another one in a fresh process, a second later."""
    try:
        payload = cloudpickle.dumps(_Look(sampler, data, 0))
    except Exception:  # cannot be sent anywhere: nothing to compare with
        return
    pool = SpawnPool(1)
    time.sleep(_SECOND)
    try:
        _, batch = pool.submit(call_pickled, payload, 99).result()
    except Exception:  # a mechanism that does not run elsewhere, for whatever reason, is audited as it is
        return
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if batch.values.shape[1] != seen.values.shape[1] or row_keys(batch)[0] != row_keys(seen)[0]:
        raise DependentRuns(
            "the mechanism gives the same output again and again here, and another one in a fresh process a moment later: it "
            "keeps its first answer, or seeds its noise by the clock; no bound holds for such runs: draw anew in each call"
        )
