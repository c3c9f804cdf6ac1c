"""Row reduction of small matrices of rationals, with the transformation that does it: exact ranks, exact identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dpest.numerics.rationals import ONE, ZERO, Rational

Matrix: TypeAlias = tuple[tuple[Rational, ...], ...]


def identity(size: int) -> Matrix:
    """The matrix that changes nothing."""
    return tuple(tuple(ONE if i == j else ZERO for j in range(size)) for i in range(size))


def reduced(a: Sequence[Sequence[Rational]]) -> tuple[Matrix, int]:
    """(T, rank) such that T is invertible and T a is in reduced row echelon form; zero rows come last."""
    rows, columns = len(a), len(a[0]) if len(a) else 0
    work = [[*row, *unit] for row, unit in zip(a, identity(rows), strict=True)]
    rank = 0
    for column in range(columns):
        pivot = max(range(rank, rows), key=lambda i: abs(work[i][column]), default=rows)
        if pivot == rows or not work[pivot][column]:
            continue
        work[rank], work[pivot] = work[pivot], work[rank]
        lead = work[rank][column]
        work[rank] = [x / lead for x in work[rank]]
        for other in range(rows):
            factor = work[other][column]
            if other != rank and factor:
                work[other] = [x - factor * y for x, y in zip(work[other], work[rank], strict=True)]
        rank += 1
    return tuple(tuple(row[columns:]) for row in work), rank


def identities(a: Sequence[Sequence[Rational]]) -> Matrix:
    """A canonical basis of the combinations of rows of `a` that vanish, one per row."""
    transform, rank = reduced(a)
    null = transform[rank:]
    return product(reduced(null)[0], null) if null else ()


def product(a: Matrix, b: Matrix) -> Matrix:
    """The matrix product."""
    columns = list(zip(*b, strict=True))
    return tuple(tuple(sum((x * y for x, y in zip(row, c, strict=True)), ZERO) for c in columns) for row in a)


def inverse(a: Matrix) -> Matrix:
    """The inverse of an invertible matrix."""
    transform, rank = reduced(a)
    assert rank == len(a)
    return transform
