"""`dpest estimate`: the privacy loss of a mechanism."""

from __future__ import annotations

from typing import Any

import click

from dpest.cli.options import (
    answer_status,
    ask,
    at_delta,
    check_delta,
    json_option,
    print_answer,
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
    at = at_delta(result, delta)
    if len(result.pairs) > 1 and not as_json:
        from dpest.report.text import pairs_table

        click.echo(pairs_table(result) + "\n")
    print_answer(result, at, as_json=as_json)
    return answer_status(result)
