"""Arguments in, text and exit status out."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpest.cli import main
from dpest.cli.main import COMMANDS
from dpest.results import Result

MINE = '''
import dpest

print("loading")

def coin(x, p=0.75):
    """A biased coin."""
    print("tossing")
    return dpest.bernoulli(p if x else 1 - p)

def above(queries, eps=0.5):
    t = dpest.laplace(2 / eps)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4 / eps) >= t:
            return i
    return None

def black_box(data, size, rng):
    return rng.random(size) < (0.75 if data else 0.25)
'''

Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def go(command: str) -> tuple[int, str, str]:
        sys.modules.pop("mine", None)
        status = main(shlex.split(command))
        output = capsys.readouterr()
        return status, output.out, output.err

    yield go
    sys.modules.pop("mine", None)


def test_estimate_of_a_function_in_a_file(run: Run) -> None:
    status, out, _ = run("estimate mine.py:coin --pair 0 1")
    assert status == 0
    assert out.startswith("coin: epsilon = 1.0986122886681")
    assert "worst pair  D = 0, D' = 1" in out


def test_estimate_on_patterns_has_a_row_for_each(run: Run) -> None:
    _, out, _ = run("estimate mine.py:above -n 3 --param eps=1.0")
    assert [name for name in ("one_above", "x_shape", "half_half") if name not in out] == []
    assert "\n*  " in out


def test_what_a_mechanism_prints_does_not_spoil_the_answer(run: Run) -> None:
    status, out, err = run("estimate mine.py:coin --pair 0 1 --json")
    assert status == 0
    assert Result.from_json(out).epsilon == pytest.approx(math.log(3))
    assert "loading" in err
    assert "tossing" not in out + err  # which a trace would say again and again


def test_parameters_reach_the_mechanism(run: Run) -> None:
    _, out, _ = run("estimate mine.py:coin --pair 0 1 --param p=0.5 --json")
    assert json.loads(out)["epsilon"] == 0


def test_built_in_algorithm_brings_its_pairs(run: Run) -> None:
    _, out, _ = run("estimate TruncatedGeometric --json")
    found = json.loads(out)
    assert found["mechanism"] == "TruncatedGeometric"
    assert found["epsilon"] == pytest.approx(math.log(9 / 8), rel=1e-12)
    assert len(found["pairs"]) == 5


def test_sampling_on_request_is_reproducible(run: Run) -> None:
    command = "estimate mine.py:coin --pair 0 1 --method sampling --samples 2000 --seed 7 --json"
    first, second = (json.loads(run(command)[1]) for _ in range(2))
    assert first["method"] == "sampling"
    assert first["samples"] is not None
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        ("check mine.py:coin --pair 0 1 --epsilon 1.1", 0, "the claim epsilon = 1.1 holds on the 1 pair checked"),
        ("check mine.py:coin --pair 0 1 --epsilon 1.0", 1, "the claim epsilon = 1 is violated"),
        ("check TruncatedGeometric", 1, "the claim epsilon = 0.1 is violated: epsilon = 0.117783035656"),
        ("check mine.py:coin --pair 0 1 --epsilon 0 --delta 0.5", 0, "the claim epsilon = 0, delta = 0.5 holds"),
        ("check mine.py:coin --pair 0 1 --epsilon 0 --delta 0.4", 1, "is violated: delta = 0.5"),
        ("check LaplaceMechanism --exact", 0, "holds on the 2 pairs checked"),
    ],
)
def test_check_speaks_through_its_exit_status(run: Run, command: str, status: int, words: str) -> None:
    found, out, _ = run(command)
    assert found == status
    assert words in out


def test_check_as_json(run: Run) -> None:
    status, out, _ = run("check SVT5 --json")
    assert status == 1
    assert json.loads(out)["verdict"]["found"] == "inf"


def test_audit_refutes_with_a_witness(run: Run) -> None:
    status, out, _ = run("audit mine.py:black_box --pair 0 1 --claim 0.5 --samples 20000 --seed 1")
    assert status == 1
    assert "violated" in out
    assert "witness" in out


def test_audit_without_a_claim(run: Run) -> None:
    status, out, _ = run("audit mine.py:black_box --pair 0 1 --samples 20000 --seed 1 --json")
    assert status == 0
    assert 0.5 < json.loads(out)["lower"] <= math.log(3)


def test_explain_names_what_is_shared(run: Run) -> None:
    _, out, _ = run("explain mine.py:above -n 3")
    assert "v1 = laplace(4)   shared by 3 values" in out
    assert "method exact" in out
    graph = json.loads(run("explain mine.py:above -n 3 --json")[1])
    assert [d["uses"] for d in graph["draws"]] == [3, 1, 1, 1]


def test_graph_is_svg(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("graph mine.py:above -n 3 -o graph.svg")
    assert (status, out) == (0, "graph.svg\n")
    svg = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert svg.count('rx="12"') == 4
    assert run("graph mine.py:above -n 3")[1] == svg


def test_list_knows_all_21(run: Run) -> None:
    assert len(json.loads(run("list --json")[1])) == 21
    assert len(run("list")[1].splitlines()) == 23


def test_report_in_every_format(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("report TruncatedGeometric --html a.html --markdown a.md --json a.json")
    assert (status, out.split()) == (0, ["a.html", "a.md", "a.json"])
    assert "<!DOCTYPE html>" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "| TruncatedGeometric | 0.1 | 0.117783035656" in (tmp_path / "a.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["entries"][0]["name"] == "TruncatedGeometric"


def test_report_of_a_mechanism_of_ones_own_on_standard_output(run: Run) -> None:
    status, out, _ = run("report mine.py:above -n 2 --markdown")
    assert status == 0
    assert "## above" in out


def test_help_names_every_command(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    assert [name for name in COMMANDS if name not in out] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    status, out, _ = run(f"{name} --help")
    assert status == 0
    assert "Usage: dpest" in out


def test_python_m_dpest_is_dpest() -> None:
    done = subprocess.run([sys.executable, "-m", "dpest", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("dpest, version ")


def test_wrong_use_of_click_is_status_2(run: Run) -> None:
    status, _, err = run("estimate")
    assert status == 2
    assert err == "dpest: missing argument 'TARGET'; see dpest estimate --help\n"


def test_prove_and_check_over_all_inputs(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("prove mine.py:above -n 4 --proof --certificate proof.json")
    assert status == 0
    assert "all linf-adjacent inputs of 4 rows, proved" in out
    assert "shift z1 (laplace(4)) by" in out
    from dpest.exact.proof.certificate import Certificate

    assert Certificate.from_json((tmp_path / "proof.json").read_text(encoding="utf-8")).check()
    assert run("check mine.py:above -n 4 --epsilon 0.5 --all-inputs")[0] == 0
    status, out, _ = run("check mine.py:above -n 4 --epsilon 0.4 --all-inputs")
    assert status == 1
    assert "violated over all linf-adjacent inputs" in out
    status, out, _ = run("prove mine.py:coin --adjacency replace --domain '[0, 1]' --json")
    assert status == 0
    assert json.loads(out)["upper"] == pytest.approx(math.log(3))


def test_prove_says_what_is_wrong(run: Run) -> None:
    status, _, error = run("prove mine.py:above -n 3 --adjacency l_1")
    assert status == 2
    assert 'did you mean "l1"' in error
