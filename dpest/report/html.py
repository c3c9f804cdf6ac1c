"""The HTML report: one self-contained file, without network; a small script sorts and folds, and nothing needs it."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpest.errors import MissingExtra
from dpest.inputs.shown import brief
from dpest.report.data import Entry, Report
from dpest.report.document import ALL_INPUTS, count_text, everywhere_rows, summary_header, summary_row, verdict_words
from dpest.report.numbers import number
from dpest.report.pictures import Picture, graph_picture, pictures
from dpest.report.svg import DARK, LIGHT, ink_css, variables
from dpest.report.text import loss_text, summary_rows
from dpest.report.verdict import Outcome
from dpest.results import Result

FOLDER = Path(__file__).parent / "templates"


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
class SummaryCell:
    """A cell of the summary: its column, its text, and what it is sorted by."""

    label: str
    text: str
    key: str

    @property
    def name(self) -> str:
        """The column as a class name."""
        return self.label.replace(" ", "-")


@dataclass(frozen=True)
class Card:
    """All that the page shows about one mechanism."""

    key: str
    entry: Entry
    cells: tuple[SummaryCell, ...]
    loss: str
    verdict: str
    outcome: str
    rows: tuple[tuple[str, str], ...]
    pairs: tuple[PairRow, ...]
    pictures: tuple[Picture, ...]
    graph: Picture | None


def report_html(report: Report) -> str:
    """The report as the text of one HTML file."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("HTML reports need jinja2 and matplotlib: pip install jinja2 matplotlib") from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((FOLDER / "report.html.j2").read_text(encoding="utf-8"))
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    header = summary_header(report)
    return template.render(
        report=report,
        header=header,
        count=count_text(report),
        cards=list(_cards(report, header)),
        style=(FOLDER / "report.css").read_text(encoding="utf-8"),
        light=variables(LIGHT),
        dark=variables(DARK),
        inks=ink_css("figure"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _cards(report: Report, header: tuple[str, ...]) -> Iterator[Card]:
    used: set[str] = set()
    for entry in report.entries:
        key = plain = re.sub(r"[^a-z0-9]+", "-", entry.name.casefold()).strip("-") or "mechanism"
        while key in used:  # two mechanisms of one name
            key = f"{plain}-{len(used)}"
        used.add(key)
        yield _card(entry, key, header)


def _card(entry: Entry, key: str, header: tuple[str, ...]) -> Card:
    return Card(
        key=key,
        entry=entry,
        cells=_cells(entry, header),
        loss=loss_text(entry.result),
        verdict=f"{verdict_words(entry)}: {entry.verdict.claim}" if entry.verdict else "",
        outcome=_outcome(entry),
        rows=(*summary_rows(entry.result), *everywhere_rows(entry)),
        pairs=pair_rows(entry.result),
        pictures=tuple(pictures(entry, key)),
        graph=graph_picture(entry, key),
    )


def _cells(entry: Entry, header: tuple[str, ...]) -> tuple[SummaryCell, ...]:
    """The row of the summary; numbers are sorted by value, a loss that is not known after all others."""
    order = {Outcome.VIOLATED: 0, Outcome.NOT_REFUTED: 1, Outcome.HOLDS: 2}
    keys = {
        "claim": entry.claim,
        header[2]: entry.result.lower if math.isfinite(entry.result.lower) else 1e308,
        ALL_INPUTS: None if entry.proved is None else min(entry.proved.lower, 1e308),
        "verdict": order[entry.verdict.outcome] + entry.everywhere / 2 if entry.verdict else None,
        "time": entry.result.seconds,
    }
    numbers = {label: repr(float(value)) for label, value in keys.items() if value is not None}
    return tuple(
        SummaryCell(label, text, numbers.get(label, text)) for label, text in zip(header, summary_row(entry), strict=True)
    )


def _outcome(entry: Entry) -> str:
    """A class name for the verdict."""
    return "" if entry.verdict is None else entry.verdict.outcome.value.replace(" ", "-")


def pair_rows(result: Result) -> tuple[PairRow, ...]:
    """The table of pairs as text."""
    return tuple(
        PairRow(
            name=p.pair.name or f"pair {i}",
            left=brief(p.pair.left),
            right=brief(p.pair.right),
            forward=number(p.forward, 10),
            backward=number(p.backward, 10),
            worst=p.pair == result.pair,
        )
        for i, p in enumerate(result.pairs, 1)
    )
