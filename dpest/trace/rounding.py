"""Where floating-point numbers decide, and not the real numbers that continuous noise is taken for.

A function of noise that underflows, overflows or comes to its limit, and noise that is added to a much larger number, lose what
was drawn. Comparisons of real numbers that come so close to their bound are too rare to be met: one that a run at random meets
is decided by rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dpest.errors import ExactRefused
from dpest.lang.nodes import Draw, Function, Linear
from dpest.laws.law import Continuous
from dpest.trace.plain_run import PlainRun, draws_in_words
from dpest.trace.valuation import Valuation

if TYPE_CHECKING:
    from dpest.trace.explore import Path

# Steps between floating-point numbers, as a share of the scale of the noise: above, what is released is no longer near the law
# of a real number. Data of 1e13 with noise of scale 1 pass, data of 1e15 do not.
_COARSE = 0.01
_STEP = 2.0**-52  # between floating-point numbers, relative to them


def has_functions(paths: Sequence[Path]) -> bool:
    """Whether functions that underflow, overflow or come to a limit are behind conditions or outputs."""
    if any(draw.origin is not None for path in paths for literal in path.conditions for draw, _ in literal.terms):
        return True
    return any(isinstance(node, Function) for path in paths[:1] for node in path.nodes)


def check_rounding(run: PlainRun, leaves: Iterable[Any]) -> None:
    """Refuses a program of which a run at random showed a decision by rounding, or an output that holds no noise any more."""
    valuation = run.outside
    for leaf in leaves:
        valuation.leaf(leaf)
        if _is_lost(leaf, valuation):
            raise _refused("an output", run)
    if valuation.by_rounding:
        raise _refused("a comparison", run)


def _is_lost(leaf: Any, valuation: Valuation) -> bool:
    """Whether noise is released in a sum with a number so large that it changes the last digits only."""
    if not isinstance(leaf, Linear):
        return False
    scales = [abs(float(c)) * n.law.scale for n, c in leaf.terms if isinstance(n, Draw) and isinstance(n.law, Continuous)]
    return len(scales) == len(leaf.terms) > 0 and _STEP * valuation.largest(leaf) > _COARSE * max(scales)


def _refused(what: str, run: PlainRun) -> ExactRefused:
    return ExactRefused(
        f"floating-point numbers decide {what}, and not the real numbers that continuous noise is taken for: a function of it "
        "underflows, overflows or comes to its limit (exp, tanh, a high power), or it is lost in a much larger number "
        f"(1e20 + noise). The draws were {draws_in_words(run.drawn)}: measure the data and the noise in other units"
    )
