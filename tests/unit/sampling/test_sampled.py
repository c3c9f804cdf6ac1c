from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpest
from dpest.errors import CheckpointError, InvalidInput, UnsupportedOperation
from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.results import Result
from dpest.sampling.answer import estimate_by_sampling
from dpest.sampling.gathering import Fold
from tests import mechanisms_for_sampling as known

ROOT = str(Path(__file__).parents[3])
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT}
BIT = [Pair("", 0, 1)]
X_SHAPE = [p for p in pattern_pairs(10) if p.name == "x_shape"]


def ask(mechanism: Any, pairs: Any, samples: int = 20_000, **options: Any) -> Result:
    return estimate_by_sampling(mechanism, pairs, **{"seed": 1, "executor": 1, "progress": False, **options}, samples=samples)


def numbers(result: Result) -> Any:
    plain = result.to_dict()
    del plain["seconds"]
    return plain


def test_randomised_response() -> None:
    found = ask(known.randomised_response, BIT)
    assert found.lower < math.log(3) < found.upper
    assert abs(found.epsilon - math.log(3)) < 0.1
    assert (found.method, found.confidence, found.samples, found.interrupted) == ("sampling", 0.95, 20_000, False)
    assert any("what more samples would buy" in note for note in found.notes)
    assert found.witness is not None
    assert abs(found.witness.loss - math.log(3)) < 0.2
    assert Result.from_json(found.to_json()).lower == found.lower


def test_continuous_and_mixed_come_back_finite_without_upper_bound() -> None:
    for mechanism in (known.prefix_sum, known.numerical_svt):
        found = ask(mechanism, X_SHAPE)
        assert 0 <= found.lower <= found.epsilon < math.inf
        assert found.upper == math.inf
    assert ask(known.prefix_sum, X_SHAPE).lower > 0.2


def test_svt5_is_infinite_with_a_witness() -> None:
    found = ask(known.svt5, X_SHAPE)
    assert found.epsilon == math.inf
    assert 3 < found.lower < math.inf
    assert found.witness is not None
    assert found.witness.loss == math.inf
    assert "output ==" in found.witness.event


def test_identical_inputs_lose_nothing() -> None:
    for mechanism in (known.svt1, known.prefix_sum):
        found = ask(mechanism, [Pair("", [1.0, 1.0], [1.0, 1.0])])
        assert found.lower == found.epsilon == 0.0


def test_a_vectorised_sampler_works_as_well() -> None:
    sampler = dpest.sampler(lambda data, size, rng: data + rng.laplace(0.0, 1.0, size))
    found = ask(sampler, BIT)
    assert 0.7 < found.lower < 1.0
    assert found.witness is not None
    assert "output <" in found.witness.event or "output >=" in found.witness.event


def test_apply_makes_it_sampling_only_but_works() -> None:
    import numpy as np

    found = ask(lambda x: dpest.apply(np.exp, x + dpest.laplace(1.0)), BIT)
    assert 0.7 < found.lower < 1.0


def test_names_and_strings_are_outcomes() -> None:
    def talk(x: int) -> Any:
        return "yes" if dpest.bernoulli(0.75 if x else 0.25) else None

    found = ask(talk, BIT)
    assert found.lower < math.log(3) < found.upper


def test_the_same_answer_on_two_workers_and_here() -> None:
    here = ask(known.svt1, X_SHAPE)
    assert numbers(ask(known.svt1, X_SHAPE, executor=2)) == numbers(here)
    assert numbers(ask(known.svt1, X_SHAPE, executor=None)) == numbers(here)
    assert numbers(ask(known.svt1, X_SHAPE, seed=2)) != numbers(here)


def test_ctrl_c_returns_the_answer_so_far() -> None:
    calls: list[int] = []

    def stop(done: int, total: int, message: str) -> None:
        calls.append(done)
        if done:
            raise KeyboardInterrupt

    found = ask(known.svt1, X_SHAPE, progress=stop)
    assert found.interrupted
    assert found.samples == calls[-1] == 5000
    assert any("stopped early" in note for note in found.notes)


def test_a_checkpoint_resumes_to_the_bit(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    whole = ask(known.prefix_sum, X_SHAPE)

    def stop(done: int, total: int, message: str) -> None:
        if done >= total // 2:
            raise KeyboardInterrupt

    assert ask(known.prefix_sum, X_SHAPE, checkpoint=store, progress=stop).interrupted
    assert numbers(ask(known.prefix_sum, X_SHAPE, checkpoint=store)) == numbers(whole)
    assert numbers(ask(known.prefix_sum, X_SHAPE, checkpoint=store, seed=None)) == numbers(whole)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 2}, "seed is 1 there and 2 here"),
        ({"pairs": BIT}, "pairs is"),
        ({"mechanism": known.prefix_sum}, "mechanism is"),
        ({"samples": 30_000}, "samples is 20000 there and 30000 here"),
    ],
)
def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    question: dict[str, Any] = {"mechanism": known.svt1, "pairs": X_SHAPE, "checkpoint": tmp_path / "run.db"}
    ask(**question)
    with pytest.raises(CheckpointError, match=named):
        ask(**{**question, **change})


@pytest.mark.parametrize(
    "bad",
    [
        {"samples": 10},
        {"samples": 1000.5},
        {"samples": math.inf},
        {"samples": "many"},
        {"confidence": 1.0},
        {"confidence": 95},
        {"seed": -1},
    ],
)
def test_bad_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ask(known.svt1, X_SHAPE, **bad)


SCRIPT = """
import dpest
from dpest.sampling.answer import estimate_by_sampling
from dpest.inputs.pairs import Pair

def above(queries):
    threshold = dpest.laplace(20)
    return [q + dpest.laplace(40) >= threshold for q in queries]

found = estimate_by_sampling(above, [Pair("", [1, 1, 1], [2, 0, 0])], samples=40_000, seed=3, executor=2, progress=False)
print(found.lower, found.epsilon, found.upper)
"""


def test_a_mechanism_in_a_script_without_a_main_guard_works_on_two_workers(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=True)
    lower, epsilon, upper = map(float, run.stdout.split())
    assert 0 <= lower <= epsilon <= upper


LONG_RUN = """
import sys
from dpest.sampling.answer import estimate_by_sampling
from dpest.inputs.pairs import pattern_pairs
from tests.mechanisms_for_sampling import svt1

def tell(done, total, message):
    print(done, flush=True)

found = estimate_by_sampling(
    svt1, pattern_pairs(10), samples=400_000, seed=5, executor=int(sys.argv[2]), checkpoint=sys.argv[1], progress=tell
)
print("answer", found.to_dict()["lower"], found.epsilon, found.upper, found.witness)
"""


def long_run(store: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LONG_RUN, str(store), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT)


def killed_and_resumed(store: Path, kill_after: list[int], workers: int) -> str:
    """Kill the run each time it has told so many chunks, then let it end."""
    for lines in kill_after:
        process = long_run(store, workers)
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    return long_run(store, workers).communicate()[0].splitlines()[-1]


def test_a_run_that_was_killed_and_resumed_ends_with_the_same_answer(tmp_path: Path) -> None:
    whole = killed_and_resumed(tmp_path / "whole.db", [], 1)
    assert whole.startswith("answer")
    assert killed_and_resumed(tmp_path / "killed.db", [2, 5], 1) == whole


INTERRUPTED = """
import os, signal, sys
from dpest.sampling.answer import estimate_by_sampling
from dpest.inputs.pairs import pattern_pairs
from tests.mechanisms_for_sampling import svt1

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background inherits an ignored one

def interrupt(done, total, message):
    if done:
        os.killpg(0, signal.SIGINT)

found = estimate_by_sampling(svt1, pattern_pairs(10), samples=400_000, seed=5, executor=int(sys.argv[1]), progress=interrupt)
print(found.interrupted, 0 < found.samples < 400_000, 0 <= found.lower <= found.epsilon <= found.upper)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_to_the_whole_process_group_returns_the_answer_so_far(workers: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(workers)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        start_new_session=True,
        timeout=120,
        check=True,
    )
    assert run.stdout.split() == ["True", "True", "True"]
    assert "Traceback" not in run.stderr


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    whole = killed_and_resumed(tmp_path / "whole.db", [], 1)
    for i in range(20):
        assert killed_and_resumed(tmp_path / f"{i}.db", [1 + i % 13], 1 + i % 2) == whole


def test_a_run_that_is_stopped_early_has_a_bound_from_what_was_counted() -> None:
    def stop(done: int, total: int, message: str) -> None:
        if done > total // 5:
            raise KeyboardInterrupt

    found = estimate_by_sampling(known.svt1, [pattern_pairs(10)[2]], samples=1_000_000, seed=3, executor=1, progress=stop)
    assert found.interrupted
    assert found.samples is not None
    assert found.samples < 300_000
    assert found.lower > 0


@pytest.mark.parametrize("chunks", [4, 10, 191])
def test_the_chunks_that_choose_are_spread_evenly(chunks: int) -> None:
    fold = Fold(max(1, round(0.3 * chunks)), chunks)
    chosen = [fold.chooses(index) for index in range(chunks)]
    assert chosen[0]
    assert not chosen[1]
    assert sum(chosen) == fold.choosing


def matched(x: int) -> int:
    match random.random() < 0.6:
        case True:
            return x
        case _:
            return 1 - x


def asked(x: int) -> int:
    return x if (dpest.uniform(0.0, 1.0) < 0.6) is True else 1 - x


@pytest.mark.parametrize("mechanism", [matched, asked])
def test_identity_of_random_truth_values_is_refused(mechanism: Any) -> None:
    """As by an exact answer: no stand-in is True, so that the rows of a trace would be those of another program."""
    with pytest.raises(UnsupportedOperation, match="is True"):
        dpest.estimate(mechanism, (0, 1), method="sampling", samples=1000, seed=1, progress=False)


def test_an_audit_runs_such_a_program_on_plain_numbers_or_refuses() -> None:
    """Rung: closed form."""
    found = dpest.audit(matched, (0, 1), samples=2000, seed=1, progress=False)
    assert 0.2 < found.lower <= math.log(0.6 / 0.4)
    with pytest.raises(UnsupportedOperation, match="is True"):
        dpest.audit(asked, (0, 1), samples=1000, seed=1, progress=False)
