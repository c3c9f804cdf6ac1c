"""What a clumsy newcomer types, and mechanisms that misbehave: one sentence that helps, exit status 2, no traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpest.cli import main

MINE = '''
import os, sys, time
import dpest

def noisy(x, eps=1.0):
    return x + dpest.laplace(1 / eps)

def forever(x):
    while True:
        pass

def forever_random(x):
    while dpest.bernoulli(1) == 1:
        pass

def sleeps(x):
    time.sleep(100)

def asks(x):
    return x + float(input())

def no_return(x):
    x + dpest.laplace(1)

def too_small(x):
    assert x > 5, "x must be large"

def no_key(x):
    return {}["missing"]

def no_shape(x):
    return x.shape

def no_memory(x):
    raise MemoryError

def foreign(x):
    raise ValueError("größer als ∞")

def talks(x):
    raise ValueError("very " * 2000)

def verse(x):
    raise ValueError("line one\\nline two")

def mute(x):
    raise ValueError

def in_a_set(x):
    return {x + dpest.laplace(1)}

def complex_number(x):
    return complex(x, 1)

def older_name(x):
    return dpest.Laplace(1)

def typo(x):
    return x + dpest.laplase(1)

def wrong_keyword(x):
    return x + dpest.laplace(b=1)

def in_a_text(x):
    return "answer: " + dpest.laplace(1)

def as_text(x):
    return f"{dpest.laplace(1)}"[:4]

def reads_a_file(x):
    return open("nowhere.csv").read()

def leaves(x):
    sys.exit(1)

def leaves_at_once(x):
    os._exit(0)

def ends(x):
    return next(iter([]))

class Mechanism:
    def run(self, x):
        return x + dpest.laplace(1)
'''
FILES = {
    "mine.py": MINE,
    "tabs.py": "def f(x):\n\tif x:\n        return 1\n",
    "unclosed.py": "def f(x:\n    return (x\n",
    "script.py": "import sys\nsys.exit(0)\n",
    "down.py": 'raise RuntimeError("database is down")\n',
    "needs.py": "import no_such_module_of_mine\n",
    "with space.py": "def f(x):\n    return x\n",
}
P = "--pair 0 1"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "dir.py").mkdir()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in FILES:
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)


COMMANDS = {
    # targets
    "estimate SVT1.py": "there is no file 'SVT1.py'",
    f"estimate mine.py noisy {P}": "unexpected extra argument (noisy)",
    f"estimate noisy {P}": "write FILE.py:FUNCTION",
    f"estimate mine.py:Noisy {P}": "did you mean noisy?",
    f"estimate 'mine.py:noisy()' {P}": "did you mean noisy?",
    f"estimate mine.py/noisy {P}": "there is no file 'mine.py/noisy'",
    f"estimate mine.pyc:noisy {P}": "there is no module",
    f"estimate 'with space.py:g' {P}": "has no function 'g'; it has f",
    f"estimate https://example.org/mine.py:noisy {P}": "there is no file",
    f"estimate ../folder/nosuch.py:f {P}": "there is no file",
    f"estimate dir.py:f {P}": "'dir.py' is a folder, not a file",
    f"estimate mine.py:Mechanism {P}": "cannot be called as Mechanism(data)",
    f"estimate mine.py:Mechanism.run {P}": "run(self, x) cannot be called as run(data)",
    # files that cannot be read
    f"estimate tabs.py:f {P}": "tabs.py is not valid Python: line 3: inconsistent use of tabs",
    f"estimate unclosed.py:f {P}": "unclosed.py is not valid Python: line 2",
    f"estimate script.py:f {P}": 'put what runs a script under `if __name__ == "__main__":`',
    f"estimate down.py:f {P}": "importing down.py raised RuntimeError: database is down",
    f"estimate needs.py:f {P}": "there is no module 'no_such_module_of_mine'",
    # inputs and options
    "estimate mine.py:noisy --pair 0,1": "'--pair' requires 2 arguments",
    f"estimate mine.py:noisy {P} 2": "unexpected extra argument (2)",
    "estimate mine.py:noisy --pairs 0 1": "did you mean --pair?",
    "estimate mine.py:noisy 0 1": "unexpected extra arguments (0 1)",
    "estimate mine.py:noisy -n 3": "it must be a number",
    f"estimate mine.py:noisy {P} --timeout 0": "write --timeout 60",
    f"estimate mine.py:noisy {P} --timeout soon": "'soon' is not a valid float",
    "check SVT1 --epsilon=0,1": "'0,1' is not a valid float",
    "check SVT1 --epsilon 10%": "'10%' is not a valid float",
    "check SVT1 0.1": "unexpected extra argument (0.1)",
    "check SVT1 -e 0.1": "no option -e",
    "prove SVT1 --pair 0 1": "no option --pair",
    "help": "write dpest --help",
    "version": "write dpest --version",
    "-v": "no option -v; see dpest --help",
    "list --markdown": "no option --markdown; see dpest list --help",
    "completion": "choose from: bash, zsh, fish",
    "completion powershell": "'powershell' is not one of 'bash', 'zsh', 'fish'",
    "init mine.py": "'mine.py' is a file",
    "init .": "is not empty",
    "compare SVT1": "missing argument 'SECOND'",
    "sweep SVT1 eps": "missing argument 'VALUES...'",
    "sweep SVT1 eps a b": "needs a finite eps > 0, got eps='a'",
    "calibrate SVT1 eps": "missing option '--target'",
    "compose SVT1 -n 3 --csv --json": "write --csv or --json",
    "graph SVT1 -n 3 -o graph.png": "write -o graph.svg",
    "report --claim 0.5": "whose claim?",
    "report mine.py:noisy": "on which inputs?",
    "report SVT1 out.pdf": "no algorithm is called 'out.pdf'",
    # mechanisms that misbehave
    f"estimate mine.py:forever {P} --timeout 0.3": "there is no answer after 0.3 s",
    f"check mine.py:forever_random {P} --epsilon 1 --timeout 0.3": "there is no answer after 0.3 s",
    "prove mine.py:forever --timeout 0.3": "there is no answer after 0.3 s",
    f"audit mine.py:sleeps {P} --timeout 0.3": "there is no answer after 0.3 s",
    f"estimate mine.py:too_small {P}": "raised AssertionError: x must be large (on the input 0)",
    f"estimate mine.py:no_key {P}": "raised KeyError: 'missing'",
    f"estimate mine.py:no_shape {P}": "has no attribute 'shape'",
    f"estimate mine.py:no_memory {P}": "no_memory raised MemoryError (on the input 0)",
    f"estimate mine.py:foreign {P}": "größer als ∞",
    f"estimate mine.py:talks {P}": "characters)",
    f"audit mine.py:talks {P}": "characters)",
    f"estimate mine.py:verse {P}": "line one line two",
    f"estimate mine.py:mute {P}": "mute raised ValueError (on the input 0)",
    f"estimate mine.py:in_a_set {P}": "Compare it with each candidate",
    f"estimate mine.py:complex_number {P}": "returned complex: return numbers",
    f"estimate mine.py:older_name {P}": "has no attribute 'Laplace'",
    f"estimate mine.py:typo {P}": "has no attribute 'laplase'",
    f"estimate mine.py:wrong_keyword {P}": "unexpected keyword argument 'b'",
    f"estimate mine.py:in_a_text {P}": "it must be a number",
    f"estimate mine.py:as_text {P}": "Return the value itself",
    f"estimate mine.py:reads_a_file {P}": "No such file or directory: 'nowhere.csv'",
    f"estimate mine.py:leaves {P}": "ended the program with SystemExit(1) at mine.py",
    f"check mine.py:leaves {P} --epsilon 1": "let it return its output instead",
    f"check mine.py:leaves_at_once {P} --epsilon 1": "ended the program with os._exit(0)",
    f"estimate mine.py:ends {P}": "raised StopIteration (on the input 0)",
}


@pytest.mark.parametrize(("command", "words"), COMMANDS.items(), ids=COMMANDS)
def test_one_sentence_that_helps(command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 2
    output = capsys.readouterr()
    assert words.casefold() in output.err.casefold()
    assert output.out == ""
    assert "Traceback" not in output.err
    assert len(output.err) < 1000


def dpest(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "dpest", *arguments]


TERMINALS = {
    "latin-1, which has no ✓": {"PYTHONIOENCODING": "latin-1"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "no locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ten columns": {"COLUMNS": "10", "LINES": "2"},
    "a dumb terminal": {"TERM": "dumb"},
    "no terminal": {"TERM": ""},
}


@pytest.mark.parametrize("environment", TERMINALS.values(), ids=TERMINALS)
def test_odd_terminals_get_an_answer(environment: dict[str, str]) -> None:
    command = dpest("report", "LaplaceMechanism", "--markdown")
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"LaplaceMechanism" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize(("command", "status"), [(("list",), 0), (("estimate", "LaplaceMechanism"), 0), (("nosuch",), 2)])
def test_a_pipe_that_nobody_reads(command: tuple[str, ...], status: int) -> None:
    """As in `dpest list | head -1`, with a reader that has gone before anything is written."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(dpest(*command), stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize(("name", "status"), [("LaplaceMechanism", 0), ("NoisyHist2", 1)])
def test_the_exit_status_of_a_verdict_that_nobody_reads(name: str, status: int) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(dpest("check", name), stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == status
    assert done.stderr == b""


@pytest.mark.parametrize("command", [f"estimate mine.py:no_return {P}", f"check mine.py:no_return {P} --epsilon 1"])
def test_a_forgotten_return_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0  # nothing is released, so nothing is lost
    assert "every run returns None: is a `return` missing?" in " ".join(capsys.readouterr().out.split())


def test_input_that_is_asked_for_ends_at_once() -> None:
    command = dpest("estimate", "mine.py:asks", *P.split())
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"raised EOFError" in done.stderr
