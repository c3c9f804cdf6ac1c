"""From mechanisms to the data of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpest import __version__
from dpest.algorithms import Adjacency, Algorithm
from dpest.doors.estimate import estimate
from dpest.errors import DpestError
from dpest.report.data import Entry, Report, profile_points
from dpest.report.dependence import traced
from dpest.report.graph_svg import graph_svg
from dpest.report.outputs import output_table
from dpest.report.verdict import judge
from dpest.results import Result

INTRODUCTION = (
    "The privacy loss of a mechanism on a pair of adjacent inputs D and D′ is the largest |ln P(M(D) in S) − ln P(M(D′) in S)| "
    "over all sets S of outputs. Each loss below comes with the pair and the event that show it: they can be checked by hand."
)
ADJACENT = {
    Adjacency.L1: "one coordinate changes by 1 (L1)",
    Adjacency.LINF: "every coordinate changes by at most 1 (L∞)",
    Adjacency.VALUES: "any two values",
    Adjacency.COUNTS: "counts that differ by 1",
}


def report(entries: tuple[Entry, ...], title: str = "Privacy loss") -> Report:
    """Entries as a report."""
    return Report(title, entries, __version__, (INTRODUCTION,))


def algorithm_entry(algorithm: Algorithm, **options: Any) -> Entry:
    """One built-in algorithm with its claim, on its own pairs."""
    result = estimate(algorithm.function, algorithm.pairs(), **options)
    found = entry(algorithm.name, algorithm.function, result, {}, algorithm.claim)
    return replace(
        found,
        sentence=algorithm.title,
        adjacency=ADJACENT[algorithm.adjacency],
        source=algorithm.paper,
        comment=algorithm.flaw,
    )


def entry(
    name: str, mechanism: Callable[..., Any], result: Result, params: Mapping[str, Any], claim: float | None = None
) -> Entry:
    """One mechanism: its result, and what there is to draw."""
    return Entry(
        name=name,
        sentence=(mechanism.__doc__ or "").strip().split("\n\n")[0],
        adjacency="",
        claim=claim,
        result=replace(result, mechanism=name),
        verdict=None if claim is None else judge(result, claim),
        outputs=output_table(result),
        profile=profile_points(result),
        graph=_graph(name, mechanism, result, params),
    )


def _graph(name: str, mechanism: Callable[..., Any], result: Result, params: Mapping[str, Any]) -> str:
    try:
        return graph_svg(traced(mechanism, result.pair.left, params), f"Dependence graph of {name}")
    except DpestError:  # a black box has no graph
        return ""
