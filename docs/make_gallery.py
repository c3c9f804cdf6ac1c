"""Writes docs/gallery.md, its pictures and the screenshots of the report: `make gallery`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from dpest.algorithms import Algorithm, gallery  # noqa: E402
from dpest.inputs.shown import brief  # noqa: E402
from dpest.report.build import algorithm_entry, report  # noqa: E402
from dpest.report.data import Entry  # noqa: E402
from dpest.report.document import everywhere_text  # noqa: E402
from dpest.report.html import report_html  # noqa: E402
from dpest.report.numbers import number  # noqa: E402
from dpest.report.pictures import pictures  # noqa: E402
from dpest.report.table import markdown_table  # noqa: E402
from dpest.report.text import witness_text  # noqa: E402
from tests.docs.browser import EXECUTABLE, Browser  # noqa: E402

PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures"
INTRODUCTION = """# The gallery of 21 algorithms

The mechanisms that papers on testing differential privacy use, the wrong ones included. Each is a short function in
`dpest.algorithms`; all of them are answered exactly. The claim is the one that is made for the default parameters. "Patterns" is
the largest loss over the input patterns of the algorithm's adjacency, both directions; "all inputs" is the loss over every
adjacent pair, from `dpest.prove`: proved from above and reached by a pair from below. The patterns are not always the worst
inputs: SVT1 loses 0.0878 on them, and 0.1 on others. This page is written by `make gallery`.

The seven input patterns for n = 5 (an L1 adjacency uses the first two):

| name | D | D' |
|---|---|---|
| one_above | 1 1 1 1 1 | 2 1 1 1 1 |
| one_below | 1 1 1 1 1 | 0 1 1 1 1 |
| one_above_rest_below | 1 1 1 1 1 | 2 0 0 0 0 |
| one_below_rest_above | 1 1 1 1 1 | 0 2 2 2 2 |
| half_half | 1 1 1 1 1 | 0 0 0 2 2 |
| all_above_all_below | 1 1 1 1 1 | 2 2 2 2 2 |
| x_shape | 1 1 0 0 0 | 0 0 1 1 1 |
"""


def page(entries: list[tuple[Algorithm, Entry]]) -> str:
    """The whole page."""
    rows = [_row(a, e) for a, e in entries]
    summary = markdown_table(["Algorithm", "Claim", "Patterns", "All inputs", "Claim true"], rows)
    return "\n".join([INTRODUCTION, summary, "", *(_section(a, e) for a, e in entries)])


def _row(algorithm: Algorithm, entry: Entry) -> list[str]:
    link = f"[{algorithm.name}](#{algorithm.name.casefold()})"
    return [link, f"{algorithm.claim:.6g}", _loss(entry), everywhere_text(entry), "yes" if algorithm.claim_true else "no"]


def _section(algorithm: Algorithm, entry: Entry) -> str:
    result = entry.result
    facts = [
        f"- **claim**: {algorithm.claim:.6g} ({'true' if algorithm.claim_true else 'false'})",
        f"- **loss on the patterns**: {_loss(entry)}",
        f"- **worst pair**: {result.pair.name}: D = {brief(result.pair.left)}, D' = {brief(result.pair.right)}",
        f"- **witness**: {witness_text(result.witness)}" if result.witness else "",
        *_everywhere(entry),
        f"- **adjacency**: {entry.adjacency}",
        f"- **paper**: {algorithm.paper}",
    ]
    code = f"```py\n{_code(algorithm)}\n```"
    picture = f"![{algorithm.name}: the output under both inputs](pictures/gallery/{algorithm.name}.svg)" if entry.outputs else ""
    wrong = f"**What goes wrong.** {algorithm.flaw}" if algorithm.flaw else ""
    body = [f"## {algorithm.name}", algorithm.title, code, "\n".join(f for f in facts if f), wrong, picture]
    return "\n\n".join(part for part in body if part) + "\n"


def _everywhere(entry: Entry) -> list[str]:
    """The loss over all adjacent inputs, and the pair that reaches it."""
    found = entry.proved
    if found is None:
        return []
    return [f"- **loss over all inputs**: {everywhere_text(entry)} ({found.evidence.value}), reached at {found.pair}"]


def _code(algorithm: Algorithm) -> str:
    """The function without its decorator."""
    lines = inspect.getsource(inspect.unwrap(algorithm.function)).rstrip().splitlines()
    return "\n".join(line for line in lines if not line.startswith("@"))


def _loss(entry: Entry) -> str:
    limit = entry.result.witness is not None and entry.result.witness.limit
    return number(entry.result.epsilon, 12) + (" (a limit)" if limit else "")


def screenshots(html: Path) -> None:
    """The head of the report and one mechanism, and the report on a phone in dark colours, as a browser shows them."""
    with Browser(1280, 1000) as browser:
        browser.look(1280, "light")
        browser.open(html)
        browser.screenshot(PICTURES / "report.png", height=1000)
        browser.screenshot(PICTURES / "report-svt1.png", "#svt1")
        browser.look(390, "dark")
        browser.screenshot(PICTURES / "report-phone.png", height=1000)


def main() -> None:
    """Everything anew."""
    entries = [(a, algorithm_entry(a)) for a in gallery()]
    (PICTURES / "gallery").mkdir(parents=True, exist_ok=True)
    for algorithm, entry in entries:
        if entry.outputs is not None:
            svg = next(pictures(entry, "picture")).svg
            (PICTURES / "gallery" / f"{algorithm.name}.svg").write_text(svg, encoding="utf-8")
    PAGE.write_text(page(entries), encoding="utf-8")
    html = PICTURES / "report.html"
    html.write_text(report_html(report(tuple(e for _, e in entries))), encoding="utf-8")
    if EXECUTABLE is not None:
        screenshots(html)
    html.unlink()
    print(PAGE)


if __name__ == "__main__":
    main()
