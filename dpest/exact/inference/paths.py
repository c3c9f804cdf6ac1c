"""The trace of a mechanism whose loops are weighed by inference."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpest.exact.inference.eliminate import eliminate
from dpest.exact.inference.stars import loop_component
from dpest.trace import explore
from dpest.trace.rounds import Loop


def log_repeats(loop: Loop) -> float:
    """ln of what a loop multiplies the weight of its first round by."""
    return float(eliminate(loop_component(loop).component).log(np.empty((1, 0)))[0][0])


trace = partial(explore.trace, loop_weight=log_repeats)
