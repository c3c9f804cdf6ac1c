from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dpest.errors import CheckpointError
from dpest.run.checkpoint import Checkpoint

IDENTITY = {"seed": 1, "mechanism": "abc"}


def test_what_was_put_is_there_after_reopening(tmp_path: Path) -> None:
    with Checkpoint(tmp_path / "run.db", IDENTITY) as store:
        store.put(3, b"three")
        store.put(3, b"other", key="learn")
    with Checkpoint(tmp_path / "run.db", IDENTITY) as store:
        assert (store.get(3), store.get(3, "learn"), store.get(4)) == (b"three", b"other", None)
        assert len(store) == 2


def test_another_run_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    Checkpoint(tmp_path / "run.db", IDENTITY).close()
    with pytest.raises(CheckpointError, match="seed is 1 there and 2 here"):
        Checkpoint(tmp_path / "run.db", {**IDENTITY, "seed": 2})


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, " * 100)
    with pytest.raises(CheckpointError, match="damaged"):
        Checkpoint(tmp_path / "text", IDENTITY)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("create table people (name text)")
    other.close()
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint(tmp_path / "other.db", IDENTITY)


@pytest.mark.parametrize("content", [b"x", b"notes", b"a" * 5000])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint(path, IDENTITY)
    assert path.read_bytes() == content


def test_every_truncation_is_refused_or_complete(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Checkpoint(path, IDENTITY) as store:
        for i in range(20):
            store.put(i, bytes([i]) * 3000)
    whole = path.read_bytes()
    for cut in range(4096, len(whole), 8192):
        path.write_bytes(whole[:cut])
        with pytest.raises(CheckpointError), Checkpoint(path, IDENTITY) as store:
            assert [store.get(i) for i in range(20)] == [bytes([i]) * 3000 for i in range(20)]


def test_a_changed_byte_in_a_chunk_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Checkpoint(path, IDENTITY) as store:
        store.put(0, b"A" * 500)
    path.write_bytes(path.read_bytes().replace(b"A" * 500, b"A" * 499 + b"B"))
    with Checkpoint(path, IDENTITY) as store, pytest.raises(CheckpointError, match="digest"):
        store.get(0)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="folder that exists"):
        Checkpoint(tmp_path / "no" / "run.db", IDENTITY)
