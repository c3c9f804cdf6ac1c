"""Small things that a newcomer meets: each answer is short and says where to go on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.audit import AuditResult
from dpest.cli import main
from dpest.errors import ExactRefused, InvalidInput, MechanismRaised, NotReplayable

STORED = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1)).to_dict()


@pytest.mark.parametrize("text", ["{}", "[]", "", "no JSON", "3", "null", '{"epsilon": 1}', '{"epsilon": "one"}'])
@pytest.mark.parametrize("kind", [dpest.Result, AuditResult])
def test_what_is_not_a_stored_result_is_said_in_a_sentence(kind: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=f"this is not a stored {kind.__name__}.*from_json reads what"):
        kind.from_json(text)


@pytest.mark.parametrize("name", sorted(set(STORED) - {"scope", "proof"}))
def test_a_missing_part_is_named(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{name}' is missing"):
        dpest.Result.from_dict({k: v for k, v in STORED.items() if k != name})


def test_a_folder_called_like_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir.py").mkdir()
    for command in ("estimate dir.py:f -n 2", "estimate dir.py -n 2", "check dir.py:f -n 2 --epsilon 1"):
        assert main(command.split()) == 2
        error = capsys.readouterr().err
        assert "'dir.py' is a folder, not a file" in error
        assert "did you mean" not in error


def coin(data: int, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < (0.7 if data else 0.3)


def test_repr_is_one_line() -> None:
    audited = dpest.audit(coin, (0, 1), samples=4000, claim=0.1, seed=1)
    found = dpest.estimate(lambda x: [v + dpest.laplace(1) for v in x], n=3)
    for result, words in ((audited, "<AuditResult coin: eps >= "), (found, "<Result <lambda>: epsilon = 3 (")):
        assert repr(result).startswith(words)
        assert "\n" not in repr(result)
        assert len(repr(result)) < 160
    assert repr(audited).endswith("; claim 0.1 violated>")
    assert "7 pairs" in repr(found)


CALLS: list[int] = []


def hidden(x: float) -> float:
    CALLS.append(1)
    return x + len(CALLS)


def test_refusals_name_the_audit() -> None:
    with pytest.raises(NotReplayable, match="dpest.audit"):
        dpest.estimate(hidden, (0, 1))
    with pytest.raises(InvalidInput, match="dpest audit"):
        dpest.estimate(coin, (0, 1))
    assert dpest.estimate(lambda data, rng: data + rng.random(), (0, 1)).epsilon == math.inf  # traced as it stands


def test_a_mechanism_with_state_is_sent_to_the_audit() -> None:
    calls: list[int] = []

    def counting(x: float) -> Any:
        calls.append(1)
        return x + len(calls) + dpest.laplace(1)

    with pytest.raises(NotReplayable, match="dpest audit"):
        dpest.estimate(counting, (0, 1))


def test_an_exact_refusal_names_the_audit() -> None:
    def ratio(x: float) -> Any:
        return x + dpest.laplace(1) / dpest.laplace(1) * dpest.laplace(2) / dpest.gaussian(1)

    with pytest.raises(ExactRefused, match="dpest audit"):
        dpest.estimate(ratio, (0, 1), method="exact")


def test_an_infinite_loss_names_delta() -> None:
    text = str(dpest.estimate(lambda x: x + dpest.gaussian(1), (0, 1)))
    assert "infinite" in text
    assert "result.epsilon_at(1e-6)" in text
    assert "--delta 1e-6" in text
    assert "epsilon_at" not in str(dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1)))


def plain(x: float) -> float:
    raise ValueError("bounds must be given")


def with_rng(x: float, rng: np.random.Generator) -> float:
    raise ValueError("bounds must be given")


def keyword(x: float, random_state: Any = None) -> float:
    raise ValueError("bounds must be given")


def vectorised(x: float, size: int, rng: np.random.Generator) -> float:
    raise ValueError("bounds must be given")


@pytest.mark.parametrize("mechanism", [plain, with_rng, keyword, vectorised])
def test_an_audit_of_what_always_raises_shows_the_cause(mechanism: Any) -> None:
    with pytest.raises(MechanismRaised, match="bounds must be given") as caught:
        dpest.audit(mechanism, (0, 1), samples=1000)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_audit_has_a_card_for_notebooks() -> None:
    audited = dpest.audit(coin, (0, 1), samples=4000, claim=0.1, seed=1)
    card = audited._repr_html_()
    assert card.startswith('<div class="dpest-card">')
    for words in ("<caption>coin</caption>", "eps &gt;= ", "claim", "violated", "witness", "rests on", "<svg"):
        assert words in card
    assert [line.split()[0] for line in str(audited).splitlines()[1:3]] == ["claim", "pair"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dpest.laplace(3, 1), r"takes size by name: write laplace\(3, size=1\), or 3 \+ laplace\(1\) for numpy's"),  # type: ignore[call-arg]
        (lambda: dpest.laplace(0, 1), r"or 0 \+ laplace\(1\) for numpy's \(loc, scale\)"),  # type: ignore[call-arg]
        (lambda: dpest.integers(0, 9, 3), r"integers takes size by name: write integers\(0, 9, size=3\)$"),  # type: ignore[call-arg]
        (lambda: dpest.bernoulli(0.5, 4), r"bernoulli takes size by name: write bernoulli\(0.5, size=4\)$"),  # type: ignore[call-arg]
    ],
)
def test_a_size_by_position_is_refused_with_the_call_to_write(call: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()


def test_a_random_key_says_what_to_write() -> None:
    with pytest.raises(MechanismRaised, match=r"one of them has no entry: add it, or use \.get\(key, default\)"):
        dpest.estimate(lambda x: {0: 1}[dpest.integers(0, 1)], (0, 1))
    assert dpest.estimate(lambda x: {0: 1}.get(dpest.integers(0, 1), 7) + x * dpest.integers(0, 1), (0, 1)).method == "exact"


def test_an_infinite_loss_names_delta_once() -> None:
    text = str(dpest.estimate(lambda x: x + dpest.gaussian(1), (0, 1)))
    assert text.count("no epsilon holds at delta = 0") == 1
    assert "--delta 1e-6" in " ".join(text.split())
    assert "no pure epsilon" not in text
