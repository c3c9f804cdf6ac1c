from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpest.errors import InvalidInput
from dpest.run.checkpoint import Checkpoint
from dpest.run.chunks import Chunks, run_chunks
from dpest.run.progress import Bar, showing, silent


def total(state: int, found: int) -> int:
    return state + found


def test_sizes_add_up() -> None:
    chunks = Chunks(total=25, size=10)
    assert [chunks.count(i) for i in range(len(chunks))] == [10, 10, 5]
    assert len(Chunks(0, 10)) == 0
    with pytest.raises(InvalidInput):
        Chunks(10, 0)


def test_ctrl_c_keeps_whole_chunks() -> None:
    def work(index: int, count: int) -> int:
        if index == 2:
            raise KeyboardInterrupt
        return count

    gathered = run_chunks(work, Chunks(25, 10), total, 0)
    assert (gathered.state, gathered.done, gathered.interrupted) == (20, 20, True)


def test_a_checkpoint_saves_the_work(tmp_path: Path) -> None:
    calls: list[int] = []

    def work(index: int, count: int) -> int:
        calls.append(index)
        if calls == [0, 1]:
            raise KeyboardInterrupt
        return count

    with Checkpoint(tmp_path / "run.db", {}) as store:
        assert run_chunks(work, Chunks(30, 10), total, 0, checkpoint=store).interrupted
        assert run_chunks(work, Chunks(30, 10), total, 0, checkpoint=store).state == 30
    assert calls == [0, 1, 1, 2]


def test_progress_is_told() -> None:
    seen: list[tuple[int, int, str]] = []
    run_chunks(lambda i, n: n, Chunks(25, 10), total, 0, progress=lambda *a: seen.append(a), message="counting")
    assert seen == [(0, 25, "counting"), (10, 25, "counting"), (20, 25, "counting"), (25, 25, "counting")]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_the_bar_waits_two_seconds(stream: io.StringIO) -> None:
    now = [0.0]
    with Bar(stream, clock=lambda: now[0]) as bar:
        now[0] = 1.9
        bar(10, 100, "counting")
        assert stream.getvalue() == ""
        now[0] = 2.1
        bar(50, 100, "counting")
    assert "counting" in stream.getvalue()


def test_the_bar_shows_itself_when_nobody_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr("dpest.run.progress.PATIENCE_SECONDS", 0.5)  # longer than a busy machine takes for the next lines
    with Bar(stream, clock=lambda: now[0]) as bar:
        bar(3, 10, "looking")
        assert stream.getvalue() == ""
        now[0] = 1.0
        bar._wake.join()
    assert "looking: 3 of 10" in stream.getvalue()


def test_a_bar_is_for_a_terminal_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, str]] = []
    for stream, progress, bar in [(io.StringIO(), None, False), (Terminal(), None, True), (io.StringIO(), True, True)]:
        monkeypatch.setattr("sys.stderr", stream)
        with showing(progress) as show:
            assert isinstance(show, Bar) is bar
    monkeypatch.setattr("sys.stderr", Terminal())
    with showing(False) as show:
        assert show is silent
    with showing(lambda *a: seen.append(a)) as show:
        show(1, 2, "counting")
    assert seen == [(1, 2, "counting")]
