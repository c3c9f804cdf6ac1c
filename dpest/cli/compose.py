"""`dpest compose`: the privacy loss of many runs of a mechanism."""

from __future__ import annotations

import json
from typing import Any

import click

from dpest.cli.options import ask, bracket_dict, check_delta, json_option, question, question_options
from dpest.cli.waiting import timeout_option
from dpest.errors import InvalidInput


@click.command("compose")
@question_options
@click.option("--steps", type=int, default=1, show_default=True, metavar="K", help="How many independent runs.")
@click.option("--delta", type=float, help="Print the smallest epsilon at this delta.")
@click.option("--epsilon", type=float, help="Print the smallest delta at this epsilon.")
@click.option("--tolerance", type=float, help="Relative width of delta to aim at.  [default: 1e-4]")
@click.option("--csv", "as_csv", is_flag=True, help="Print the curve as epsilon, delta, lower, upper.")
@json_option
@timeout_option
def command(
    steps: int, delta: float | None, epsilon: float | None, tolerance: float | None, as_csv: bool, as_json: bool, **options: Any
) -> None:
    """The privacy loss of K runs of TARGET one after the other, each with fresh noise, with lower and upper ends.

    TARGET is FILE.py:FUNCTION, package.module:FUNCTION or a built-in name such as SVT1.
    """
    from dpest.report.curves import curve_text, value_text

    check_delta(delta)
    if as_csv and as_json:
        raise InvalidInput("the curve is printed in one form: write --csv or --json")
    if steps < 1:
        raise InvalidInput(f"a composition needs a whole number of runs >= 1, got {steps}: write --steps 1000")
    if epsilon is not None and not epsilon >= 0:
        raise InvalidInput(f"epsilon must be a number >= 0, got {epsilon!r}")
    asked = question(options)
    curve = ask(asked, "exact").compose(steps, tolerance=tolerance)
    at = None if delta is None else curve.epsilon_at(delta)
    there = None if epsilon is None else curve.delta(epsilon)
    if as_csv:
        click.echo(curve.to_csv(), nl=False)
    elif as_json:
        out: dict[str, Any] = {"mechanism": asked.target.name, "steps": steps, **curve.to_dict()}
        out |= {} if at is None else {"at_delta": {"delta": delta, **bracket_dict(at)}}
        if there is not None:
            out["at_epsilon"] = {"epsilon": epsilon, "delta": float(there), "lower": there.lower, "upper": there.upper}
        click.echo(json.dumps(out, indent=2, allow_nan=False))
    elif at is None and there is None:
        click.echo(f"{asked.target.name}, {steps} runs: {curve_text(curve)}")
    else:
        if at is not None:
            click.echo(f"{asked.target.name}, {steps} runs: epsilon = {value_text(at)} at delta {delta:g}")
        if there is not None:
            click.echo(f"{asked.target.name}, {steps} runs: delta = {value_text(there)} at epsilon {epsilon:g}")
