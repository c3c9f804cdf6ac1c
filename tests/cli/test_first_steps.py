"""What a newcomer meets in the first minutes: help without a command, and mistakes in the first questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpest
from dpest.cli.main import main
from dpest.errors import InvalidInput, InvalidPair, UnknownName


def count(data: list[float], eps: float) -> float:
    return sum(data) + dpest.laplace(1 / eps)


def test_no_command_shows_the_help_as_it_is_laid_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "\n  estimate" in shown.out


def test_a_parameter_that_was_forgotten_is_named() -> None:
    with pytest.raises(InvalidInput, match="needs eps: give it as a keyword of the question, eps=...") as refusal:
        dpest.estimate(count, n=2)  # type: ignore[arg-type]
    assert "--param eps=..." in str(refusal.value)
    with pytest.raises(InvalidInput, match='did you mean "eps"'):
        dpest.estimate(count, n=2, epsilon=1.0)  # type: ignore[arg-type]


def test_an_adjacency_of_proofs_leads_to_prove() -> None:
    with pytest.raises(UnknownName, match=r"dpest\.prove\(mechanism, n=2, adjacency='add_remove'\)"):
        dpest.estimate(count, n=2, adjacency="add_remove", eps=1.0)
    with pytest.raises(UnknownName, match='did you mean "linf"'):
        dpest.estimate(count, n=2, adjacency="Linf", eps=1.0)


@pytest.mark.parametrize(("given", "words"), [("SVT1", "dpest.algorithms.svt1"), (3.5, "give the function itself")])
def test_what_is_no_function(given: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        dpest.estimate(given, n=2)  # type: ignore[arg-type]


def test_the_method_speaks_of_shared_noise_where_there_is_some() -> None:
    alone = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1), method="exact")
    assert "shared noise" not in alone.reason
    together = dpest.estimate(lambda x: (x + (z := dpest.laplace(1)) > 0, z > 1), (0, 1), method="exact")
    assert "shared noise is integrated out" in together.reason


def test_explain_says_the_method_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("import dpest\ndef count(x):\n    return sum(x) + dpest.laplace(1)\n")
    assert main(["explain", f"{tmp_path / 'mine.py'}:count", "-n", "2"]) == 0
    assert "method exact: 1 path" in capsys.readouterr().out


def test_a_seed_that_everybody_knows_is_one_note() -> None:
    notes = dpest.estimate(lambda x: x + np.random.default_rng(0).laplace(), (0, 1)).notes
    assert sum("noise that everybody knows" in note for note in notes) == 1
    assert not any("made no draw" in note for note in notes)


def test_a_tuple_is_one_pair_and_a_list_holds_several() -> None:
    with pytest.raises(InvalidPair, match="one pair is a tuple"):
        dpest.estimate(count, [[1, 1, 1], [2, 1, 1]], eps=1.0)
    assert len(dpest.estimate(count, [([1], [2]), ([1], [0])], eps=1.0).pairs) == 2
    assert len(dpest.estimate(lambda x: x + dpest.laplace(1), [[0, 1], [1, 2]]).pairs) == 2
