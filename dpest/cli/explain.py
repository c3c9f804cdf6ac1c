"""`dpest explain`: which values share noise, and how the loss is found."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from dpest.cli.options import Asked, ask, first_pair, json_option, question, question_options
from dpest.cli.waiting import timeout_option
from dpest.errors import ExactRefused

if TYPE_CHECKING:
    from dpest.report.dependence import Dependence

FEW = 1000  # samples, where sampling is the method: the plan is asked for, not the loss


@click.command("explain")
@question_options
@json_option
@timeout_option
def command(as_json: bool, **options: Any) -> None:
    """The dependence graph of TARGET in words, the method that its loss is found by, and why."""
    from dpest.inputs.shown import brief, show
    from dpest.report.dependence import dependence_text

    asked = question(options)
    data = first_pair(asked).left
    found = _traced(asked, data)
    result = ask(replace(asked, sampling={"samples": FEW, "seed": 0}), "auto")
    if as_json:
        graph = {} if found is None else asdict(found)
        click.echo(json.dumps({"input": show(data), **graph, "method": result.method, "reason": result.reason}, indent=2))
        return
    words = "has conditions that cannot be traced" if found is None else dependence_text(found)
    click.echo(f"{asked.target.name} on the input {brief(data)}\n{words}")
    click.echo(f"method {result.reason if result.method == 'exact' else f'{result.method}: {result.reason}'}")


def _traced(asked: Asked, data: Any) -> Dependence | None:
    from dpest.report.dependence import traced

    try:
        return traced(asked.target.function, data, asked.params)
    except ExactRefused:
        return None
