"""Row reduction of small matrices, with the transformation that does it."""

from __future__ import annotations

import numpy as np

from dpest.numerics.logspace import Floats

_RELATIVE = 1e-11


def reduced(a: Floats) -> tuple[Floats, int]:
    """(T, rank) such that T is invertible and T @ a is in reduced row echelon form; zero rows come last."""
    rows, columns = a.shape
    work = np.hstack([a.astype(float), np.eye(rows)])
    size = np.max(np.abs(a), initial=0.0)
    rank = 0
    for column in range(columns):
        if rank == rows:
            break
        pivot = rank + int(np.argmax(np.abs(work[rank:, column])))
        if abs(work[pivot, column]) <= _RELATIVE * max(size, 1e-300):
            continue
        work[[rank, pivot]] = work[[pivot, rank]]
        work[rank] /= work[rank, column]
        for other in range(rows):
            if other != rank:
                work[other] -= work[other, column] * work[rank]
        rank += 1
    return _clean(work[:, columns:]), rank


def identities(a: Floats) -> Floats:
    """A canonical basis of the combinations of rows of `a` that vanish, one per row."""
    transform, rank = reduced(a)
    null = transform[rank:]
    if not len(null):
        return null
    basis, _ = reduced(null)
    return _clean(basis @ null)


def _clean(a: Floats) -> Floats:
    """Entries within rounding of a whole number, made whole."""
    near = np.round(a)
    return np.where(np.abs(a - near) < 1e-12, near, a) + 0.0
