"""A worker that is killed in mid-run changes nothing in the answer: on the own pool and on a Dask cluster."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.results import Result
from dpest.run.executors import SpawnPool
from dpest.sampling.answer import estimate_by_sampling
from tests.mechanisms_for_sampling import svt1

PAIRS = [p for p in pattern_pairs(10) if p.name in ("half_half", "x_shape")]


def answer(executor: Any, progress: Any = False, samples: int = 2_000_000, pairs: list[Pair] = PAIRS) -> dict[str, Any]:
    found: Result = estimate_by_sampling(svt1, pairs, samples=samples, seed=4, executor=executor, progress=progress)
    plain = found.to_dict()
    del plain["seconds"]
    return plain


class KillOnce:
    """Kills one worker when the first chunk is in."""

    def __init__(self, workers: Any) -> None:
        self.workers = workers
        self.killed: int | None = None

    def __call__(self, done: int, total: int, message: str) -> None:
        if done and self.killed is None:
            self.killed = self.workers()[0]
            os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_of_the_own_pool_changes_nothing() -> None:
    with SpawnPool(2) as pool:
        kill = KillOnce(pool.pids)
        assert answer(pool, kill) == answer(1)
        assert kill.killed is not None
        assert kill.killed not in pool.pids()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_of_a_dask_cluster_changes_nothing() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def pids() -> list[int]:
            return sorted(client.run(os.getpid).values())

        with client.get_executor(pure=False) as executor:
            kill = KillOnce(pids)
            assert answer(executor, kill) == answer(1)
            assert kill.killed is not None
