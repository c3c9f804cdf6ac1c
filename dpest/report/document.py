"""A report as JSON, and as Markdown."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from dpest.inputs.shown import brief
from dpest.report.data import Entry, Report
from dpest.report.numbers import loss, number, seconds
from dpest.report.table import markdown_table
from dpest.report.text import loss_text, open_ended, summary_rows, witness_text
from dpest.report.verdict import Outcome

ALL_INPUTS = "all inputs"


def report_json(report: Report) -> str:
    """Every number of the report; pictures are left out."""
    entries = [_entry(e) for e in report.entries]
    data = {"title": report.title, "version": report.version, "notes": report.notes, "entries": entries}
    return json.dumps(data, indent=2, allow_nan=False)


def report_markdown(report: Report) -> str:
    """The summary table, then a section for each mechanism."""
    summary = markdown_table([h.capitalize() for h in summary_header(report)], [summary_row(e) for e in report.entries])
    sections = [_section(e) for e in report.entries]
    return "\n\n".join([f"# {report.title}", *report.notes, count_text(report), summary, *sections]) + "\n"


def summary_header(report: Report) -> tuple[str, ...]:
    """What the columns of the summary are."""
    named = all(p.pair.name for e in report.entries for p in e.result.pairs)
    return "mechanism", "claim", "patterns" if named else "pairs", ALL_INPUTS, "verdict", "method", "time"


def summary_row(entry: Entry) -> tuple[str, ...]:
    """Mechanism, claim, loss on the pairs and over all inputs, verdict, method, time: as text."""
    r = entry.result
    claim = "" if entry.claim is None else f"{entry.claim:.6g}"
    if entry.verdict is not None and entry.verdict.delta:
        claim += f", delta {entry.verdict.delta:g}"
    found = f">= {number(r.lower, 9)}" if open_ended(r) else loss(r.epsilon, r.lower, r.upper)
    return entry.name, claim, found, everywhere_text(entry), verdict_words(entry), r.method, seconds(r.seconds)


def everywhere_text(entry: Entry) -> str:
    """The loss over all adjacent inputs in few letters; a bracket where both sides differ."""
    p = entry.proved
    if p is None:
        return "–"
    if math.isinf(p.upper) and math.isfinite(p.lower):
        return f">= {number(p.lower)}"
    return loss(p.epsilon, p.lower, p.upper) if p.tight or math.isinf(p.lower) else f"{number(p.lower)} to {number(p.upper)}"


def count_text(report: Report) -> str:
    """How many claims stand, in a sentence."""
    words = [verdict_words(e)[2:] for e in report.entries if e.verdict is not None]
    counts = [f"{words.count(w)} {_plural(w, words.count(w))}" for w in dict.fromkeys(words)]
    many = f"{len(report.entries)} mechanism{'s' if len(report.entries) != 1 else ''}"
    return f"{many}. Claims: {', '.join(counts)}." if counts else f"{many}, without claims."


def _plural(words: str, count: int) -> str:
    """`holds on the pairs` of several claims: `hold on the pairs`."""
    verb = words if words.startswith("holds") else f"is {words}"
    return verb if count == 1 else verb.replace("holds", "hold", 1).replace("is ", "are ", 1)


def verdict_words(entry: Entry) -> str:
    """The verdict with a sign that does not need colour."""
    if entry.verdict is None:
        return ""
    match entry.verdict.outcome:
        case Outcome.HOLDS:
            return "✓ holds for all inputs" if entry.everywhere else "✓ holds on the pairs"
        case Outcome.VIOLATED:
            return "✗ violated"
        case Outcome.NOT_REFUTED:
            return "? not refuted"


def everywhere_rows(entry: Entry) -> list[tuple[str, str]]:
    """What is known over all adjacent inputs: the loss, the worst pair, the witness."""
    p = entry.proved
    if p is None:
        return [(ALL_INPUTS, entry.unproved or "not looked at")]
    rows = [(ALL_INPUTS, f"{loss_text(p)}: {p.scope}; {p.reason}")]
    if p.pairs:
        rows.append(("their worst", str(p.pair)))
    if p.witness is not None:
        rows.append(("witness there", witness_text(p.witness)))
    return [*rows, *(("note", note) for note in p.notes)]


def _section(entry: Entry) -> str:
    rows = [("loss", loss_text(entry.result)), *summary_rows(entry.result), *everywhere_rows(entry)]
    facts = "\n".join(f"- **{label}**: {text}" for label, text in rows)
    found = entry.result.pairs
    pairs = [[p.pair.name, brief(p.pair.left), brief(p.pair.right), number(p.forward), number(p.backward)] for p in found]
    table = markdown_table(["Pair", "D", "D'", "ln(D / D')", "ln(D' / D)"], pairs)
    code = f"```py\n{entry.code}\n```" if entry.code else ""
    return "\n\n".join(part for part in (f"## {entry.name}", entry.sentence, facts, table, entry.comment, code) if part)


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "sentence": entry.sentence,
        "adjacency": entry.adjacency,
        "claim": entry.claim,
        "verdict": None if entry.verdict is None else entry.verdict.to_dict(),
        "verdict_over": (ALL_INPUTS if entry.everywhere else "pairs") if entry.verdict else None,
        "result": entry.result.to_dict(),
        "all_inputs": None if entry.proved is None else replace(entry.proved, proof=None).to_dict(),
        "unproved": entry.unproved,
        "profile": [{"epsilon": p.epsilon, "delta": p.delta, "lower": p.lower, "upper": p.upper} for p in entry.profile],
        "source": entry.source,
        "comment": entry.comment,
        "code": entry.code,
    }
