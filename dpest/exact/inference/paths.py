"""The trace of a mechanism whose loops are weighed by inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from dpest.errors import MechanismError, MechanismRaised
from dpest.exact.inference.closed_forms import with_closed_forms
from dpest.exact.inference.eliminate import eliminate
from dpest.exact.inference.joint_sums import with_joint_sums
from dpest.exact.inference.multisets import with_multisets
from dpest.exact.inference.own_draws import with_own_draws
from dpest.exact.inference.stars import loop_component
from dpest.lang.generators.open_arrays import open_arrays
from dpest.lang.one_text import some_left, texts_open
from dpest.lang.shares import shares_added
from dpest.lang.shuffled import HoldsNumbersOnly, OrderMatters, met_an_order, orders_left_open
from dpest.trace import explore
from dpest.trace.against_program import CHECKS, Checks
from dpest.trace.explore import Trace
from dpest.trace.limits import LIMITS, Limits
from dpest.trace.rounds import Loop
from dpest.trace.texts import check_apart, has_word
from dpest.trace.told_counts import with_counted_keys


def log_repeats(loop: Loop) -> float:
    """ln of what a loop multiplies the weight of its first round by."""
    return float(eliminate(loop_component(loop).component).log(np.empty((1, 0)))[0][0])


def trace(
    mechanism: Callable[..., Any],
    data: Any,
    params: Mapping[str, Any],
    limits: Limits = LIMITS,
    checks: Checks = CHECKS,
) -> Trace:
    """Every path of a mechanism, its loops weighed; values in sums that alone use their noise are draws of their own."""

    def traced() -> Trace:
        return texts_open(_traced)

    def _traced() -> Trace:
        with shares_added():
            found = explore.trace(mechanism, data, params, limits, checks, log_repeats)
        if some_left() and any(has_word(path.output.structure) for path in found.paths):
            check_apart([path.output for path in found.paths])
        return with_own_draws(with_counted_keys(with_joint_sums(with_closed_forms(found))))

    def unordered() -> Trace:
        with orders_left_open():
            return with_multisets(traced())

    try:
        return unordered()
    except HoldsNumbersOnly:
        with suppress(OrderMatters, MechanismError), open_arrays():
            return unordered()
    except OrderMatters:
        pass
    except MechanismRaised as error:
        if not met_an_order(error.__cause__):
            raise
    return traced()
