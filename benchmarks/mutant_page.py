"""The page about mutation testing: score of each module, and the survivors with the reason why each is there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import mutating

# What a reason says about a mutant; the first two are left out of the score.
KINDS = {
    "equivalent": "no input can show the change",
    "cost": "changes how long an answer takes, or how far a search goes before it gives up, and no answer",
    "weak": "a test could notice it, and none does",
}


def read_reasons(path: Path) -> dict[str, tuple[str, str]]:
    """Kind and reason of each explained survivor, by the mutant's key."""
    if not path.exists():
        return {}
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    out = {key: (kind, reason) for kind, rows in told.items() for key, reason in rows.items()}
    assert set(told) <= set(KINDS), f"kinds of reasons are {', '.join(KINDS)}, not {', '.join(told)}"
    return out


def page(
    rows: dict[str, dict[str, Any]],
    sample: list[mutating.Mutant],
    groups: dict[str, str],
    reasons: dict[str, tuple[str, str]],
    seed: int,
) -> str:
    """The whole page in Markdown."""
    tried = [(m, rows[m.key]) for m in sample if m.key in rows and rows[m.key]["digest"] == m.digest]
    left = [m for m, row in tried if not row["killed"]]
    lines = [_HEAD.format(count=len(tried), modules=len({m.module for m, _ in tried}), seed=seed)]
    if len(tried) < len(sample):
        lines += [_UNFINISHED.format(left=len(sample) - len(tried), sample=len(sample))]
    lines += [_first(tried, reasons), ""]
    lines += ["| group | modules | tried | killed | equivalent or cost only | survived | score |", _RULE]
    for group in dict.fromkeys(groups.values()):
        mine = [(m, row) for m, row in tried if groups.get(m.module) == group]
        if mine:
            lines.append(f"| {group} | {len({m.module for m, _ in mine})} | {_score(mine, reasons)} |")
    late = [m for m, row in tried if row["killed"] and not row.get("first", True)]
    if late:
        lines += ["", "## Survivors at first sight that a new test kills", "", *_TABLE[:2], *(_survivor(m) for m in late)]
    for kind, what in {**KINDS, "": "not explained yet"}.items():
        these = [m for m in left if reasons.get(m.key, ("", ""))[0] == kind]
        if these:
            lines += ["", f"## Survivors: {kind or 'open'}", "", what[0].upper() + what[1:] + ".", "", *_TABLE[2:]]
            lines += [f"{_survivor(m)} {reasons.get(m.key, ('', ''))[1]} |" for m in these]
    return "\n".join(lines) + "\n"


def _score(mine: list[tuple[mutating.Mutant, dict[str, Any]]], reasons: dict[str, tuple[str, str]]) -> str:
    killed = sum(row["killed"] for _, row in mine)
    same = sum(not row["killed"] and reasons.get(m.key, ("", ""))[0] in ("equivalent", "cost") for m, row in mine)
    share = killed / max(len(mine) - same, 1)
    return f"{len(mine)} | {killed} | {same} | {len(mine) - killed - same} | {share:.0%}"


def _first(tried: list[tuple[mutating.Mutant, dict[str, Any]]], reasons: dict[str, tuple[str, str]]) -> str:
    """The score before any test was written for these mutants, and the score now."""
    same = sum(not row["killed"] and reasons.get(m.key, ("", ""))[0] in ("equivalent", "cost") for m, row in tried)
    first, now = (sum(row.get(key, row["killed"]) for _, row in tried) for key in ("first", "killed"))
    counted = max(len(tried) - same, 1)
    return _SIGHT.format(
        tried=len(tried),
        same=same,
        first=first,
        raw=first / max(len(tried), 1),
        before=first / counted,
        now=now,
        after=now / counted,
    )


def _survivor(mutant: mutating.Mutant) -> str:
    what = mutant.what.replace("|", "\\|")
    module = mutant.module.removeprefix("dpest/").removesuffix(".py")
    return f"| {module} | {mutant.line} | `{mutant.function or '(module)'}` | `{what}` |"


_TABLE = ("| module | line | function | change |", "|---|---|---|---|")
_TABLE += ("| module | line | function | change | reason |", "|---|---|---|---|---|")
_RULE = "|---|---|---|---|---|---|---|"
_HEAD = """# Mutation testing: would a test notice?

A mutant is the package with one small change: `<` for `<=`, a term dropped, a sign turned, one bound taken for the other.
A test suite that is worth something fails on it. {count} mutants of the {modules} modules that decide, integrate and bound were
tried, a random sample with seed {seed}. Each was given the tests that reach the changed function, the quickest first; it is
*killed* when one of them fails or does not end. Written by `benchmarks/mutants.py`; `make mutants` runs it again.

The score is killed / (tried - equivalent): mutants that no input can show, and those that only change how long an answer takes,
are listed with the reason and left out.
"""

_SIGHT = """At first sight, with the tests as they were before anyone had looked at these mutants, {first} of {tried} were killed:
{raw:.0%}, or {before:.0%} without the {same} that are known to be equivalent or cost only. Survivors are tried again with more of
the tests that reach them (`--survivors`): {now} are killed now, {after:.0%}. The score at first sight is what to
expect of a change that nobody has tried; the tables below are of the last try of each mutant. The score that is asked for is 85%.
A survivor without a reason counts against the score, also where it may turn out to be equivalent."""

_UNFINISHED = """**Not finished:** {left} of the {sample} mutants in the sample have not been tried on the code as it stands, and
survivors may have been tried before the tests that were written for them. The scores below are no result yet; `make mutants`
goes on where the last run ended, and `python benchmarks/mutants.py --survivors` tries the survivors again.
"""
