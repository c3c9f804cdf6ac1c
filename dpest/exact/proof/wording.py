"""A certificate in words: the bound, and for each kind of path the shifts that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dpest.exact.proof.corners import Corners
from dpest.exact.proof.regions import Region, Row
from dpest.inputs.shown import signed_sum
from dpest.numerics.rationals import Rational
from dpest.trace.columns import NAN_KEY

if TYPE_CHECKING:
    from dpest.exact.proof.certificate import Certificate, ProofStep
    from dpest.exact.proof.upper import Upper

_MOST_GROUPS = 12  # kinds of path that a proof in words shows: a screenful


def proof_text(certificate: Certificate) -> str:
    """The proof as its author would write it: one paragraph for each kind of path."""
    names = _input_names(certificate)
    lines = [
        f"{certificate.mechanism}: the loss over all {certificate.adjacency}-adjacent inputs is at most "
        f"{_number(certificate.bound)}.",
        "Draws are z1, z2, ... in the order in which they are made; d[x] is the change of input x. Each shift below carries",
        "every run on the first input to a run on the second with the same output; it costs at most what is stated.",
    ]
    groups: dict[Any, list[ProofStep]] = {}
    for step in certificate.steps:
        if step.apart is None:
            groups.setdefault(_kind(certificate, step), []).append(step)
    ordered = sorted(groups.values(), key=lambda g: -g[0].cost)
    for group in ordered[:_MOST_GROUPS]:
        lines.extend(_paragraph(certificate, group, names))
    if len(ordered) > _MOST_GROUPS:
        lines.append(f"... and {len(ordered) - _MOST_GROUPS} more kinds of path, none of them dearer")
    return "\n".join(lines)


def _input_names(certificate: Certificate) -> dict[int, str]:
    return {-1 - i: words for i, (words, _) in enumerate(certificate.inputs)}


def _kind(certificate: Certificate, step: ProofStep) -> Any:
    """Equal for steps that shift draws of the same laws in the same way."""
    region = certificate.programs[certificate.cases[step.case].source][step.source]
    if step.policy is None:
        return (step.case, step.source, step.target)
    shifts = []
    for v, s in step.policy.items():
        if s.constant or s.terms:
            shifts.append((region.law[v].words(), s.constant, tuple(sorted(c for _, c in s.terms))))
    return (step.cost, tuple(sorted(shifts)))


def _paragraph(certificate: Certificate, group: list[ProofStep], names: Mapping[int, str]) -> Iterable[str]:
    step = group[0]
    case = certificate.cases[step.case]
    region = certificate.programs[case.source][step.source]
    more = f" (and in the same way {len(group) - 1} more)" if len(group) > 1 else ""
    yield f"- output {_shape(region)}, {case.box.name}{more}: cost {_number(step.cost)}"
    if step.pool is not None:
        others = len(step.pool.members) - 1
        yield f"    {others} more region{'s' if others > 1 else ''} with this output, bounded together: the other draws stay"
    rows = region.conditions
    if rows:
        shown = "; ".join(_row(r, names) for r in rows[:4])
        yield f"    on this path {shown}{f'; and {len(rows) - 4} more' if len(rows) > 4 else ''}"
    yield f"    shift {_shifts(step, region, names) or 'nothing'}"


def _shape(region: Region) -> str:
    if isinstance(region.key, str):
        return region.key
    leaves = [_constant(mark[1]) if mark[0] == "=" else "*" for mark in region.key[1]]
    shown = leaves[:12] + (["..."] if len(leaves) > 12 else [])
    return f"({', '.join(shown)})"


def _constant(x: Any) -> str:
    if x == NAN_KEY:
        return "nan"
    return f"{x:g}" if isinstance(x, float) else repr(x)


def _row(row: Row, names: Mapping[int, str]) -> str:
    return f"{_sum(row.terms, row.constant, names)} {'>' if row.strict else '>='} 0"


def _shifts(step: ProofStep, region: Region, names: Mapping[int, str]) -> str:
    out = []
    if step.policy is not None:
        for v, s in step.policy.items():
            if s.constant or s.terms:
                changes = [(i, c) for i, c in s.terms]
                out.append(f"z{v + 1} ({region.law[v].words()}) by {_sum(changes, s.constant, _changed(names))}")
    elif step.corners is not None:
        return _at_corners(step.corners, region, names)
    elif step.pool is not None:
        return _at_corners(step.pool.corners, region, names)
    elif step.crossing is not None:
        for v, terms, constant in step.crossing.shifts:
            if terms or constant:
                both = {**names, **{i + -(1 << 40): f"d[{name}]" for i, name in names.items()}}
                out.append(f"z{v + 1} by {_sum(terms, constant, both)}")
    return "; ".join(out)


def _at_corners(corners: Corners, region: Region, names: Mapping[int, str]) -> str:
    """The shifts at the corner of largest cost, and how many more there are."""
    corner, shifts, _ = max(corners, key=lambda c: c[2])
    where = ", ".join(f"{_changed(names)[i]} = {_number(x)}" for i, x in reversed(corner))
    moved = "; ".join(f"z{v + 1} ({region.law[v].words()}) by {_number(x)}" for v, x in shifts)
    return f"{moved or 'nothing'} where {where}; {len(corners) - 1} other corners cost no more, in between shifts are mixed"


def _changed(names: Mapping[int, str]) -> dict[int, str]:
    return {i: f"d[{name}]" for i, name in names.items()}


def _sum(terms: Iterable[tuple[int, Rational]], constant: Rational, names: Mapping[int, str]) -> str:
    named = [(c, names.get(v, f"z{v + 1}" if v >= 0 else f"x{-v}")) for v, c in terms]
    parts = [(c, name if abs(c) == 1 else f"{_number(abs(c))} {name}") for c, name in named]
    return signed_sum([*parts, (constant, _number(abs(constant)))] if constant or not parts else parts)


def _number(x: Rational) -> str:
    """A rational as a person writes it."""
    return str(x) if x.denominator <= 1000 and x.denominator != 1 and float(x) != round(float(x), 6) else f"{float(x):.12g}"


def obstacle_text(upper: Upper) -> str:
    """Why no alignment carries a path to the other input, in one sentence."""
    if upper.obstacle is None:
        return ""
    region, box = upper.obstacle.region, upper.obstacle.case.box
    names = {-1 - i: d.law.words() for i, d in enumerate(upper.traced.symbols.inputs)}
    law = region.law

    def noise(terms: Iterable[tuple[int, Rational]]) -> bool:
        return any(v >= 0 and law[v].shift_cost() != (None, None) for v, _ in terms)

    for value in region.released:
        moved = [names[v] for v, _ in value.terms if v in box]
        if moved and not noise(value.terms):
            own = [law[v].words() for v, _ in value.terms if v >= 0]
            return f"{', '.join(moved)} is released with {' + '.join(own) if own else 'no noise'}" + (
                ", which no shift moves at a bounded cost" if own else ""
            )
    for row in region.conditions:
        moved = [names[v] for v, _ in row.terms if v in box]
        if moved and not noise(row.terms):
            return f"the condition {_row(row, names)} has no noise that a shift can move"
    bare = [r for r in region.rows if any(v in box for v, _ in r.terms)]
    shown = _row(bare[0], names) if bare else _shape(region)
    return f"on the path with output {_shape(region)} no shift keeps every condition ({shown}) and every released value"
