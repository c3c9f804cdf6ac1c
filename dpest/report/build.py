"""From mechanisms to the data of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpest import __version__
from dpest.algorithms import Adjacency, Algorithm
from dpest.doors.estimate import estimate
from dpest.doors.prove import prove
from dpest.errors import DpestError, NotCovered
from dpest.numerics.effort import counted_effort
from dpest.report.data import Entry, Report, profile_points
from dpest.report.dependence import traced
from dpest.report.graph_svg import graph_svg
from dpest.report.outputs import output_table
from dpest.report.source import source_text
from dpest.report.verdict import Outcome, Verdict, judge
from dpest.results import Evidence, Result

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


# Steps of 10 to 30 microseconds for the proof of one mechanism: about 20 s. The proofs of the gallery take up to 60,000; a median
# and a mean of five unknown numbers, which are not done with three times as many, are left without one.
PROOF_WORK = 1_000_000


def report(entries: tuple[Entry, ...], title: str = "Privacy loss") -> Report:
    """Entries as a report."""
    return Report(title, entries, __version__, (INTRODUCTION,))


def algorithm_entry(algorithm: Algorithm, claim: float | None = None, delta: float = 0.0, **options: Any) -> Entry:
    """One built-in algorithm with its claim, on its own pairs and over all adjacent inputs."""
    result = estimate(algorithm.function, algorithm.pairs(), **options)
    claimed = algorithm.claim if claim is None else claim
    found = entry(algorithm.name, algorithm.function, result, {}, claimed, delta, algorithm.all_inputs())
    return replace(
        found,
        sentence=algorithm.title,
        adjacency=ADJACENT[algorithm.adjacency],
        source=algorithm.paper,
        comment=algorithm.flaw,
    )


def entry(
    name: str,
    mechanism: Callable[..., Any],
    result: Result,
    params: Mapping[str, Any],
    claim: float | None = None,
    delta: float = 0.0,
    inputs: Mapping[str, Any] | None = None,
) -> Entry:
    """One mechanism: its result, what is proved over all `inputs` (keywords of `prove`), and what there is to draw."""
    named = replace(result, mechanism=name)
    proved, unproved = _over_all(name, mechanism, params, inputs)
    proved = None if proved is None else _with_pairs(proved, named)
    verdict, everywhere = (None, False) if claim is None else _verdict(named, proved, claim, delta)
    return Entry(
        name=name,
        sentence=(mechanism.__doc__ or "").strip().split("\n\n")[0],
        adjacency="",
        claim=claim,
        result=named,
        verdict=verdict,
        everywhere=everywhere,
        proved=proved,
        unproved=unproved,
        outputs=output_table(result),
        profile=profile_points(result),
        graph=_graph(name, mechanism, result, params),
        code=source_text(mechanism),
    )


def _over_all(
    name: str, mechanism: Callable[..., Any], params: Mapping[str, Any], inputs: Mapping[str, Any] | None
) -> tuple[Result | None, str]:
    """The loss over all adjacent inputs, or why it is not known."""
    if inputs is None:
        return None, "not asked for: -n N, or --adjacency NAME beside --pair, asks about every adjacent pair"
    try:
        with counted_effort(PROOF_WORK):
            found = prove(mechanism, **inputs, params=dict(params), progress=False)
    except DpestError as error:
        return None, str(error)
    if found.proof is None and not found.pairs:  # neither a bound nor a pair
        return None, " ".join(found.notes)
    return replace(found, mechanism=name), ""


def _with_pairs(proved: Result, result: Result) -> Result:
    """The lower side may also rest on an input pattern, which is adjacent by what it is; other pairs are taken on trust."""
    exact = result.evidence in (Evidence.EXACT, Evidence.CERTIFIED) and all(p.pair.name for p in result.pairs)
    if not exact or not proved.lower < result.lower <= proved.upper:
        return proved
    best = next(p for p in result.pairs if p.pair == result.pair)
    return replace(proved, lower=result.lower, pair=result.pair, witness=result.witness, pairs=(best,))


def _verdict(result: Result, proved: Result | None, claim: float, delta: float) -> tuple[Verdict, bool]:
    """What is known of the claim, and whether it is about all inputs: a violated pair or bound decides, then a proof."""
    pairs = judge(result, claim, delta)
    if proved is None or pairs.outcome is Outcome.VIOLATED:
        return pairs, False
    try:
        whole = judge(proved, claim, delta)
    except NotCovered:  # nothing is known of delta over all inputs
        return pairs, False
    return (pairs, False) if whole.outcome is Outcome.NOT_REFUTED else (whole, True)


def _graph(name: str, mechanism: Callable[..., Any], result: Result, params: Mapping[str, Any]) -> str:
    try:
        return graph_svg(traced(mechanism, result.pair.left, params), f"Dependence graph of {name}")
    except DpestError:  # a black box has no graph
        return ""
