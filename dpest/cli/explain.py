"""`dpest explain`: which values share noise, and how the loss is found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from dpest.cli.options import ask, first_pair, json_option, question, question_options


@click.command("explain")
@question_options
@json_option
def command(as_json: bool, **options: Any) -> None:
    """The dependence graph of TARGET in words, the method that its loss is found by, and why."""
    from dpest.inputs import show
    from dpest.report.dependence import dependence_text, traced

    asked = question(options)
    data = first_pair(asked).left
    found = traced(asked.target.function, data, asked.params)
    result = ask(asked, "auto")
    if as_json:
        plan = {"input": show(data), **asdict(found), "method": result.method, "reason": result.reason}
        click.echo(json.dumps(plan, indent=2))
        return
    click.echo(f"{asked.target.name} on the input {show(data)}\n{dependence_text(found)}")
    click.echo(f"method {result.method}: {result.reason}")
