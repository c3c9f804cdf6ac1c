"""Numbers as a person reads them: no more digits than the bracket supports."""

from __future__ import annotations

import math

NARROW = 1e-6  # a bracket narrower than this, relative to the value, is shown as a numerical error


def number(x: float, digits: int = 6) -> str:
    """A float in few digits; infinity in a word."""
    if math.isinf(x):
        return "infinite" if x > 0 else "-infinite"
    return f"{x:.{digits}g}"


def log_number(log_x: float, digits: int = 6) -> str:
    """exp(log_x) in few digits, also where it is too small or too large for a float."""
    if log_x == -math.inf:
        return "0"
    if math.isnan(log_x):
        return "(not worked out)"
    if abs(log_x) < 690:
        return f"{math.exp(log_x):.{digits}g}"
    return f"exp({log_x:.{digits}g})"


def loss(value: float, lower: float, upper: float) -> str:
    """A loss in the digits that its bracket supports."""
    if math.isinf(value) or value == 0:
        return number(value)
    error = max(value - lower, upper - value)
    if not error < math.inf:
        return number(value, 4)
    digits = 15 if error <= 0 else math.floor(math.log10(value) - math.log10(error))
    return number(value, min(15, max(3, digits)))


def bracket(value: float, lower: float, upper: float) -> str:
    """The bracket in words: a numerical error where it is narrow, both ends where it is not."""
    if lower == upper:
        return ""
    error = max(value - lower, upper - value)
    if error <= NARROW * abs(value):
        return f"± {error:.1g}"
    return f"in [{number(lower)}, {number(upper)}]" if upper < math.inf else f"at least {number(lower)}"


def seconds(t: float) -> str:
    """A duration in the unit that suits it."""
    if t < 0.0995:
        return f"{t * 1000:.0f} ms"
    return f"{t:.2g} s" if t < 10 else f"{t:.0f} s"


def count(n: int) -> str:
    """A count with thin grouping: 1,000,000."""
    return f"{n:,}"
