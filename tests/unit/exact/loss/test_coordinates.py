"""The random outputs of one case as rows: the identities between them, by hand."""

from __future__ import annotations

import pytest

from dpest.exact.inference.cases import Affine, Expansion
from dpest.exact.loss.blocks import CoordinateKind
from dpest.exact.loss.coordinates import CoordinateRows, rows_of
from dpest.lang.nodes import Draw, Linear
from dpest.laws.continuous import Laplace
from dpest.laws.discrete import Geometric
from dpest.numerics.rationals import exact

Z, W, K = Draw(Laplace(1.0)), Draw(Laplace(1.0)), Draw(Geometric(1.0))
REAL, LATTICE = CoordinateKind.REAL, CoordinateKind.LATTICE


def case(kinds: list[CoordinateKind], *rows: dict[Draw, int]) -> CoordinateRows:
    values = tuple(Affine(Linear(tuple((d, exact(c)) for d, c in row.items()), exact(0))) for row in rows)
    return rows_of(Expansion((), values), tuple(("real",) for _ in rows), kinds)


@pytest.mark.parametrize(
    ("kinds", "rows", "dimension"),
    [
        ([REAL], [{Z: 1}], 0),
        ([LATTICE], [{K: 1}], 0),
        ([REAL, REAL], [{Z: 1}, {W: 1}], 0),
        ([REAL, REAL], [{Z: 1}, {Z: 2}], 1),
        ([REAL, REAL], [{Z: 1}, {Z: 2, K: 1}], 1),
        ([REAL, LATTICE], [{Z: 1}, {K: 1}], 0),
        ([REAL, REAL, REAL], [{Z: 1}, {W: 1}, {Z: 1, W: 1}], 1),
        ([REAL, REAL, REAL], [{Z: 1}, {Z: 3}, {Z: -1}], 2),
    ],
)
def test_identities_of_the_real_coordinates(kinds: list[CoordinateKind], rows: list[dict[Draw, int]], dimension: int) -> None:
    """Each identity is a combination of the real coordinates in which all continuous noise cancels."""
    found = case(kinds, *rows).subspace
    assert len(found) == dimension
    real = [row for row, kind in zip(rows, kinds, strict=True) if kind is REAL]
    for identity in found:
        assert any(identity)
        for d in (Z, W):
            assert sum(c * row.get(d, 0) for c, row in zip(identity, real, strict=True)) == 0


def test_cases_on_different_planes_are_told_apart() -> None:
    same, other = case([REAL, REAL], {W: 1}, {W: 2}), case([REAL, REAL], {Z: 1}, {Z: 3})
    assert case([REAL, REAL], {Z: 1}, {Z: 2}).subspace == same.subspace != other.subspace
