"""compare, sweep, calibrate, init, completion; colour, time limits and ways out."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpest.cli import main
from dpest.cli.completing import complete_target
from dpest.cli.main import cli

MINE = """
import os
import dpest

def noisy(x, scale=2.0):
    return x + dpest.laplace(scale)

def louder(x, scale=4.0):
    return x + dpest.laplace(scale)

def gone(x):
    os._exit(0)

def gone_later(x):
    if dpest.bernoulli(0.5):
        os._exit(0)
    return x

def endless(x):
    rounds = 0
    while dpest.bernoulli(0.999):
        rounds += 1 + rounds % 3
    return x + rounds
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own", raising=False)
    return tmp_path


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(command.split())
    said = capsys.readouterr()
    return code, said.out, said.err


def test_compare_says_which_loses_more(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("compare own.py:noisy own.py:louder --pair 0 1 --delta 0.1", capsys)
    assert code == 0
    assert "noisy loses more on these pairs, 2 times as much" in out
    assert "louder at delta 0.1: epsilon =" in out


def test_compare_uses_the_inputs_of_a_built_in_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("compare NoisyHist1 NoisyHist2 --all-inputs --json", capsys)
    found = json.loads(out)
    assert code == 0
    assert [r["epsilon"] for r in found["results"]] == pytest.approx([0.1, 10])
    assert [r["upper"] for r in found["all_inputs"]] == pytest.approx([0.1, 10])


def test_compares_over_the_domain_that_algorithms_bring(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("compare OneTimeRAPPOR RAPPOR --all-inputs", capsys)
    assert code == 0
    assert "OneTimeRAPPOR loses more over all replace-adjacent inputs of 1 row from a domain of 12 values" in out


def test_compare_of_equals(capsys: pytest.CaptureFixture[str]) -> None:
    assert "lose the same on these pairs" in run("compare own.py:noisy own.py:noisy --pair 0 1", capsys)[1]


def test_sweep_over_all_inputs_and_on_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("sweep LaplaceMechanism eps 0.5 1 2", capsys)
    assert code == 0
    assert "linear: 1 times eps" in out
    code, out, _ = run("sweep own.py:noisy scale 1 2 --pair 0 1 --delta 0.1 --json", capsys)
    found = json.loads(out)
    assert [row[1]["epsilon"] for row in found["rows"]] == pytest.approx([1.0, 0.5])
    assert len(found["at_delta"]["epsilon"]) == 2


def test_sweep_over_the_number_of_rows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("sweep SVT1 n 1 2", capsys)
    assert code == 0
    assert out.split()[5:6] == ["0.025"]  # eps / 4: no threshold to beat but the query's own noise


def test_a_delta_over_all_inputs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "normal.py").write_text("import dpest\ndef g(x, sigma):\n    return x + dpest.gaussian(sigma)\n", encoding="utf-8")
    code, out, _ = run("sweep normal.py:g sigma 1 --delta 1e-5", capsys)
    assert code == 0
    assert "sigma = 1 at delta 1e-05: epsilon = 4.3771" in out  # as for one pair: the curve of Gaussian noise
    code, out, _ = run("prove normal.py:g --param sigma=1 --delta 1e-5", capsys)
    assert code == 0
    assert "at delta 1e-05: epsilon = 4.3771" in out


def test_calibrate(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("calibrate own.py:noisy scale --target 0.5 --json", capsys)
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(2.0, rel=1e-5)
    assert "meets the target" in run("calibrate own.py:noisy scale --target 0.5", capsys)[1]


def test_report_of_an_own_mechanism_with_its_claim(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "rows.py").write_text("import dpest\ndef first(x):\n    return x[0] + dpest.laplace(1)\n", encoding="utf-8")
    code, out, _ = run("report rows.py:first -n 2 --claim 1 --json", capsys)
    (found,) = json.loads(out)["entries"]
    assert code == 0
    assert (found["verdict"]["outcome"], found["verdict_over"], found["claim"]) == ("holds", "all inputs", 1.0)
    assert found["all_inputs"]["upper"] == pytest.approx(1.0)
    assert "def first(x):" in found["code"]
    (other,) = json.loads(run("report own.py:noisy --pair 0 1 --claim 0.1 --json", capsys)[1])["entries"]
    assert (other["verdict"]["outcome"], other["all_inputs"]) == ("violated", None)
    code, _, err = run("report own.py:noisy --pair 0 1 --delta 0.1 --json", capsys)
    assert (code, err) == (2, "dpest: a claimed delta goes with an epsilon: write --claim 1 --delta 1e-5\n")


def test_init_writes_an_example_that_works_and_never_overwrites(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init first", capsys)[0] == 0
    assert sorted(p.name for p in (here / "first").iterdir()) == ["mechanism.py", "test_mechanism.py"]
    assert run("check first/mechanism.py:above_threshold -n 3 --epsilon 1 --all-inputs", capsys)[0] == 0
    (here / "first" / "test_mechanism.py").unlink()
    (here / "first" / "mechanism.py").write_text("mine", encoding="utf-8")
    code, _, err = run("init first", capsys)
    said = "dpest: first is not empty (it has mechanism.py): write dpest init NEW_FOLDER; nothing was written\n"
    assert (code, err) == (2, said)
    assert (here / "first" / "mechanism.py").read_text(encoding="utf-8") == "mine"
    assert not (here / "first" / "test_mechanism.py").exists()
    assert run("init", capsys)[0] == 2  # own.py is here


def test_the_example_of_init_passes_its_own_test(here: Path) -> None:
    main(["init", "fresh"])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=prepend", "--rootdir", "."]
    done = subprocess.run(command, cwd=here / "fresh", capture_output=True, text=True, timeout=120, check=False)
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    ("start", "found"),
    [("SVT", "SVT1"), ("svt3", "SVT34Parallel"), ("ow", "own.py:"), ("own.py:lo", "own.py:louder"), ("./o", "./own.py:")],
)
def test_tab_completes_algorithms_files_and_functions(start: str, found: str) -> None:
    ctx = cli.make_context("dpest", ["list"])
    assert found in [item.value for item in complete_target(ctx, cli.params[0], start)]


def test_tab_does_not_run_the_file(here: Path) -> None:
    (here / "loud.py").write_text("raise SystemExit\ndef f(x): return x\n", encoding="utf-8")
    ctx = cli.make_context("dpest", ["list"])
    assert [item.value for item in complete_target(ctx, cli.params[0], "loud.py:")] == ["loud.py:f"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_dpest(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(f"completion {shell}", capsys)
    assert code == 0
    assert "_DPEST_COMPLETE" in out


def test_a_shell_gets_its_completions() -> None:
    asked = {**os.environ, "_DPEST_COMPLETE": "bash_complete", "COMP_WORDS": "dpest estimate SVT3", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-m", "dpest"], env=asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["plain,SVT3", "plain,SVT34Parallel"]


def on_terminal(*command: str, **environment: str) -> str:
    """What a program writes to a terminal."""
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | environment
    process = subprocess.Popen([sys.executable, "-m", "dpest", *command], stdout=slave, stderr=slave, env=env)
    os.close(slave)
    text = b""
    try:
        while chunk := os.read(master, 4096):
            text += chunk
    except OSError:  # how a terminal says that nobody writes any more
        pass
    process.wait()
    os.close(master)
    return text.decode()


def test_colour_on_a_terminal_and_none_with_no_color() -> None:
    claim = ("check", "LaplaceMechanism", "--epsilon", "0.01")
    assert "\x1b[31m" in on_terminal(*claim)
    assert not re.search(r"\x1b\[[\d;]*m", on_terminal(*claim, NO_COLOR="1"))  # a sign of life may erase its own line
    piped = subprocess.run([sys.executable, "-m", "dpest", *claim], capture_output=True, text=True, timeout=60, check=False)
    assert "\x1b[" not in piped.stdout + piped.stderr


@pytest.mark.parametrize("name", ["gone", "gone_later"])
@pytest.mark.parametrize("command", ["check", "audit", "estimate"])
def test_os_exit_cannot_make_a_check_green(name: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    claim = {"check": "--epsilon 1", "audit": "--claim 1 --samples 1000", "estimate": ""}[command]
    code, _, err = run(f"{command} own.py:{name} --pair 0 1 {claim}", capsys)
    assert code == 2
    assert "os._exit(0)" in err
    assert "Traceback" not in err


def test_a_time_limit_ends_exact_work(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    code, _, err = run("estimate own.py:endless --pair 0 1 --method exact --timeout 0.3", capsys)
    assert (code, err) == (2, "dpest: there is no answer after 0.3 s\n")
    assert time.monotonic() - start < 20


def test_a_time_limit_is_a_positive_number(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("estimate SVT1 --timeout 0", capsys)
    assert (code, err) == (2, "dpest: a time limit is a positive number of seconds, got 0: write --timeout 60\n")


def test_an_interrupted_estimate_exits_with_130() -> None:
    options = ["LaplaceMechanism", "--method", "sampling", "--samples", "20000000000"]
    # A test run in the background inherits an ignored Ctrl-C, and so would what it starts.
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    run = "from dpest.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", f"{start}; {run}", "estimate", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "samples" in process.stderr.readline()  # the first sign of progress
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "this is the answer so far" in err
    assert "epsilon" in out
    assert "Traceback" not in err
