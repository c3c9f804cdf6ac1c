"""One Result for every door: the same fields, pickle, JSON whose bounds are checked, text, HTML."""

from __future__ import annotations

import json
import math
import pickle
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import InvalidInput, NotCovered
from dpest.results import Evidence

NOISE = dpest.laplace


def released(x: float) -> Any:
    return x + NOISE(1)


def coin(data: int, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < (0.75 if data else 0.25)


def answer(x: int) -> Any:
    return dpest.bernoulli(0.75 if x else 0.25)


LN3 = math.log(3)
DOORS: dict[str, tuple[Callable[[], dpest.Result], float]] = {
    "exact": (lambda: dpest.estimate(released, (0, 1)), 1.0),
    "sampled": (lambda: dpest.estimate(answer, (0, 1), method="sampling", samples=20_000, seed=1), LN3),
    "proved": (lambda: dpest.prove(lambda xs: xs[0] + NOISE(1), n=1), 1.0),
    "enumerated": (lambda: dpest.prove(lambda xs: answer(xs[0]), n=1, adjacency="replace", domain=[0, 1]), LN3),
    "audited": (lambda: dpest.audit(coin, (0, 1), samples=20_000, seed=1), LN3),
}


@cache
def asked(door: str) -> dpest.Result:
    return DOORS[door][0]()


every_door = pytest.mark.parametrize("door", DOORS)


@every_door
def test_every_door_answers_with_a_result_that_holds_the_truth(door: str) -> None:
    r, truth = asked(door), DOORS[door][1]
    assert isinstance(r, dpest.Result)
    assert r.lower - 1e-9 <= truth <= r.upper + 1e-9
    assert r.lower <= r.epsilon <= r.upper
    assert r.method in ("exact", "sampling")
    assert (r.confidence is None) == (r.evidence in (Evidence.EXACT, Evidence.CERTIFIED))
    assert r.reason
    assert r.scope
    assert isinstance(r.notes, tuple)
    assert r.pair in [p.pair for p in r.pairs]
    assert r.witness is not None
    assert isinstance(r.witness.event, str)
    assert r.witness.pair == r.pair
    assert 0 <= r.witness.left <= 1
    assert float(f"{r:.12f}") == pytest.approx(float(r), abs=1e-9)


@every_door
def test_json_reads_back_what_it_wrote_by_the_one_door(door: str) -> None:
    r = asked(door)
    again = dpest.Result.from_json(r.to_json())
    assert type(again) is type(r)
    assert again.to_json() == r.to_json()
    assert str(again) == str(r)


@every_door
@pytest.mark.parametrize(("name", "value"), [("lower", 99), ("epsilon", 99), ("upper", 0.01)])
def test_a_file_that_claims_more_than_it_shows_is_refused(door: str, name: str, value: float) -> None:
    data = json.loads(asked(door).to_json())
    forged = {**data, name: value}
    if name == "lower":  # the whole bracket is moved, so that its order alone does not give it away
        forged |= {"epsilon": 99, "upper": 100}
    if name == "epsilon" and not isinstance(data["upper"], str):
        forged["lower"] = 99
    if name == "upper":
        forged |= {"epsilon": 0.005, "lower": 0.001}
    with pytest.raises(InvalidInput):
        dpest.Result.from_dict(forged)


@pytest.mark.parametrize("door", ["sampled", "audited"])
def test_counts_decide_whatever_the_pairs_say(door: str) -> None:
    data = json.loads(asked(door).to_json())
    for part in (data, *data["pairs"]):
        part |= {"lower": 99, "epsilon": 99, "upper": "inf"}
    with pytest.raises(InvalidInput, match="the stored lower is 99"):
        dpest.Result.from_dict(data)


def test_a_sampled_bound_without_counts_is_refused() -> None:
    data = json.loads(asked("sampled").to_json())
    for part in data["pairs"]:
        part["counted"] = []
    with pytest.raises(InvalidInput, match="0.0 follows from the counts"):
        dpest.Result.from_dict(data)


def test_a_proof_for_more_than_the_stored_bound_is_refused() -> None:
    data = json.loads(asked("proved").to_json())
    weaker = {"upper": 0.5, "epsilon": 0.5, "lower": 0.5}
    with pytest.raises(InvalidInput, match="leaves out the loss of its own pairs"):
        dpest.Result.from_dict({**data, **weaker})
    with pytest.raises(InvalidInput, match="1.0 follows from its proof"):
        dpest.Result.from_dict({**data, **weaker, "pairs": []})


@every_door
def test_results_show_themselves_and_pickle(door: str) -> None:
    r = asked(door)
    assert r.mechanism in str(r)
    assert "\n" not in repr(r)
    assert r._repr_html_().startswith("<div")
    again = pickle.loads(pickle.dumps(r))
    assert again.to_json() == r.to_json()
    if door != "sampled":
        assert again.delta(0.5) == r.delta(0.5)


def test_a_mechanism_that_cannot_be_pickled_leaves_the_result_whole() -> None:
    lock = threading.Lock()

    def guarded(x: float) -> Any:
        with lock:
            return x + NOISE(1)

    again = pickle.loads(pickle.dumps(dpest.estimate(guarded, (0, 1))))
    assert again.epsilon == 1.0
    with pytest.raises(NotCovered, match="could not be pickled"):
        again.delta(0.5)


def test_an_audit_answers_about_delta_from_its_counts() -> None:
    r = asked("audited")
    truth = 0.75 - math.exp(0.5) * 0.25  # of the event that one answer is given
    found = r.delta(0.5)
    assert found.lower <= truth <= found.upper == 1.0
    at = r.epsilon_at(0.1)
    assert at.lower <= math.log((0.75 - 0.1) / 0.25) <= at.upper
    assert at.lower > 0.8
    assert r.epsilon_at(0).lower == r.lower == float(r)
    assert r.delta_witness(0.5).delta == pytest.approx(truth, abs=0.03)
    with pytest.raises(NotCovered, match=r"ask \.delta\(eps\)"):
        r.curve()
