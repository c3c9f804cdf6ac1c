"""The HTML report: one self-contained file, without script and without network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dpest.errors import MissingExtra
from dpest.inputs.pairs import show
from dpest.report.data import Entry, Report
from dpest.report.document import SUMMARY, summary_row, verdict_words
from dpest.report.numbers import number
from dpest.report.pictures import Picture, pictures
from dpest.report.text import loss_text, summary_rows
from dpest.results import Result

TEMPLATE = Path(__file__).parent / "templates" / "report.html.j2"


@dataclass(frozen=True)
class PairRow:
    """One row of the table of pairs."""

    name: str
    left: str
    right: str
    forward: str
    backward: str
    worst: bool


@dataclass(frozen=True)
class Card:
    """All that the page shows about one mechanism."""

    key: str
    entry: Entry
    summary: tuple[str, ...]
    loss: str
    verdict: str
    rows: tuple[tuple[str, str], ...]
    pairs: tuple[PairRow, ...]
    pictures: tuple[Picture, ...]


def report_html(report: Report) -> str:
    """The report as the text of one HTML file."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("HTML reports need jinja2 and matplotlib: pip install 'dpest-loss[report]'") from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(report=report, header=SUMMARY, cards=[_card(e) for e in report.entries])


def _card(entry: Entry) -> Card:
    key = re.sub(r"[^a-z0-9]+", "-", entry.name.casefold()).strip("-") or "mechanism"
    return Card(
        key=key,
        entry=entry,
        summary=summary_row(entry),
        loss=loss_text(entry.result),
        verdict=f"{verdict_words(entry)}: {entry.verdict.claim}" if entry.verdict else "",
        rows=tuple(summary_rows(entry.result)),
        pairs=pair_rows(entry.result),
        pictures=tuple(pictures(entry, key)),
    )


def pair_rows(result: Result) -> tuple[PairRow, ...]:
    """The table of pairs as text."""
    return tuple(
        PairRow(
            name=p.pair.name or f"pair {i}",
            left=show(p.pair.left),
            right=show(p.pair.right),
            forward=number(p.forward, 10),
            backward=number(p.backward, 10),
            worst=p.pair == result.pair,
        )
        for i, p in enumerate(result.pairs, 1)
    )
