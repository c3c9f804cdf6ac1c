"""Does a stretch of outputs come again?  Noise of a generator that starts anew now and then, whatever its period."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

MOST_ROWS = 1 << 18  # of one stage that are looked at: a period longer than that is not found
_CHANCE = 1e-9  # of taking independent outputs for repeated ones
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_FOLD = np.uint64(32)


def comes_again(earlier: Sequence[Keys], later: Keys, block: int) -> bool:
    """Whether a stretch of the later outputs is one of the earlier ones, or comes again in them a block of runs later.

    Two stretches of independent outputs are equal with probability at most p^length, where p is that of the likeliest output,
    also where they overlap: each equation between two outputs takes at least a factor p.
    """
    parts = [keys[:MOST_ROWS] for keys in (*earlier, later)]
    length = _telling_length(np.concatenate(parts))
    if length is None or min(map(len, parts), default=0) < length:
        return False
    *before, here = (_stretches(keys, length) for keys in parts)
    return any(bool(np.isin(here, other).any()) for other in before) or _apart(here, block)


def block_keys(keys: Keys, size: int) -> Keys:
    """One key for each block of runs, to compare blocks where only they are independent."""
    whole = len(keys) // size
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(size, _BASE, dtype=np.uint64))
        return np.asarray((_mixed(keys[: whole * size]).reshape(whole, size) * powers).sum(axis=1, dtype=np.uint64))


def _mixed(keys: Keys) -> Keys:
    """Keys whose low bits depend on all of theirs; call it where overflow is ignored."""
    mixed = (keys ^ (keys >> _FOLD)) * np.uint64(_BASE)
    return np.asarray(mixed ^ (mixed >> _FOLD))


def _telling_length(keys: Keys) -> int | None:
    """How long an equal stretch must be to be none of chance; None where one output is too common to tell."""
    counts = np.unique(keys, return_counts=True)[1]
    most = float(counts.max())
    likeliest = (most + 3 * math.sqrt(most) + 3) / len(keys)
    if likeliest >= 1:
        return None
    length = math.ceil(math.log(_CHANCE / len(keys) ** 2) / math.log(likeliest))
    return length if length <= len(keys) // 2 else None


def _stretches(keys: Keys, length: int) -> Keys:
    """A hash of each stretch of so many outputs: differences of sums of powers, modulo 2^64."""
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(len(keys), _BASE, dtype=np.uint64))
        back = np.cumprod(np.full(len(keys), _INVERSE, dtype=np.uint64))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(_mixed(keys) * powers)])
        return np.asarray((sums[length:] - sums[:-length]) * back[: len(keys) - length + 1])


def _apart(stretches: Keys, block: int) -> bool:
    """Whether one of the stretches occurs at two places that are at least a block apart."""
    order = np.argsort(stretches, kind="stable")
    ordered = stretches[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    first, last = order[starts], order[np.append(starts[1:], len(order)) - 1]
    return bool(np.any(last - first >= block))
