"""A result as a few lines of plain text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from dpest.inputs.shown import brief, brief_event
from dpest.report.numbers import bracket, count, log_number, loss, number, seconds
from dpest.report.table import plain_table
from dpest.results import PAIRS, Direction, Evidence, Result, Witness

WIDTH = 110  # columns: wide enough for a pair and its witness, and for half a screen
LABEL = 12  # columns: the longest label, "interrupted", and a space
NOTHING = "every run returns None: is a `return` missing?"


def result_text(result: Result) -> str:
    """Mechanism, loss with bracket and evidence, worst pair, witness and the reason for the method."""
    return "\n".join([headline(result), *(_line(label, text) for label, text in summary_rows(result))])


def headline(result: Result) -> str:
    """Mechanism and loss on one line."""
    return f"{result.mechanism}: epsilon {'' if open_ended(result) else '= '}{loss_text(result)}"


def loss_text(result: Result) -> str:
    """The loss, its bracket and its evidence on one line."""
    if open_ended(result):
        estimate = "" if result.epsilon <= result.lower * (1 + 1e-9) else f"about {number(result.epsilon, 4)}, "
        return f">= {number(result.lower, 9)} ({estimate}{evidence_text(result)}; no upper bound proved)"
    value = loss(result.epsilon, result.lower, result.upper)
    inside = [part for part in (bracket(result.epsilon, result.lower, result.upper), evidence_text(result)) if part]
    return f"{value} ({', '.join(inside)})"


def open_ended(result: Result) -> bool:
    """Whether an exact answer is a loss that is reached, and nothing is proved about how much larger it may be."""
    exact = result.evidence in (Evidence.EXACT, Evidence.CERTIFIED)
    return exact and result.upper == math.inf and math.isfinite(result.epsilon)


def evidence_text(result: Result) -> str:
    """What kind of statement the number is."""
    match result.evidence:
        case Evidence.EXACT | Evidence.CERTIFIED:
            proved = math.isinf(result.epsilon)
            return f"{result.evidence.value}, proved" if proved else result.evidence.value
        case Evidence.ESTIMATE | Evidence.LOWER_BOUND:
            level = "" if result.confidence is None else f" at {100 * result.confidence:g} % confidence"
            return f"{result.evidence.value}{level}"


def witness_text(witness: Witness) -> str:
    """The event, how likely it is under both inputs, and the log ratio."""
    above, below = ("D", "D'") if witness.direction is Direction.LEFT else ("D'", "D")
    verb = "tends to" if witness.limit else "="
    return (
        f"{brief_event(witness.event)}; {witness.measure} {log_number(witness.log_left)} under D, "
        f"{log_number(witness.log_right)} under D'; ln({above} / {below}) {verb} {number(witness.loss, 12)}"
    )


def summary_rows(result: Result) -> Iterator[tuple[str, str]]:
    """What a person reads beside the loss: label and text."""
    if result.scope != PAIRS:
        yield "scope", result.scope + (", proved" if result.proof is not None else "")
    yield "worst pair", str(result.pair)
    if len(result.pairs) > 1:
        yield "pairs", f"{len(result.pairs)} looked at, both directions"
    if result.witness is not None:
        yield "witness", witness_text(result.witness)
    yield "method", _method(result)
    if result.interrupted:
        yield "interrupted", "stopped before the end; this is the answer so far"
    if math.isinf(result.epsilon) and result.evidence in (Evidence.EXACT, Evidence.CERTIFIED):
        yield "delta", _with_delta(result)
    if returns_nothing(result):
        yield "note", NOTHING
    for note in result.notes:
        yield "note", note


def returns_nothing(result: Result) -> bool:
    """Whether every run returned None: nothing is lost, and nothing is released."""
    witness = result.witness
    return result.epsilon == 0 and witness is not None and witness.event == "output == None" and witness.log_left == 0


def _with_delta(result: Result) -> str:
    """Where to go on from an infinite loss, which says nothing about (epsilon, delta)-privacy."""
    ask = "estimate(mechanism, pair).epsilon_at(1e-6)" if result.scope != PAIRS else "result.epsilon_at(1e-6)"
    return f"no epsilon holds at delta = 0; with a delta > 0 one may: {ask}, on the command line dpest estimate ... --delta 1e-6"


def _method(result: Result) -> str:
    drawn = "" if result.samples is None else f", {count(result.samples)} samples"
    took = f", {seconds(result.seconds)}" if result.seconds else ""
    why = f": {result.reason.removeprefix(f'{result.method}: ')}" if result.reason else ""
    return f"{result.method}{drawn}{took}{why}"


def _line(label: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"  {label:<{LABEL}}",
        subsequent_indent=" " * (LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def pairs_table(result: Result) -> str:
    """One row per pair: the inputs, and the loss in both directions; the worst one is marked."""
    rows = [
        [
            "*" if p.pair == result.pair else "",
            p.pair.name or f"pair {i}",
            brief(p.pair.left),
            brief(p.pair.right),
            number(p.forward, 10),
            number(p.backward, 10),
        ]
        for i, p in enumerate(result.pairs, 1)
    ]
    return plain_table(["", "pair", "D", "D'", "ln(D / D')", "ln(D' / D)"], rows)
