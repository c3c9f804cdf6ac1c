"""The seven input patterns, written out again from their table."""

from __future__ import annotations

Vector = tuple[int, ...]


def patterns(n: int) -> dict[str, tuple[Vector, Vector]]:
    """Name -> (D, D')."""
    ones, low, high = (1,) * n, (n + 1) // 2, n // 2
    return {
        "one_above": (ones, (2, *(1,) * (n - 1))),
        "one_below": (ones, (0, *(1,) * (n - 1))),
        "one_above_rest_below": (ones, (2, *(0,) * (n - 1))),
        "one_below_rest_above": (ones, (0, *(2,) * (n - 1))),
        "half_half": (ones, (0,) * low + (2,) * high),
        "all_above_all_below": (ones, (2,) * n),
        "x_shape": ((1,) * high + (0,) * low, (0,) * high + (1,) * low),
    }


def l1(n: int) -> dict[str, tuple[Vector, Vector]]:
    """The two patterns that change one coordinate by 1."""
    return {name: pair for name, pair in patterns(n).items() if name in ("one_above", "one_below")}
