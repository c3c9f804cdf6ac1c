"""What was counted, kept in sqlite so that a run that is killed at any moment can go on."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from dpest.errors import CheckpointError

FORMAT = 3  # goes up when the tables or the stored values change their meaning
_HEADER = b"SQLite format 3\x00"
_SCHEMA = """
create table if not exists identity (id integer primary key check (id = 1), format integer not null, text text not null);
create table if not exists chunk (key text not null, number integer not null, digest blob not null, content blob not null,
                                  primary key (key, number)) without rowid;
"""


class Checkpoint:
    """A store of finished chunks that belongs to one question: mechanism, pairs, seed and sizes.

    The contents are counts, arrays and names (`Storage`): reading a checkpoint runs nothing.
    """

    def __init__(self, path: str | Path, identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise CheckpointError(f"checkpoint={str(path)!r} must be a file in a folder that exists")
        self._refuse_other_files()
        text = json.dumps(dict(identity), sort_keys=True, default=str)
        # A chunk may be stored from the thread that runs the question only; readers elsewhere open their own.
        try:
            self._store = sqlite3.connect(self.path, isolation_level=None)
        except sqlite3.Error as error:
            raise CheckpointError(f"cannot open the checkpoint {self.path}: {error}; give another path") from error
        try:
            self._open(text)
        except sqlite3.DatabaseError as error:
            self._store.close()
            raise self._damaged(str(error)) from error
        except BaseException:
            self._store.close()
            raise

    def _refuse_other_files(self) -> None:
        """sqlite takes a short file of any kind for an empty database, and writes over it."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return
        with self.path.open("rb") as file:
            if file.read(len(_HEADER)) != _HEADER:
                raise self._damaged("it is not a checkpoint of dpest")

    def _open(self, text: str) -> None:
        problem = self._store.execute("pragma quick_check").fetchone()[0]
        if problem != "ok":
            raise self._damaged(problem)
        self._refuse_foreign()
        self._store.execute("pragma journal_mode=wal")
        self._store.execute("pragma synchronous=normal")
        self._store.executescript(_SCHEMA)
        self._store.execute("insert or ignore into identity values (1, ?, ?)", (FORMAT, text))
        version, stored = self._store.execute("select format, text from identity").fetchone()
        if version != FORMAT:
            raise CheckpointError(f"{self.path} was written in format {version}, this dpest reads {FORMAT}: use another path")
        if stored != text:
            raise CheckpointError(_difference(self.path, json.loads(stored), json.loads(text)))

    def _refuse_foreign(self) -> None:
        tables = {name for (name,) in self._store.execute("select name from sqlite_master where type = 'table'")}
        if tables and tables != {"identity", "chunk"}:
            raise CheckpointError(f"{self.path} is a database, but not a checkpoint of dpest: use another path")

    def get(self, number: int, key: str = "") -> bytes | None:
        """What was stored for this chunk, or None."""
        try:
            row = self._store.execute("select digest, content from chunk where key = ? and number = ?", (key, number)).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error
        if row is None:
            return None
        digest, content = row
        if not isinstance(content, bytes) or digest != _digest(content):
            raise self._damaged(f"chunk {number} does not match its digest")
        return content

    def put(self, number: int, content: bytes, key: str = "") -> None:
        """Store one chunk; once this returns, a killed process loses nothing of it."""
        try:
            self._store.execute("insert or replace into chunk values (?, ?, ?, ?)", (key, number, _digest(content), content))
        except sqlite3.DatabaseError as error:
            raise CheckpointError(
                f"cannot write the checkpoint {self.path}: {error}; what it holds is kept: make room, and ask the same again"
            ) from error

    def __len__(self) -> int:
        return int(self._store.execute("select count(*) from chunk").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def _damaged(self, detail: str) -> CheckpointError:
        return CheckpointError(
            f"the checkpoint {self.path} is damaged ({detail}); nothing of it is used: delete it, or give another path"
        )


def stored_identity(path: str | Path) -> dict[str, Any] | None:
    """What an existing checkpoint belongs to; None where there is none yet."""
    if not Path(path).is_file() or not Path(path).stat().st_size:
        return None
    store = sqlite3.connect(path)
    try:
        row = store.execute("select text from identity").fetchone()
    except sqlite3.DatabaseError:
        return None  # opening it will say what is wrong
    finally:
        store.close()
    return None if row is None else dict(json.loads(row[0]))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _difference(path: Path, stored: dict[str, Any], asked: dict[str, Any]) -> str:
    names = sorted(name for name in {*stored, *asked} if stored.get(name) != asked.get(name))
    parts = (f"{name} is {stored.get(name)!r} there and {asked.get(name)!r} here" for name in names)
    return f"the checkpoint {path} belongs to another run: {'; '.join(parts)}; give another path, or ask what it was made for"
