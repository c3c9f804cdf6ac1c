"""`dpest check`: does a claim hold? For scripts and CI."""

from __future__ import annotations

import json
from typing import Any

import click

from dpest.cli.colour import tinted
from dpest.cli.options import (
    Asked,
    ask,
    json_option,
    print_verdict,
    question,
    question_options,
    sampling_options,
    verdict_status,
)
from dpest.cli.prove import proved
from dpest.cli.waiting import timeout_option
from dpest.errors import InvalidInput


@click.command("check")
@question_options
@click.option("--epsilon", type=float, help="The claimed epsilon; a built-in name brings its own.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claimed delta.")
@click.option("--exact", is_flag=True, help="Refuse (exit 2) where only sampling could answer.")
@click.option("--all-inputs", is_flag=True, help="Over all adjacent inputs: exit 1 unless the claim is proved.")
@sampling_options
@json_option
@timeout_option
def command(epsilon: float | None, delta: float, exact: bool, all_inputs: bool, as_json: bool, **options: Any) -> int:
    """Check the claim that TARGET is (epsilon, delta)-private, on the pairs looked at or over all adjacent inputs.

    Exit status: 0 the claim holds (or sampling could not refute it), 1 it is violated, 2 wrong use or no verdict,
    130 interrupted before one.
    """
    from dpest.report.verdict import Outcome, judge, verdict_text

    asked = question(options)
    claim = claimed(asked, epsilon)
    result = proved(asked.target, asked.params, options) if all_inputs else ask(asked, "exact" if exact else "auto")
    verdict = judge(result, claim, delta)
    if as_json:
        print_verdict(json.dumps({"verdict": verdict.to_dict(), "result": result.to_dict()}, indent=2, allow_nan=False))
    else:
        said = tinted(verdict_text(result, verdict), verdict.outcome.value)
        print_verdict(said, *([] if verdict.outcome is Outcome.HOLDS else [str(result)]))
    violated = verdict.outcome is not Outcome.HOLDS if all_inputs else verdict.outcome is Outcome.VIOLATED
    return verdict_status(violated=violated, interrupted=result.interrupted)


def claimed(asked: Asked, epsilon: float | None) -> float:
    """The claim that was given, or that a built-in algorithm makes for its default parameters."""
    if epsilon is not None:
        return epsilon
    if asked.target.algorithm is None or asked.params or asked.n is not None:
        raise InvalidInput(f"which claim? write --epsilon 0.1 after {asked.target.name}")
    return asked.target.algorithm.claim
