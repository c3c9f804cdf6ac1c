"""No hidden state: frozen values are not written to, and nothing of a graph outlives its question."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dpest
from dpest.lang.logic import compared
from dpest.lang.nodes import moved
from dpest.trace.literal import smooth_literal
from dpest.trace.resolve import plain_options

ROOT = Path(__file__).parents[2]


def sparse(queries: list[float]) -> Any:
    threshold = 0.5 + dpest.laplace(2)
    for i, q in enumerate(queries):
        if q + dpest.laplace(4) >= threshold:
            return i
    return None


def test_no_module_writes_into_the_dict_of_a_value() -> None:
    writes = re.compile(r"\.__dict__\[[^\]]*\] *=[^=]|object\.__setattr__\(")
    found = [p for p in (ROOT / "dpest").rglob("*.py") if writes.search(p.read_text())]
    assert found == []


def test_nothing_of_a_graph_is_kept_after_the_answer() -> None:
    for method in ("exact", "sampling"):
        dpest.estimate(sparse, ([0, 1, 1], [1, 0, 0]), method=method, samples=2000, seed=1)
        assert [f.cache_info().currsize for f in (moved, compared, smooth_literal, plain_options)] == [0, 0, 0, 0]
