"""Reports: the data first; of the HTML only what every reader relies on."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

import dpest
from dpest.report.build import entry
from dpest.report.data import OutputTable
from dpest.report.document import (
    count_text,
    everywhere_text,
    report_json,
    report_markdown,
    summary_header,
    summary_row,
    verdict_words,
)
from dpest.report.html import pair_rows, report_html
from dpest.report.notebook import result_html
from dpest.report.plots import chosen_rows, log_ratio
from dpest.report.source import source_text
from dpest.results import Result
from tests.unit.report.samples import report, result, several_pairs

VOID = {"meta", "link", "br", "img", "hr", "input", "col", "path", "use", "rect"}


class Page(HTMLParser):
    """The elements of a page, and whether they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.found if name == tag]


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(report())


def test_summary_rows_are_what_the_table_shows() -> None:
    assert [summary_row(e)[:5] for e in report().entries] == [
        ("coin", "1", "0.69314718055995", "–", "✓ holds on the pairs"),
        ("<leak> & co", "1", "infinite", "–", "✗ violated"),
    ]
    assert summary_header(report())[2:4] == ("patterns", "all inputs")
    assert count_text(report()) == "2 mechanisms. Claims: 1 holds on the pairs, 1 is violated."


def proved(lower: float, upper: float, **changes: Any) -> Result:
    """What `prove` finds about the coin, between these ends."""
    return result(lower=lower, upper=upper, epsilon=upper, scope="all linf-adjacent inputs of 2 rows", **changes)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (0.1 - 1e-14, 0.1, "0.1"),
        (0.1, 0.25, "0.1 to 0.25"),
        (math.inf, math.inf, "infinite"),
        (0.7, math.inf, ">= 0.7"),
    ],
)
def test_all_inputs_stand_beside_the_pairs(lower: float, upper: float, text: str) -> None:
    assert everywhere_text(replace(report().entries[0], proved=proved(lower, upper))) == text


def test_a_proof_decides_where_the_pairs_do_not_violate() -> None:
    found = entry("m", lambda x: x + dpest.laplace(1.0), dpest.estimate(lambda x: x + dpest.laplace(1.0), (0, 1)), {}, 1.0)
    assert (verdict_words(found), found.proved) == ("✓ holds on the pairs", None)
    inputs = {"n": 2, "adjacency": "l1"}
    noisy_sum = dpest.estimate(first_of_two, n=2, adjacency="l1")
    assert verdict_words(entry("m", first_of_two, noisy_sum, {}, 1.0, 0.0, inputs)) == "✓ holds for all inputs"
    assert verdict_words(entry("m", first_of_two, noisy_sum, {}, 0.5, 0.0, inputs)) == "✗ violated"
    hidden = dpest.estimate(loud_far_out, n=1)  # the patterns do not reach the place where it leaks
    far = entry("m", loud_far_out, hidden, {}, 0.5, 0.0, {"n": 1, "adjacency": "linf"})
    assert hidden.epsilon <= 0.5
    assert verdict_words(far) == "✗ violated"


def first_of_two(x: Any) -> Any:
    """The first row, noisy."""
    return x[0] + dpest.laplace(1.0)


def loud_far_out(x: Any) -> Any:
    """Little noise for large inputs."""
    return x[0] + dpest.laplace(2.0) if x[0] < 10 else x[0] + dpest.laplace(0.5)


def test_a_proof_that_takes_too_much_work_is_left_out_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def middle(x: list[float]) -> Any:
        return sorted(x)[1] + dpest.laplace(1)

    found = dpest.estimate(middle, ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]))
    with_proof = entry("middle", middle, found, {}, inputs={"n": 3})
    assert with_proof.proved is not None
    assert with_proof.proved.lower <= 1 <= with_proof.proved.upper  # a median moves by at most as much as one number
    monkeypatch.setattr("dpest.report.build.PROOF_WORK", 50)
    without = entry("middle", middle, found, {}, inputs={"n": 3})
    assert without.proved is None
    assert without.unproved == "no proof found: it takes more than 50 steps"


def test_source_shows_the_function_and_what_it_calls_beside_it() -> None:
    from dpest.algorithms import svt1

    text = source_text(svt1)
    assert "def svt1(" in text
    assert "def sparse_vector(" in text
    assert "def laplace(" not in text  # another package's
    assert source_text(print) == ""


def test_the_worst_pair_is_marked() -> None:
    assert [row.name for row in pair_rows(several_pairs()) if row.worst] == ["x_shape"]


def test_json_holds_the_results_and_reads_back() -> None:
    data = json.loads(report_json(report()))
    assert Result.from_dict(data["entries"][0]["result"]) == result()
    assert data["entries"][1]["verdict"]["found"] == "inf"


def test_markdown_has_a_row_for_each_mechanism() -> None:
    text = report_markdown(report())
    assert "| coin | 1 | 0.69314718055995 | – | ✓ holds on the pairs | exact |" in text
    assert text.count("\n## ") == 2


def test_html_closes_every_element_and_escapes_names(html: str) -> None:
    page = Page(html)
    assert page.open == []
    assert "<leak>" not in html


def test_html_asks_for_nothing_and_its_one_script_is_named_by_its_hash(html: str) -> None:
    page = Page(html)
    assert page.every("script") == [{}]
    script = html.split("<script>")[1].split("</script>")[0]
    told = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(m["content"] for m in page.every("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert f"script-src 'sha256-{told}'" in policy
    assert page.every("img") == []
    assert page.every("iframe") == []
    assert not any(name.startswith("on") for _, attrs in page.found for name in attrs)
    addresses = [v for _, attrs in page.found for k, v in attrs.items() if k in ("src", "href", "xlink:href", "data", "action")]
    assert all(a is not None and a.startswith(("#", "data:,")) for a in addresses)
    assert not re.search(r"@import|url\((?!#)", html)


def test_html_is_readable_without_seeing_it(html: str) -> None:
    page = Page(html)
    assert page.every("html")[0]["lang"] == "en"
    assert all(svg.get("role") == "img" and svg.get("aria-label") for svg in page.every("svg"))
    assert len(page.every("caption")) == len(page.every("table"))
    assert all("scope" in th for th in page.every("th"))
    ids = [attrs["id"] for _, attrs in page.found if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_html_links_point_at_something(html: str) -> None:
    page = Page(html)
    ids = {attrs["id"] for _, attrs in page.found if "id" in attrs}
    links = [v for _, attrs in page.found for k, v in attrs.items() if k in ("href", "xlink:href") and v]
    inner = [v[1:] for v in links if v.startswith("#")]
    assert set(inner) <= ids


def test_the_same_report_gives_the_same_bytes(html: str) -> None:
    assert report_html(report()) == html


def test_notebook_shows_a_table_and_a_picture() -> None:
    page = Page(result_html(several_pairs()))
    assert len(page.every("table")) == 1
    assert len(page.every("svg")) == 1


def test_plots_return_figures() -> None:
    from matplotlib.figure import Figure

    assert isinstance(result().plot(), Figure)


def test_long_tables_keep_the_extremes_and_the_likeliest() -> None:
    n = 100
    logs = tuple(-float(i) for i in range(n))
    table = OutputTable(tuple(map(str, range(n))), logs, (*logs[:-1], logs[-1] - 3))
    rows = chosen_rows(table, 5)
    assert n - 1 in rows
    assert rows[:3] == [0, 1, 2]
    assert len(rows) == 5


def test_two_impossible_outputs_do_not_differ() -> None:
    assert log_ratio(-math.inf, -math.inf) == 0
    assert log_ratio(0.0, -math.inf) == math.inf
