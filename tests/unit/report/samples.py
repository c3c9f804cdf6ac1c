"""Hand-made results, so that reports are tested without running the engine."""

from __future__ import annotations

import math
from typing import Any

from dpest.inputs.pairs import Pair, pattern_pairs
from dpest.report.data import Entry, OutputTable, ProfilePoint, Report
from dpest.report.verdict import judge
from dpest.results import Direction, Evidence, PairResult, Result, Witness

PAIR = Pair("one_above", [1.0, 1.0], [2.0, 1.0])
WITNESS = Witness(PAIR, Direction.RIGHT, "output == 1", "probability", math.log(0.25), math.log(0.5))
LAPLACE = OutputTable(
    y=(-1.0, 0.0, 1.0, 2.0),
    log_density_left=(-1.7, -0.7, -1.7, -2.7),
    log_density_right=(-2.7, -1.7, -0.7, -1.7),
    axis="output[0]",
)
COIN = OutputTable(("0", "1"), (math.log(0.75), math.log(0.25)), (math.log(0.5), math.log(0.5)))


def result(**changes: Any) -> Result:
    """A coin whose heads are twice as likely under D'."""
    pair = PairResult(PAIR, math.log(2), math.log(2), math.log(2), math.log(1.5), math.log(2), WITNESS)
    fields: dict[str, Any] = {
        "epsilon": math.log(2),
        "lower": math.log(2) - 1e-15,
        "upper": math.log(2) + 1e-15,
        "method": "exact",
        "evidence": Evidence.EXACT,
        "confidence": None,
        "pair": PAIR,
        "witness": WITNESS,
        "reason": "two paths, one output each",
        "pairs": (pair,),
        "mechanism": "coin",
    }
    return Result(**{**fields, **changes})


def several_pairs() -> Result:
    """Seven pairs, the last one infinitely far apart."""
    losses = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, math.inf]
    pairs = tuple(PairResult(p, e, e, e, e, e / 2, None) for p, e in zip(pattern_pairs(5), losses, strict=True))
    worst: dict[str, Any] = {"epsilon": math.inf, "lower": math.inf, "upper": math.inf, "pair": pairs[-1].pair, "witness": None}
    return result(pairs=pairs, mechanism="<leak> & co", **worst)


def report() -> Report:
    """Two mechanisms: one keeps its claim, one does not."""
    coin, leak = result(), several_pairs()
    profile = tuple(ProfilePoint(e / 10, 0.25 - e / 40, 0.25 - e / 40, 0.25 - e / 40) for e in range(8))
    return Report(
        "Privacy loss",
        (
            Entry("coin", "A coin.", "linf", 1.0, coin, judge(coin, 1.0), COIN, profile),
            Entry("<leak> & co", "It tells.", "linf", 1.0, leak, judge(leak, 1.0), LAPLACE),
        ),
        version="0.1.0",
    )
