"""`dpest estimate`: the privacy loss of a mechanism."""

from __future__ import annotations

from typing import Any

import click

from dpest.cli.options import ask, json_option, question, question_options, sampling_options


@click.command("estimate")
@question_options
@click.option("--method", type=click.Choice(["auto", "exact", "sampling", "both"]), default="auto", show_default=True)
@sampling_options
@json_option
def command(method: str, as_json: bool, **options: Any) -> None:
    """The privacy loss of TARGET, with its bracket, the worst pair and the witness.

    TARGET is FILE.py:FUNCTION, package.module:FUNCTION or a built-in name such as SVT1.
    """
    result = ask(question(options), method)
    if as_json:
        click.echo(result.to_json(indent=2))
        return
    from dpest.report.text import pairs_table

    if len(result.pairs) > 1:
        click.echo(pairs_table(result) + "\n")
    click.echo(str(result))
