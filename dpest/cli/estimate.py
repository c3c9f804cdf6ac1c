"""`dpest estimate`: the privacy loss of a mechanism."""

from __future__ import annotations

import json
from typing import Any

import click

from dpest.cli.colour import first_line_bold
from dpest.cli.options import (
    answer_status,
    ask,
    bracket_dict,
    check_delta,
    json_option,
    question,
    question_options,
    sampling_options,
)
from dpest.cli.waiting import timeout_option


@click.command("estimate")
@question_options
@click.option("--method", type=click.Choice(["auto", "exact", "sampling", "both"]), default="auto", show_default=True)
@click.option("--delta", type=float, help="Also the smallest epsilon at this delta.")
@sampling_options
@json_option
@timeout_option
def command(method: str, delta: float | None, as_json: bool, **options: Any) -> int:
    """The privacy loss of TARGET, with its bracket, the worst pair and the witness.

    TARGET is FILE.py:FUNCTION, package.module:FUNCTION or a built-in name such as SVT1.
    """
    check_delta(delta)
    result = ask(question(options), method)
    at = None if delta is None else result.epsilon_at(delta)
    if as_json:
        extra = {} if at is None else {"at_delta": {"delta": delta, **bracket_dict(at)}}
        click.echo(json.dumps({**result.to_dict(), **extra}, indent=2, allow_nan=False))
        return answer_status(result)
    from dpest.report.text import pairs_table

    if len(result.pairs) > 1:
        click.echo(pairs_table(result) + "\n")
    click.echo(first_line_bold(str(result)))
    if at is not None:
        from dpest.report.curves import value_text

        click.echo(f"  at delta {delta:g}: epsilon = {value_text(at)}")
    return answer_status(result)
