"""Which values share noise, in words and as a picture."""

from __future__ import annotations

from typing import Any

import dpest
from dpest.report.dependence import dependence_text, traced
from dpest.report.graph_svg import graph_svg


def above(queries: list[float]) -> Any:
    t = dpest.laplace(2)
    for q in queries:
        noisy = q + dpest.laplace(4)
        if noisy >= t:
            return noisy
    return None


def test_shared_draws_are_counted() -> None:
    found = traced(above, [1.0, 0.0], {})
    assert [(d.name, d.law, d.uses) for d in found.draws] == [
        ("v1", "laplace(2)", 2),
        ("v2", "laplace(4)", 1),
        ("v3", "laplace(4)", 2),
    ]
    assert found.paths == 3
    assert [c.text for c in found.conditions] == ["v1 >= v2 + 1", "v3 >= v1"]
    assert [o.text for o in found.outputs] == ["output = v3"]


def test_text_says_who_shares() -> None:
    assert "v1 = laplace(2)   shared by 2 values" in dependence_text(traced(above, [1.0, 0.0], {}))


def test_constant_output_is_one_value() -> None:
    found = traced(lambda x: [1 if dpest.laplace(1) > x else 0, None], 0.5, {})
    assert [o.text.split(" = ")[0] for o in found.outputs] == ["output"]


def test_every_box_and_arrow_is_drawn() -> None:
    svg = graph_svg(traced(above, [1.0, 0.0], {}), "above & co")
    assert svg.count("<rect") == 1 + 3 + 2 + 1
    assert svg.count("<path") == 2 * 2 + 1 + 2
    assert "<title>above &amp; co</title>" in svg


def test_long_columns_are_cut_short() -> None:
    svg = graph_svg(traced(lambda x: [v + dpest.laplace(1) for v in x], [0.0] * 40, {}), "many")
    assert "… 25 more …" in svg
