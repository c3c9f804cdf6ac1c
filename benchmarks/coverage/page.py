"""The page docs/coverage.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.coverage.run import NARROW, SAMPLES, Row

MEANING = {
    "exact": f"the bracket holds the truth, and is narrower than {NARROW:g} of it (an infinite loss is proved infinite)",
    "two-sided": "the bracket holds the truth, and both of its ends are finite",
    "one-sided": "the lower end holds, and there is no upper end",
    "refused": "no exact answer, and the message says why; sampling gives one side, or none",
    "slow": "no answer within the time limit",
    "wrong": "the bracket does not hold the truth, or an error without a message",
}
INTRO = """# What people have written

{n} published mechanisms in the code that their authors would write (a `numpy.random.Generator` as an argument,
`numpy.random`, `random`, classes, NumPy expressions, plain loops), none of it bent to dpest. Each is asked about one pair of
inputs, and the answer is compared with a reference that shares nothing with the engine: a closed form, an enumeration, an
integral at 30 digits, or a linear program.

    python -m benchmarks.coverage --write            # this page; a few minutes on one core
    python -m benchmarks.coverage staircase laplace  # the mechanisms with these words in their names

Seconds are CPU seconds of one process, imports not counted; the limit is {limit:g} s. Where the exact engine refuses,
{samples:,} samples show whether the answer has two sides. The code of every mechanism is in `benchmarks/coverage/`.

| outcome | mechanisms | what it means |
|---|---|---|
"""


def page(rows: Sequence[Row], limit: float) -> str:
    """The page as text."""
    counts = Counter(r.outcome for r in rows)
    text = INTRO.format(n=len(rows), limit=limit, samples=SAMPLES)
    seen = [name for name in MEANING if counts[name] or name == "wrong"]
    text += "".join(f"| {name} | {counts[name]} | {MEANING[name]} |\n" for name in seen)
    for family in dict.fromkeys(r.family for r in rows):
        own = [r for r in rows if r.family == family]
        text += f"\n## {family}\n\n| mechanism | paper | question | reference | outcome | seconds |\n|---|---|---|---|---|---|\n"
        text += "".join(map(_line, own))
    left = [r for r in rows if r.outcome != "exact"]
    if left:
        text += "\n## What is not exact, and why\n\n"
        text += "".join(f"- {r.case.name}: {r.outcome}. {_short(r)}\n" for r in left)
    return text


def _line(row: Row) -> str:
    case = row.case
    asked = "epsilon" if case.delta_at is None else f"delta({case.delta_at:g})"
    question = f"{case.name} | {case.source} | {asked} = {row.truth:.6g}"
    return f"| {question} | {case.reference} | {row.outcome} | {row.seconds:.2f} |\n"


def _short(row: Row) -> str:
    """The first sentence of the reason."""
    reason = row.reason.partition("; `dpest audit`")[0].partition(": keep it random")[0]
    reason = reason if len(reason) <= 240 else reason[:240].rsplit(" ", 1)[0] + " ..."
    return " ".join(x for x in (reason[:1].upper() + reason[1:] + "." if reason else "", row.figures) if x)
