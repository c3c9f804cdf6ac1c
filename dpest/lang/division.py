"""Division by a random value: where it may be zero, Python's numbers and NumPy's part."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from dpest.errors import ExactRefused
from dpest.lang.logic import compare
from dpest.lang.nodes import TRUTHS, ArgExtreme, Extreme, Quotient, Relation, Rounded, Where, ancestors, draws_of, is_node
from dpest.lang.run import RUN
from dpest.lang.spans import reach
from dpest.numerics.setting import Setting

_OF_ARRAYS: ContextVar[bool] = ContextVar("dpest_division_of_arrays", default=False)


def of_arrays() -> Setting[bool]:
    """A block in which NumPy divides the elements of an array."""
    return Setting(_OF_ARRAYS, True)


_WITH_ATOMS = (Extreme, Where, Rounded, ArgExtreme, *TRUTHS)


def quotient(left: Any, right: Any) -> Quotient:
    """left / right; a path on which the divisor is zero is refused, but for arrays, which are NumPy's.

    Which of the two it would be, an error that the author may catch or an infinite number, depends on the type of what was drawn,
    which a trace does not know.
    """
    run: Any = None if _OF_ARRAYS.get() else RUN.get()
    if hasattr(run, "within") and _may_be_zero(right):
        zero = compare(Relation.EQ, right, 0)
        if run.decide(zero) if is_node(zero) else zero:
            raise ExactRefused(
                "a division by a random value that may be zero: Python's numbers raise ZeroDivisionError there, and NumPy's give "
                "inf or nan. Test it before, as in `if b == 0: return None`, or keep it away from zero: a / max(1, b)"
            )
    return Quotient(left, right)


def _may_be_zero(node: Any) -> bool:
    """Whether a value is zero with positive probability, as far as its form and the supports of its draws tell."""
    low, high = reach(node)
    if not low <= 0 <= high:
        return False
    return all(d.law.discrete for d in draws_of(node)) or any(isinstance(x, _WITH_ATOMS) for x in ancestors(node))
