"""A table of mistakes on the command line: each is answered in a sentence, with exit status 2 and no traceback."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from dpest.cli import main

MINE = """
import math
import random, uuid
import numpy as np
import dpest

NUMBER = 3

def noisy(x, eps=1.0):
    return x + dpest.laplace(1 / eps)

def noisy_list(values, eps=1.0):
    return [v + dpest.laplace(1 / eps) for v in values]

def nothing():
    return 1

def two(x, y):
    return x + y

def raises(x):
    raise ValueError("wrong bounds")

def deep(x):
    return deep(x)

def returns_object(x):
    return object()

def returns_function(x):
    return noisy

def text(x):
    return str(dpest.laplace(1))[0]

def gamma(x):
    return math.gamma(dpest.laplace(1))

def system_noise(x):
    return x + uuid.uuid4().bytes[0]

def positional_size(x):
    return x + dpest.laplace(0, 1)

def negative_scale(x):
    return x + dpest.laplace(-1)

def zero_scale(x):
    return x + dpest.laplace(0)

def wrong_p(x):
    return dpest.bernoulli(1.5)

def as_index(x):
    return [1, 2][dpest.laplace(1)]

def as_key(x):
    return {0: 1}[dpest.integers(0, 1)]

def as_range(x):
    return [0 for _ in range(dpest.laplace(3))]

def as_character(x):
    return chr(dpest.laplace(1))

def no_generator(data, size, rng):
    return rng.random(size)

def a_generator(x):
    yield x + dpest.laplace(1)

async def coroutine(x):
    return x + dpest.laplace(1)

class Class:
    pass
"""
BROKEN = "def f(x)\n    return x\n"
IMPORTS = "import no_such_module_at_all\n"
RAISES = "1 / 0\n"
EMPTY = ""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"mine.py": MINE, "broken.py": BROKEN, "imports.py": IMPORTS, "raises.py": RAISES, "empty.py": EMPTY}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("mine", "broken", "imports", "raises", "empty", "bytes"):
        monkeypatch.delitem(sys.modules, name, raising=False)


P = "--pair 0 1"
COMMANDS = f"""
estimate
estimate SVT
estimate svt_1
estimate ''
estimate ' '
estimate :
estimate mine.py:
estimate :noisy
estimate mine.py
estimate mine
estimate mine:nosuch {P}
estimate mine.py::noisy {P}
estimate mine.noisy {P}
estimate mine.py:NUMBER {P}
estimate mine.py:Class {P}
estimate mine.py:noisy.inner {P}
estimate mine.py:nothing {P}
estimate mine.py:two {P}
estimate mine.py:raises {P}
estimate mine.py:deep {P}
estimate mine.py:returns_object {P}
estimate mine.py:returns_function {P}
estimate mine.py:text {P}
estimate mine.py:gamma {P}
estimate mine.py:system_noise {P}
estimate mine.py:positional_size {P}
estimate mine.py:negative_scale {P}
estimate mine.py:zero_scale {P}
estimate mine.py:wrong_p {P}
estimate mine.py:as_index {P}
estimate mine.py:as_key {P}
estimate mine.py:as_range {P}
estimate mine.py:as_character {P}
estimate mine.py:no_generator {P}
estimate mine.py:a_generator {P}
estimate mine.py:coroutine {P}
estimate broken.py:f {P}
estimate imports.py:f {P}
estimate raises.py:f {P}
estimate empty.py:f {P}
estimate empty.py
estimate bytes.py:f {P}
estimate folder:f {P}
estimate folder/:f {P}
estimate notes.txt:f {P}
estimate no/such/file.py:f {P}
estimate no.such.package:f {P}
estimate os:getcwd {P}
estimate math:pi {P}
estimate mine.py:noisy
estimate mine.py:noisy --pair 1
estimate mine.py:noisy --pair
estimate mine.py:noisy --pair one two
estimate mine.py:noisy --pair '[1' '[2'
estimate mine.py:noisy --pair '[1]' '[2]'
estimate mine.py:noisy --pair 1 '[1]'
estimate mine.py:noisy --pair 1 inf
estimate mine.py:noisy --pair nan 1
estimate mine.py:noisy --pair None 1
estimate mine.py:noisy_list --pair '[1, 2]' '1'
estimate mine.py:noisy_list --pair 1 2
estimate mine.py:noisy_list -n 0
estimate mine.py:noisy_list -n -1
estimate mine.py:noisy_list -n 2.5
estimate mine.py:noisy_list -n two
estimate mine.py:noisy_list -n
estimate mine.py:noisy_list -n 2 {P}
estimate mine.py:noisy_list -n 2 --adjacency l2
estimate mine.py:noisy_list -n 2 --adjacency
estimate mine.py:noisy {P} --param eps
estimate mine.py:noisy {P} --param eps=0
estimate mine.py:noisy {P} --param eps=-1
estimate mine.py:noisy {P} --param eps=abc
estimate mine.py:noisy {P} --param eps=nan
estimate mine.py:noisy {P} --param =1
estimate mine.py:noisy {P} --param 1=1
estimate mine.py:noisy {P} --param x=1
estimate mine.py:noisy {P} --param epsilon=1
estimate mine.py:noisy {P} --epsilon 1
estimate mine.py:noisy {P} --eps 1
estimate mine.py:noisy {P} --method magic
estimate mine.py:noisy {P} --method sampling --samples 0
estimate mine.py:noisy {P} --method sampling --samples -5
estimate mine.py:noisy {P} --method sampling --samples many
estimate mine.py:noisy {P} --method sampling --samples 1e6
estimate mine.py:noisy {P} --method sampling --confidence 0
estimate mine.py:noisy {P} --method sampling --confidence 1
estimate mine.py:noisy {P} --method sampling --confidence 95
estimate mine.py:noisy {P} --method sampling --seed -1
estimate mine.py:noisy {P} --method sampling --seed x
estimate mine.py:noisy {P} --method sampling --workers 0
estimate mine.py:noisy {P} --method sampling --workers -2
estimate mine.py:noisy {P} --method sampling --checkpoint no/such/folder/file
estimate mine.py:noisy {P} --method sampling --checkpoint folder
estimate mine.py:noisy {P} extra
estimate mine.py:noisy {P} --json=yes
estimate SVT1 --param c=0
estimate SVT1 --param nosuch=1
estimate SVT1 -n 0
estimate SVT1 --pair 1 2
check
check mine.py:noisy {P}
check mine.py:noisy {P} --epsilon
check mine.py:noisy {P} --epsilon one
check mine.py:noisy {P} --epsilon -1
check mine.py:noisy {P} --epsilon nan
check mine.py:noisy {P} --epsilon 1 --delta 2
check mine.py:noisy {P} --epsilon 1 --delta -0.1
check mine.py:noisy {P} --epsilon 1 --delta nan
check mine.py:noisy --epsilon 1
check mine.py:system_noise {P} --epsilon 1
check mine.py:raises {P} --epsilon 1
check mine.py:noisy {P} --claim 1
check SVT1 --param eps=2
check SVT1 --epsilon 0.1 --delta 5
check nosuch --epsilon 1
check mine.py:noisy_list --all-inputs --epsilon 1 -n 0
check mine.py:noisy_list --all-inputs --epsilon 1 -n 2 --adjacency near
prove
prove nosuch
prove mine.py:noisy_list -n 0
prove mine.py:noisy_list -n x
prove mine.py:noisy_list -n 2 --adjacency near
prove mine.py:noisy_list -n 2 --sensitivity 0
prove mine.py:noisy_list -n 2 --sensitivity -1
prove mine.py:noisy_list -n 2 --sensitivity nan
prove mine.py:noisy_list -n 2 --domain '[]'
prove mine.py:noisy_list -n 2 --domain nonsense
prove mine.py:noisy_list -n 2 --domain '(1, 0)'
prove mine.py:noisy_list -n 2 --domain '['
prove mine.py:noisy_list -n 2 --param nosuch=1
prove mine.py:noisy_list -n 2 --certificate no/such/folder/c.json
prove mine.py:noisy_list
prove mine.py:raises
prove mine.py:system_noise
audit
audit nosuch
audit mine.py:noisy
audit mine.py:noisy {P} --claim x
audit mine.py:noisy {P} --claim -1
audit mine.py:noisy {P} --claim nan
audit mine.py:noisy {P} --delta 2 --claim 1
audit mine.py:noisy {P} --attack magic
audit mine.py:noisy {P} --features magic
audit mine.py:noisy {P} --samples 0
audit mine.py:noisy {P} --samples -1
audit mine.py:noisy {P} --confidence 1.5
audit mine.py:noisy {P} --epsilon 1
audit mine.py:raises {P}
audit mine.py:two {P}
audit mine.py:nothing {P}
audit mine.py:returns_object {P} --samples 1000
audit mine.py:noisy_list -n 2 --adjacency near
compose
compose nosuch
compose mine.py:noisy
compose mine.py:noisy {P} --steps 0
compose mine.py:noisy {P} --steps -1
compose mine.py:noisy {P} --steps many
compose mine.py:noisy {P} --delta 2
compose mine.py:noisy {P} --delta -1
compose mine.py:noisy {P} --delta nan
compose mine.py:noisy {P} --epsilon -1
compose mine.py:noisy {P} --epsilon nan
compose mine.py:noisy {P} --tolerance 0
compose mine.py:noisy {P} --tolerance -1
compose mine.py:noisy {P} --tolerance nan
compose mine.py:system_noise {P}
explain
explain nosuch
explain mine.py:noisy
explain mine.py:raises {P}
graph
graph nosuch
graph SVT1 -o no/such/folder/graph.svg
graph SVT1 -o folder
graph mine.py:noisy
report nosuch --html out.html
report SVT1 --html no/such/folder/out.html
report SVT1 --html folder
list nosuch
nosuch
Estimate SVT1
--nosuch
-x
""".strip().splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_on_the_command_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(shlex.split(command))
    output = capsys.readouterr()
    assert status == 2, output
    assert "Traceback" not in output.err
    assert "there is no answer" not in output.err, output.err
    assert output.out == ""
    said = output.err.strip()
    assert said
    assert len(said) < 1000, said
