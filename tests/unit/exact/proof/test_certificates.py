"""Certificates: what they say, their way through JSON, and that wrong ones are refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from typing import Any

import pytest

import dpest
from dpest.errors import InvalidInput, NotCovered
from dpest.exact.proof.certificate import Certificate
from tests.published import noisy_max, numerical_sparse_vector, sparse_vector


def counted(rows: Any) -> Any:
    return sum(1 for x in rows if x > 3) + dpest.laplace(2.0)


def clipped(rows: Any) -> Any:
    return sum(dpest.clip(x, 0, 1) for x in rows) + dpest.laplace(2.0)


def first_above_with_sum(queries: Any) -> Any:
    threshold = dpest.laplace(2.0)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4.0) >= threshold:
            return i, sum(queries[: i + 1]) + dpest.laplace(4.0)
    return None


def passes(queries: Any) -> Any:
    threshold = dpest.laplace(2.0)
    return sum(1 for q in queries if q + dpest.laplace(4.0) >= threshold)


QUESTIONS: list[tuple[Any, dict[str, Any]]] = [
    (sparse_vector, {"n": 4}),
    (numerical_sparse_vector, {"n": 3}),
    (noisy_max, {"n": 3}),
    (first_above_with_sum, {"n": 4}),  # shifts for each corner of the differences
    (passes, {"n": 3}),  # regions with one output, bounded together
    (counted, {"n": 2, "adjacency": "replace"}),
    (clipped, {"n": 2, "adjacency": "add_remove"}),
]


def certificate(mechanism: Any, options: dict[str, Any]) -> Certificate:
    proof = dpest.prove(mechanism, **options).proof
    assert isinstance(proof, Certificate)
    return proof


@pytest.mark.parametrize(("mechanism", "options"), QUESTIONS)
def test_a_certificate_survives_json(mechanism: Any, options: dict[str, Any]) -> None:
    proof = certificate(mechanism, options)
    assert proof.check()
    again = Certificate.from_json(proof.to_json())
    assert again.check()
    assert again.bound == proof.bound
    assert again.to_json() == proof.to_json()


def test_a_result_keeps_its_proof() -> None:
    p = dpest.prove(sparse_vector, n=3)
    again = dpest.Result.from_json(p.to_json())
    assert again.scope == p.scope == "all linf-adjacent inputs of 3 rows"
    assert again.proof is not None
    assert again.proof.check()


def test_the_words_of_a_proof() -> None:
    text = str(certificate(sparse_vector, {"n": 5}))
    assert "at most 1." in text
    assert "z1 (laplace(2)) by 1" in text
    assert "by 2" in text


def test_the_words_of_shifts_at_corners() -> None:
    proof = certificate(first_above_with_sum, {"n": 4})
    assert any(step.corners for step in proof.steps)
    text = str(proof)
    assert "15 other corners cost no more" in text
    assert "where d[x[0]] = " in text


def test_a_corner_left_out_is_refused() -> None:
    data = certificate(first_above_with_sum, {"n": 4}).to_dict()
    held = [s["corners"] for s in data["steps"] if "corners" in s]
    assert held
    held[0].pop()
    assert not Certificate.from_dict(data).check()


def _numbers(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all rationals, flags and indices in plain data."""
    if isinstance(data, dict):
        return [place for k, v in data.items() for place in _numbers(v, (*path, k))]
    if isinstance(data, list):
        return [place for k, v in enumerate(data) for place in _numbers(v, (*path, k))]
    is_rational = isinstance(data, str) and data.replace("/", "").replace("-", "").isdigit()
    return [path] if is_rational or isinstance(data, bool | int) else []


def _at(data: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        data = data[key]
    return data


def _mutated(data: dict[str, Any], rng: random.Random) -> tuple[str, dict[str, Any]]:
    out = copy.deepcopy(data)
    kind = rng.choice(["number", "number", "number", "drop row", "drop step", "drop shift", "bound"])
    if kind == "drop row":
        regions = [r for program in out["programs"] for r in program if r["rows"]]
        rows = rng.choice(regions)["rows"]
        rows.pop(rng.randrange(len(rows)))
    elif kind == "drop step":
        out["steps"].pop(rng.randrange(len(out["steps"])))
    elif kind == "drop shift":
        holders = [s["shifts"] for s in out["steps"] if s.get("shifts")] + [
            s["crossing"]["shifts"] for s in out["steps"] if s.get("crossing", {}).get("shifts")
        ]
        corners = [c for s in out["steps"] for c in (*s.get("corners", ()), *s.get("pool", {}).get("corners", ()))]
        holders += [shifts for _, shifts, _ in corners if shifts]
        shifts = rng.choice(holders)
        shifts.pop(rng.choice(list(shifts)) if isinstance(shifts, dict) else 0)
    elif kind == "bound":
        out["bound"] = rng.choice(["0", "1/3", "7", "-1"])
    else:
        place = rng.choice(_numbers(out))
        holder, key = _at(out, place), place[-1]
        old = holder[key]
        if isinstance(old, bool):
            holder[key] = not old
        elif isinstance(old, int):
            holder[key] = old + rng.choice([-1, 1])
        else:
            holder[key] = rng.choice([f"-{old}".replace("--", ""), f"{old}1", "17/13"] if old != "0" else ["1", "-1/7"])
    return kind, out


@pytest.mark.parametrize(("mechanism", "options"), QUESTIONS)
def test_a_hundred_wrong_certificates_are_refused(mechanism: Any, options: dict[str, Any]) -> None:
    data = certificate(mechanism, options).to_dict()
    text = json.dumps(data, sort_keys=True)
    rng = random.Random(5)
    refused = 0
    while refused < 100:
        try:
            kind, wrong = _mutated(data, rng)
        except IndexError:
            continue
        if json.dumps(wrong, sort_keys=True) == text:
            continue
        try:
            accepted = Certificate.from_dict(wrong).check()
        except InvalidInput:
            accepted = False
        assert not accepted, (kind, [s for s in wrong["steps"] if s not in data["steps"]])
        refused += 1


def test_what_is_not_a_certificate_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not a certificate"):
        Certificate.from_dict({"mechanism": "x"})


@pytest.mark.parametrize(("mechanism", "options"), QUESTIONS)
def test_random_runs_agree_with_the_proof(mechanism: Any, options: dict[str, Any]) -> None:
    assert certificate(mechanism, options).rerun(60) == []


def test_random_runs_find_a_region_that_is_not_the_mechanism() -> None:
    proof = certificate(sparse_vector, {"n": 3})
    regions = proof.programs[0]
    wider = dataclasses.replace(regions[0], rows=regions[0].rows[1:])
    wrong = dataclasses.replace(proof, programs=((wider, *regions[1:]),))
    assert wrong.rerun(60)
    assert not wrong.check()


def test_a_stored_certificate_cannot_be_rerun() -> None:
    proof = Certificate.from_json(certificate(noisy_max, {"n": 2}).to_json())
    with pytest.raises(NotCovered, match="does not hold the mechanism"):
        proof.rerun()
