"""The tests that reach a function, and what they say about a mutant of it.

A process collects all tests once. Each mutant then gets a fork of that process, which exchanges the code of one
function and runs the tests that reach the function, the quickest first, until one fails. Changes outside of functions
(constants, defaults) cannot be exchanged in a running process; they are written into the copy of the project and tried in a
process of their own.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import math
import os
import pkgutil
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import mutating
import pytest
from _pytest.runner import runtestprotocol

# A test that needs longer than this under the watch of the calls, on unchanged code, is not used: it would be most of a run.
SLOWEST = 6.0
# Seconds of processor time for a mutant beyond four times what its tests need on unchanged code; running out counts as killed.
SPARE = 10.0
# The same in seconds on the clock, as a multiple: other work on the machine is not the mutant's fault.
PATIENCE = 8.0
# Bytes that a mutant may use beyond what the process has at the start: a wrong bound can ask for an array of any size.
MEMORY = 3 << 30


@dataclass(frozen=True)
class Tried:
    """What became of a mutant: killed by a test, by running out of time, or not at all."""

    killed: bool
    by: str
    tests: int
    seconds: float


@dataclass
class Reach:
    """Which functions each test runs, and how long it takes."""

    tests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, module: str, function: str) -> list[str]:
        """The tests that reach a function (or, without one, anything of the module), the quickest first."""
        wanted = f"{module}:{function}"
        hit = [
            (told["seconds"], name)
            for name, told in self.tests.items()
            if told["ok"] and (wanted in told["reached"] if function else any(r.startswith(wanted) for r in told["reached"]))
        ]
        return [name for _, name in sorted(hit)]


class Laboratory:
    """A pytest plugin that, instead of running the collected tests, hands itself to `work`."""

    def __init__(self, root: Path, reach: Reach, work: Callable[[Laboratory], None]) -> None:
        self.root, self.reach, self.work = root, reach, work
        self.items: dict[str, pytest.Item] = {}
        self._functions: dict[tuple[str, str], list[FunctionType]] = {}
        self._killers: dict[str, list[str]] = {}

    def pytest_configure(self) -> None:
        """Random examples are the same in each run, and a busy machine fails none of them."""
        import hypothesis

        hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, database=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Does the work with the collected tests."""
        self.items = {item.nodeid: item for item in session.items}
        self._functions = _functions(self.root)
        self.work(self)
        return True

    def learned(self) -> dict[str, dict[str, Any]]:
        """What each collected test reaches: it is run under a watch of the functions that it calls."""
        out = {}
        for name in self.items:
            told = _forked(lambda name=name: self._watched(name), SLOWEST, patience=3.0)
            ok, took, reached = told if told is not None else (False, SLOWEST, [])
            file = mutating.digest_of(self.root / name.partition("::")[0])
            out[name] = {"ok": ok, "seconds": round(took, 3), "reached": reached, "file": file}
        return out

    def _watched(self, name: str) -> tuple[bool, float, list[str]]:
        """Whether a test passes, its seconds of processor time, and the functions of the package that it runs."""
        start = time.process_time()
        seen: dict[int, CodeType] = {}
        home = str(self.root / "dpest") + os.sep

        def watch(frame: FrameType, _event: str, _argument: Any) -> None:
            seen[id(frame.f_code)] = frame.f_code

        threading.settrace(watch)
        sys.settrace(watch)
        passed = self._passes(name)
        sys.settrace(None)
        codes = [c for c in seen.values() if c.co_filename.startswith(home)]
        reached = sorted({f"{os.path.relpath(c.co_filename, self.root)}:{_outermost(c.co_qualname)}" for c in codes})
        return passed, time.process_time() - start, reached

    def _passes(self, name: str) -> bool:
        return not any(report.failed for report in runtestprotocol(self.items[name], nextitem=None, log=False))

    def tests_of(self, module: str, function: str, budget: float) -> tuple[list[str], float]:
        """The tests for a mutant and the seconds they need: earlier killers first, then the quickest, up to the budget."""
        hit = [n for n in self.reach.of(module, function) if n in self.items]
        first = [n for n in self._killers.get(module, []) if n in set(hit)][:3]
        chosen, total = [], 0.0
        for name in dict.fromkeys([*first, *hit]):
            total += self.reach.tests[name]["seconds"]
            if total > budget and chosen:
                break
            chosen.append(name)
        return chosen, total

    def tried(self, mutant: mutating.Mutant, budget: float) -> Tried:
        """Runs the tests that reach a mutant against it."""
        tests, expected = self.tests_of(mutant.module, mutant.function, budget)
        if not tests:
            return Tried(False, "no test reaches it", 0, 0.0)
        start, limit = time.perf_counter(), SPARE + 4 * expected
        failed = self._exchanged(mutant, tests, limit) if mutant.function else self._written(mutant, tests, limit)
        if failed is not None and failed in self.items:
            killers = self._killers.setdefault(mutant.module, [])
            self._killers[mutant.module] = [failed, *(k for k in killers if k != failed)]
        return Tried(failed is not None, failed or "", len(tests), round(time.perf_counter() - start, 2))

    def _exchanged(self, mutant: mutating.Mutant, tests: list[str], limit: float) -> str | None:
        """The first test that fails with the function's code exchanged; None where all pass."""
        code = compile(mutating.changed(self.root, mutant), str(self.root / mutant.module), "exec")
        new = {(c.co_qualname, c.co_firstlineno): c for c in _codes(code)}
        functions = self._functions[mutant.module, mutant.function]

        changed = [(f, new[f.__code__.co_qualname, f.__code__.co_firstlineno]) for f in functions]
        assert changed, f"{mutant.module} has no function {mutant.function} in this process"

        def run() -> str:
            for function, body in changed:
                function.__code__ = body
            return next((name for name in tests if not self._passes(name)), "")

        told = _forked(run, limit)
        return "ran out of time" if told is None else told or None

    def _written(self, mutant: mutating.Mutant, tests: list[str], limit: float) -> str | None:
        """The same for a change outside of functions: the module is written anew, and restored."""
        file = self.root / mutant.module
        original = file.read_bytes()
        try:
            file.write_text(ast.unparse(mutating.changed(self.root, mutant)), encoding="utf-8")
            command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
            done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=PATIENCE * limit, check=False)
        except subprocess.TimeoutExpired:
            return "ran out of time"
        finally:
            file.write_bytes(original)
        if done.returncode == 0:
            return None
        failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return failed[0] if failed else "the module cannot be imported"


def _outermost(qualname: str) -> str:
    """The function at the top of a nested one: `f.<locals>.g` runs inside `f`."""
    return qualname.partition(".<locals>")[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _functions(root: Path) -> dict[tuple[str, str], list[FunctionType]]:
    """The functions of the package that exist in this process, by module and name."""
    package = importlib.import_module("dpest")
    assert Path(str(package.__file__)).is_relative_to(root), package.__file__
    for found in pkgutil.walk_packages(package.__path__, "dpest."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    home, out = str(root / "dpest") + os.sep, {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(home):
            code = thing.__code__
            out.setdefault((os.path.relpath(code.co_filename, root), code.co_qualname), []).append(thing)
    return out


def _forked(do: Callable[[], Any], limit: float, patience: float = PATIENCE) -> Any:
    """What a function returns in a fork of this process; None where it takes too long or ends badly."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            os.close(reader)
            _limited(limit)
            text = json.dumps(do()).encode()
            while text:
                text = text[os.write(writer, text) :]
        finally:
            os._exit(0)
    os.close(writer)
    parts, end = [], time.perf_counter() + patience * limit
    while select.select([reader], [], [], max(0.0, end - time.perf_counter()))[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(reader)
    _ended(child)
    try:
        return json.loads(b"".join(parts))
    except ValueError:
        return None


def _limited(seconds: float) -> None:
    """Bounds this process in time and memory."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    spent = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(spent.ru_utime + spent.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _ended(child: int) -> None:
    """Ends a fork and what it started."""
    for _ in range(20):
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
