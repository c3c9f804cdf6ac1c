"""Cells of the inputs: where conditions on inputs alone split them, every region is given to one cell of one partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dpest.errors import BudgetExceeded
from dpest.exact.proof.merge import contradictory, opposite
from dpest.exact.proof.regions import Region, Row, support_rows, with_rows
from dpest.laws.law import Law

MOST_REGIONS = 4_000  # each needs linear programs of its own against all others


def refined(regions: Sequence[Region], inputs: Mapping[int, Law]) -> list[Region]:
    """The regions, split until each of them decides every condition on inputs alone that some region has."""
    atoms = list(dict.fromkeys(_atom(row, inputs) for region in regions for row in region.bare))
    if not atoms:
        return list(regions)
    ranges = support_rows(inputs.items())
    possible: dict[frozenset[Row], bool] = {}
    out: list[Region] = []
    for region in regions:
        for extra in _ways(region, atoms, inputs):
            key = frozenset([*region.bare, *extra])
            if key not in possible:
                possible[key] = not contradictory([*key, *ranges], ())
            if possible[key]:
                out.append(with_rows(region, [*region.rows, *extra]))
            if len(out) > MOST_REGIONS:
                raise BudgetExceeded(f"conditions on inputs alone split the runs into more than {MOST_REGIONS} regions")
    return out


def by_cell(regions: Iterable[Region]) -> dict[frozenset[Row], list[Region]]:
    """The regions of each cell."""
    out: dict[frozenset[Row], list[Region]] = {}
    for region in regions:
        out.setdefault(region.cell, []).append(region)
    return out


def _atom(row: Row, inputs: Mapping[int, Law]) -> frozenset[Row]:
    """A condition and its opposite."""
    return frozenset([row, opposite(row, inputs)])


def _ways(region: Region, atoms: Iterable[frozenset[Row]], inputs: Mapping[int, Law]) -> list[list[Row]]:
    """What has to be added to a region to decide every atom: one list for each way."""
    decided = {_atom(row, inputs) for row in region.bare}
    out: list[list[Row]] = [[]]
    for atom in atoms:
        if atom not in decided:
            out = [[*extra, row] for extra in out for row in sorted(atom, key=lambda r: (r.terms, r.constant, r.strict))]
            if len(out) > MOST_REGIONS:
                raise BudgetExceeded(f"conditions on inputs alone split the runs into more than {MOST_REGIONS} regions")
    return out
