"""The families of mechanisms, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.coverage import (
    answers,
    arrays,
    broken,
    clipped,
    coins,
    continuous,
    distributions,
    everyday,
    habits,
    idioms,
    libraries,
    linear,
    local,
    made,
    noise,
    notebooks,
    numeric,
    proportions,
    repeated,
    rounds,
    sampled,
    selection,
    sessions,
    sketches,
    statistic,
    steps,
    tables,
    teaching,
    thresholds,
    walks,
    written,
)
from benchmarks.coverage.case import Case

FAMILIES: dict[str, tuple[Case, ...]] = {
    "Selection": selection.CASES,
    "Local protocols": local.CASES,
    "Local protocols on numbers": numeric.CASES,
    "Noise": noise.CASES,
    "Histograms and thresholds": thresholds.CASES,
    "Subsampling and training": sampled.CASES,
    "Matrices and trees": linear.CASES,
    "Statistics": statistic.CASES,
    "In other idioms": idioms.CASES,
    "Arrays, shares and shuffles": arrays.CASES,
    "Coins, checks and arrays in place": coins.CASES,
    "From another list": habits.CASES,
    "From a third list": everyday.CASES,
    "Proportions and directions": proportions.CASES,
    "From a fourth list": rounds.CASES,
    "Quantiles and p-values": distributions.CASES,
    "In the idiom of libraries": libraries.CASES,
    "Noise that libraries make themselves": made.CASES,
    "Samplers and sketches": sketches.CASES,
    "Steps, intervals and shares": steps.CASES,
    "Clipped counts, products and tests": clipped.CASES,
    "Noisy bounds, ranges and steps": continuous.CASES,
    "As it is taught": teaching.CASES,
    "In notebooks": notebooks.CASES,
    "Tables": tables.CASES,
    "Walks, sweeps and searches": walks.CASES,
    "Answers, rankings and waiting times": answers.CASES,
    "What is written out": written.CASES,
    "Repeated steps and mixtures": repeated.CASES,
    "Classes, chains and sessions": sessions.CASES,
    "Broken on purpose": broken.CASES,
}


def cases() -> Iterator[tuple[str, Case]]:
    """Every case with its family."""
    for family, found in FAMILIES.items():
        for case in found:
            yield family, case
