"""Spreads the tests of mutants over processes: first what each test reaches, then the mutants."""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mutant_tests
import mutating

# Files of tests that one process learns about: few, so that the processes end together; a process needs some seconds to start.
_FILES_AT_ONCE = 6
_SPAWN = multiprocessing.get_context("spawn")


def learned(copies: list[Path], files: list[str], known: Path) -> mutant_tests.Reach:
    """What each test reaches, kept in a file: finding out takes longer than the tests do. A changed test is asked again."""
    stamps = {file: mutating.digest_of(copies[0] / file) for file in files}
    told: dict[str, dict[str, Any]] = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    told = {name: row for name, row in told.items() if stamps.get(_file(name)) == row["file"]}
    new = [file for file in files if file not in {_file(name) for name in told}]
    # Every n-th file: neighbours in a folder take alike long.
    parts = [new[k :: max(1, len(new) // _FILES_AT_ONCE)] for k in range(max(1, len(new) // _FILES_AT_ONCE))] if new else []
    known.parent.mkdir(parents=True, exist_ok=True)
    with _SPAWN.Pool(len(copies), maxtasksperchild=1) as pool:
        for k, found in enumerate(pool.imap_unordered(_learn, [(copies[0], part) for part in parts], chunksize=1), 1):
            told |= found
            known.write_text(json.dumps(told), encoding="utf-8")
            print(f"  reach of {k} of {len(parts)} parts of the tests", flush=True)
    return mutant_tests.Reach(told)


def tried(
    copies: list[Path], reach: mutant_tests.Reach, todo: list[mutating.Mutant], budget: float
) -> Iterator[tuple[mutating.Mutant, mutant_tests.Tried]]:
    """What becomes of each mutant, as it comes."""
    jobs: Any = _SPAWN.Queue()
    results: Any = _SPAWN.Queue()
    # Changes outside of functions need a process each: they come last.
    for mutant in [*sorted(todo, key=lambda m: not m.function), *(None for _ in copies)]:
        jobs.put(mutant)
    workers = [_SPAWN.Process(target=_try, args=(copy, reach, budget, jobs, results)) for copy in copies]
    for worker in workers:
        worker.start()
    left = len(todo)
    while left:
        try:
            yield results.get(timeout=5.0)
            left -= 1
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers) and results.empty():
                raise RuntimeError(f"the processes ended with {left} mutants left; run it again to go on") from None


def _file(name: str) -> str:
    return name.partition("::")[0]


def _learn(job: tuple[Path, list[str]]) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    _with_tests(job[0], job[1], lambda laboratory: out.update(laboratory.learned()), mutant_tests.Reach())
    return out


def _try(copy: Path, reach: mutant_tests.Reach, budget: float, jobs: Any, results: Any) -> None:
    def work(laboratory: mutant_tests.Laboratory) -> None:
        for mutant in iter(jobs.get, None):
            results.put((mutant, laboratory.tried(mutant, budget)))

    _with_tests(copy, sorted({_file(name) for name in reach.tests}), work, reach)


def _with_tests(copy: Path, files: list[str], work: Callable[[mutant_tests.Laboratory], None], reach: mutant_tests.Reach) -> None:
    """Collects the tests of a copy of the project in this process, and does the work with them instead of running them."""
    import pytest

    os.chdir(copy)
    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    quiet = ["-qq", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={copy}/tmp-{os.getpid()}"]
    pytest.main([*quiet, *files], plugins=[mutant_tests.Laboratory(copy, reach, work)])
