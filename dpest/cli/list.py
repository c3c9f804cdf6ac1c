"""`dpest list`: the built-in algorithms."""

from __future__ import annotations

import json

import click

from dpest.cli.options import json_option


@click.command("list")
@json_option
def command(as_json: bool) -> None:
    """The built-in algorithms: name, claim, whether it is true, adjacency and what it does."""
    from dpest.algorithms import gallery
    from dpest.report.table import plain_table

    if as_json:
        fields = [
            {
                "name": a.name,
                "function": a.function.__name__,
                "claim": a.claim,
                "claim_true": a.claim_true,
                "adjacency": a.adjacency.value,
                "n": a.n,
                "title": a.title,
                "paper": a.paper,
                "flaw": a.flaw,
            }
            for a in gallery()
        ]
        click.echo(json.dumps(fields, indent=2))
        return
    rows = [[a.name, f"{a.claim:.4g}", "yes" if a.claim_true else "no", a.adjacency.value, str(a.n), a.title] for a in gallery()]
    click.echo(plain_table(["name", "claim", "true", "adjacency", "n", "what it does"], rows))
