"""One suite for every place where chunks can run: the answer is the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from dpest.errors import InvalidInput, MechanismError
from dpest.run.chunks import Chunks, Gathered, run_chunks
from dpest.run.executors import Automatic, SpawnPool, opened
from dpest.run.streams import stream

Place = Callable[[], Any]
CHUNKS = Chunks(total=95, size=10)


def work(index: int, count: int) -> tuple[int, float]:
    return index, float(stream(7, index).standard_normal(count).sum())


def append(state: tuple[Any, ...], found: Any) -> tuple[Any, ...]:
    return (*state, found)


@contextmanager
def spawn_context() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


PLACES: dict[str, Place] = {
    "here": lambda: opened(None),
    "own pool": lambda: opened(2),
    "automatic": lambda: opened(Automatic(2)),
    "threads": lambda: ThreadPoolExecutor(3),
    "standard processes": spawn_context,
}


@pytest.fixture(scope="module")
def expected() -> Gathered[Any]:
    return run_chunks(work, CHUNKS, append, ())


@pytest.mark.parametrize("place", PLACES)
def test_same_answer_in_index_order_everywhere(place: str, expected: Gathered[Any]) -> None:
    with PLACES[place]() as executor:
        assert run_chunks(work, CHUNKS, append, (), executor=executor) == expected
    assert [index for index, _ in expected.state] == list(range(10))
    assert expected.done == 95
    assert not expected.interrupted


def test_a_function_made_on_the_spot_can_be_sent() -> None:
    factor = 3
    with opened(2) as pool:
        gathered = run_chunks(lambda i, n: factor * n, Chunks(7, 2), lambda a, b: a + b, 0, executor=pool)
    assert gathered.state == 21


def test_a_worker_that_dies_changes_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def fatal(index: int, count: int) -> tuple[int, float]:
        if index == 4 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return work(index, count)

    with opened(2) as pool:
        gathered = run_chunks(fatal, CHUNKS, append, (), executor=pool)
    assert mark.exists()
    assert gathered == run_chunks(work, CHUNKS, append, ())


def test_work_that_always_kills_its_worker_is_reported() -> None:
    def fatal(index: int, count: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with opened(2) as pool, pytest.raises(MechanismError, match="workers died in a row"):
        run_chunks(fatal, Chunks(2, 1), append, (), executor=pool)


def test_an_error_in_the_work_comes_back_as_it_is() -> None:
    def wrong(index: int, count: int) -> None:
        raise ZeroDivisionError(f"chunk {index}")

    with opened(2) as pool, pytest.raises(ZeroDivisionError, match="chunk"):
        run_chunks(wrong, Chunks(2, 1), append, (), executor=pool)


def test_opened_leaves_a_foreign_executor_open() -> None:
    with ThreadPoolExecutor(1) as threads:
        with opened(threads) as same:
            assert same is threads
        assert threads.submit(lambda: 5).result() == 5


def test_automatic_stays_here_for_short_work_and_leaves_for_long() -> None:
    automatic = Automatic(2)
    assert not automatic.worth_it(spent=0.1, done=1, left=10)
    assert automatic.worth_it(spent=1.0, done=1, left=10)
    assert not Automatic(1).worth_it(spent=1.0, done=1, left=1000)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "two"])
def test_nonsense_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput), opened(bad):
        pass


def test_a_pool_that_was_shut_down_refuses_work() -> None:
    pool = SpawnPool(2)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(print)
