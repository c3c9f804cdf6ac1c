"""`dpest prove`: the privacy loss over all adjacent inputs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpest.cli.completing import complete_target
from dpest.cli.options import at_delta, check_delta, json_option, literal, parameter, print_answer
from dpest.cli.targets import Target, resolve
from dpest.cli.waiting import timeout_option, waiting

if TYPE_CHECKING:
    from dpest.results import Result


def whole_options(command: Any) -> Any:
    """Which inputs are adjacent, and what a row can be."""
    for decorate in (
        click.option("--domain", metavar="VALUES", help="Values of a row: '(0, 1)', int, or a list such as '[0, 1]'."),
        click.option("--sensitivity", type=float, help="By how much a number may change.  [default: 1]"),
    ):
        command = decorate(command)
    return command


def given_domain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Sensitivity and domain, where they were given."""
    found = {k: options[k] for k in ("sensitivity", "domain") if options.get(k) is not None}
    if isinstance(found.get("domain"), str):
        found["domain"] = int if found["domain"] == "int" else literal(found["domain"])
    return found


@click.command("prove")
@click.argument("target", shell_complete=complete_target)
@click.option("-n", "n", type=int, metavar="N", help="Rows of the input; a mechanism of one bare value needs none.")
@click.option("--adjacency", metavar="NAME", help="linf, l1, monotone, replace or add_remove.  [default: linf]")
@whole_options
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the mechanism; repeatable.")
@click.option("--delta", type=float, help="Also the smallest epsilon at this delta, where the curve over all inputs is known.")
@click.option("--proof", is_flag=True, help="Print the proof in words.")
@click.option("--certificate", type=click.Path(), metavar="FILE", help="Write the certificate to FILE as JSON.")
@json_option
@timeout_option
def command(
    target: str, delta: float | None, proof: bool, certificate: str | None, as_json: bool, **options: Any
) -> None:
    """The privacy loss of TARGET over all adjacent inputs, with a proof and the worst pair.

    TARGET is FILE.py:FUNCTION, package.module:FUNCTION or a built-in name such as SVT1, which brings its own inputs.
    """
    check_delta(delta)
    found = resolve(target)
    result = proved(found, dict(map(parameter, options.pop("params"))), options)
    at = at_delta(result, delta)
    if certificate is not None and result.proof is not None:
        Path(certificate).write_text(json.dumps(result.proof.to_dict(), indent=1), encoding="utf-8")
    print_answer(result, at, as_json=as_json)
    if proof and not as_json:
        click.echo(f"\n{result.proof}" if result.proof is not None else "\nno proof")


def proved(target: Target, params: dict[str, Any], options: dict[str, Any]) -> Result:
    """The answer of `dpest.prove`; a built-in algorithm brings the inputs that its claim is about."""
    from dpest.doors.prove import prove

    given = {k: options[k] for k in ("n", "adjacency") if options.get(k) is not None} | given_domain(options)
    own = target.algorithm.all_inputs(given.get("n")) if target.algorithm is not None else {}
    show = waiting(target.name)
    with show, redirect_stdout(sys.stderr):  # a mechanism that prints must not spoil the answer
        result: Result = prove(target.function, **{**own, **given}, params=params, progress=show)
    return replace(result, mechanism=target.name)
