"""Regions at plain inputs: a program cut down to the runs with one form of output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpest.exact.proof.regions import Region, Row, scaled_row
from dpest.lang.nodes import Draw, Linear
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational
from dpest.trace.columns import NAN_KEY
from dpest.trace.explore import Path, Trace
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat


def separate_forms(regions: Iterable[Region]) -> bool:
    """Whether outputs of different forms are never equal: every released number has a density."""
    return all(
        value.offset is None and any(v >= 0 and not region.law[v].discrete for v, _ in value.terms)
        for region in regions
        for value in region.released
    )


def trace_of_form(regions: Iterable[Region], key: Any, inputs: Mapping[int, Rational]) -> Trace:
    """The runs on these inputs whose output has one form, as a trace."""
    found = (_path(r, inputs) for r in regions if r.key == key)
    return Trace(tuple(p for p in found if p is not None), whole=False)


def _path(region: Region, inputs: Mapping[int, Rational]) -> Path | None:
    draws = {v: Draw(law) for v, law in region.laws}
    literals = []
    for row in region.rows:
        plain = _at(row, inputs, region.law)
        if plain.terms:
            literals.append(Literal(tuple((draws[v], c) for v, c in plain.terms), plain.constant))
        elif plain.constant < 0 or (plain.constant == 0 and plain.strict):
            return None
    structure, marks = region.key[0], region.key[1]
    output = Flat(structure, tuple(_leaves(marks, region, draws, inputs)))
    conditions = tuple(literals)
    return Path((conditions,), output, conditions, tuple(draws.values()))


def _at(row: Row, inputs: Mapping[int, Rational], laws: Mapping[int, Law]) -> Row:
    terms = tuple((v, c) for v, c in row.terms if v >= 0)
    constant = row.constant + sum(c * inputs[v] for v, c in row.terms if v < 0)
    return scaled_row(terms, constant, row.strict, laws)


def _leaves(marks: Sequence[Any], region: Region, draws: Mapping[int, Draw], inputs: Mapping[int, Rational]) -> Iterable[Any]:
    released = iter(region.released)
    for mark in marks:
        if mark[0] == "=":
            yield math.nan if mark[1] == NAN_KEY else mark[1]
        else:
            value = next(released)
            constant = value.constant + sum(c * inputs[v] for v, c in value.terms if v < 0)
            yield Linear(tuple((draws[v], c) for v, c in value.terms if v >= 0), constant)
