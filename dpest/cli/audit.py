"""`dpest audit`: search a black box for a violation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from dpest.cli.colour import tinted
from dpest.cli.options import (
    Asked,
    json_option,
    print_verdict,
    question,
    question_options,
    sampling_options,
    verdict_status,
    where,
)
from dpest.cli.waiting import timeout_option


@click.command("audit")
@question_options
@click.option("--claim", type=float, help="The claimed epsilon: stop as soon as it is refuted.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claimed delta.")
@click.option("--attack", default="auto", show_default=True, help="auto, sniper or statdp.")
@click.option("--features", default="auto", show_default=True, help="auto, or bits: does the arithmetic leak?")
@sampling_options
@json_option
@timeout_option
def command(claim: float | None, delta: float, attack: str, features: str, as_json: bool, **options: Any) -> int:
    """Sample TARGET, look for the outputs that tell D from D', and bound its loss from below.

    Exit status: 0 the claim is not refuted (or none was made), 1 it is violated, 2 wrong use or no
    verdict, 130 interrupted before one.
    """
    asked = question(options)
    result = _audit(asked, claim=claim, delta=delta, attack=attack, features=features)
    outcome = "violated" if result.violated else "not refuted" if claim is not None else ""
    print_verdict(result.to_json() if as_json else tinted(str(result), outcome))
    return verdict_status(violated=bool(result.violated), interrupted=result.interrupted)


def _audit(asked: Asked, **claims: Any) -> Any:
    from dpest.doors.audit import audit

    found = audit(asked.target.function, **where(asked), **claims, params=asked.params, **asked.sampling)
    return replace(found, mechanism=asked.target.name)
