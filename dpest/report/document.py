"""A report as JSON, and as Markdown."""

from __future__ import annotations

import json
from typing import Any

from dpest.inputs.pairs import show
from dpest.report.data import Entry, Report
from dpest.report.numbers import loss, number, seconds
from dpest.report.table import markdown_table
from dpest.report.text import loss_text, summary_rows
from dpest.report.verdict import Outcome

SUMMARY = ("mechanism", "claim", "loss", "verdict", "method", "time")


def report_json(report: Report) -> str:
    """Every number of the report; pictures are left out."""
    entries = [_entry(e) for e in report.entries]
    data = {"title": report.title, "version": report.version, "notes": report.notes, "entries": entries}
    return json.dumps(data, indent=2, allow_nan=False)


def report_markdown(report: Report) -> str:
    """The summary table, then a section for each mechanism."""
    summary = markdown_table([h.capitalize() for h in SUMMARY], [summary_row(e) for e in report.entries])
    sections = [_section(e) for e in report.entries]
    return "\n\n".join([f"# {report.title}", *report.notes, summary, *sections]) + "\n"


def summary_row(entry: Entry) -> tuple[str, ...]:
    """Mechanism, claim, loss, verdict, method, time: as text."""
    r = entry.result
    claim = "" if entry.claim is None else f"{entry.claim:.4g}"
    return entry.name, claim, loss(r.epsilon, r.lower, r.upper), verdict_words(entry), r.method, seconds(r.seconds)


def verdict_words(entry: Entry) -> str:
    """The verdict with a sign that does not need colour."""
    if entry.verdict is None:
        return ""
    match entry.verdict.outcome:
        case Outcome.HOLDS:
            return "✓ holds"
        case Outcome.VIOLATED:
            return "✗ violated"
        case Outcome.NOT_REFUTED:
            return "? not refuted"


def _section(entry: Entry) -> str:
    rows = [("loss", loss_text(entry.result)), *summary_rows(entry.result)]
    facts = "\n".join(f"- **{label}**: {text}" for label, text in rows)
    found = entry.result.pairs
    pairs = [[p.pair.name, show(p.pair.left), show(p.pair.right), number(p.forward), number(p.backward)] for p in found]
    table = markdown_table(["Pair", "D", "D'", "ln(D / D')", "ln(D' / D)"], pairs)
    return "\n\n".join(part for part in (f"## {entry.name}", entry.sentence, facts, table, entry.comment) if part)


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "sentence": entry.sentence,
        "adjacency": entry.adjacency,
        "claim": entry.claim,
        "verdict": None if entry.verdict is None else entry.verdict.to_dict(),
        "result": entry.result.to_dict(),
        "profile": [{"epsilon": p.epsilon, "delta": p.delta, "lower": p.lower, "upper": p.upper} for p in entry.profile],
        "source": entry.source,
        "comment": entry.comment,
    }
