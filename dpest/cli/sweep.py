"""`dpest sweep`: the loss against the values of a parameter."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

import click

from dpest.cli.options import (
    Asked,
    all_inputs,
    bracket_dict,
    check_delta,
    inputs,
    json_option,
    literal,
    question,
    question_options,
)
from dpest.cli.options import parameter as name_and_value
from dpest.cli.prove import given_domain, whole_options
from dpest.cli.targets import resolve
from dpest.cli.waiting import timeout_option, waiting


@click.command("sweep")
@question_options
@click.argument("parameter")
@click.argument("values", nargs=-1, required=True)
@click.option("--delta", type=float, help="Also the smallest epsilon at this delta.")
@click.option("--patterns", is_flag=True, help="On the input patterns instead of over all adjacent inputs.")
@whole_options
@json_option
@timeout_option
def command(parameter: str, values: tuple[str, ...], delta: float | None, patterns: bool, as_json: bool, **options: Any) -> None:
    """The loss of TARGET for each of VALUES of PARAMETER: on the pairs given, else proved over all adjacent inputs.

    dpest sweep mine.py:noisy_max eps 0.1 0.5 1 -n 5
    """
    from dpest.doors.sweep import sweep
    from dpest.report.curves import value_text

    check_delta(delta)
    asked = _asked(options, patterns)
    pairs = inputs(asked) if patterns or asked.pairs else None
    about = {} if pairs is not None else {**(all_inputs(asked) or {}), **given_domain(options)}
    if parameter == "n":
        about.pop("n", None)
    show = waiting(asked.target.name)
    with show, redirect_stdout(sys.stderr):
        listed = list(map(literal, values))
        table = sweep(asked.target.function, parameter, listed, pairs, params=asked.params, progress=show, **about)
    ats = [] if delta is None else [(value, r.epsilon_at(delta)) for value, r in table.rows]
    if as_json:
        extra = {"at_delta": {"delta": delta, "epsilon": [bracket_dict(x) for _, x in ats]}} if ats else {}
        click.echo(json.dumps({**table.to_dict(), **extra}, indent=2, allow_nan=False))
        return
    click.echo(str(table))
    for value, at in ats:
        click.echo(f"  {parameter} = {value} at delta {delta:g}: epsilon = {value_text(at)}")


def _asked(options: dict[str, Any], patterns: bool) -> Asked:
    """The question; over all inputs a mechanism of one bare value needs no number of rows."""
    if patterns or options["pairs"] or options["n"] is not None:
        return question(options)
    params = dict(map(name_and_value, options["params"]))
    return Asked(resolve(options["target"]), None, None, options["adjacency"], params, {})
