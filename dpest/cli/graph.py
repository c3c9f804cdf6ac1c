"""`dpest graph`: the dependence graph as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpest.cli.options import first_pair, question, question_options
from dpest.cli.waiting import timeout_option
from dpest.errors import InvalidInput


@click.command("graph")
@question_options
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write the SVG here instead of to standard output.")
@timeout_option
def command(output: str | None, **options: Any) -> None:
    """Draw which draws, conditions and outputs of TARGET depend on each other."""
    from dpest.report.dependence import traced
    from dpest.report.graph_svg import graph_svg

    if output is not None and Path(output).suffix.lower() not in ("", ".svg"):
        raise InvalidInput(f"the graph is an SVG picture, got {output}: write -o {Path(output).with_suffix('.svg')}")
    asked = question(options)
    found = traced(asked.target.function, first_pair(asked).left, asked.params)
    svg = graph_svg(found, f"Dependence graph of {asked.target.name}")
    if output is None:
        click.echo(svg, nl=False)
        return
    Path(output).write_text(svg, encoding="utf-8")
    click.echo(output)
