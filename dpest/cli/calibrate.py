"""`dpest calibrate`: the value of a parameter at which the proved loss meets a target."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import click

from dpest.cli.completing import complete_target
from dpest.cli.options import json_option
from dpest.cli.options import parameter as name_and_value
from dpest.cli.prove import given_domain, whole_options
from dpest.cli.targets import resolve
from dpest.cli.waiting import timeout_option, waiting


@click.command("calibrate")
@click.argument("target_", metavar="TARGET", shell_complete=complete_target)
@click.argument("parameter")
@click.option("--target", "loss", type=float, required=True, metavar="EPSILON", help="The loss that is to be met.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Meet it at this delta; Gaussian noise needs one.")
@click.option("--start", type=float, help="Where the search begins.  [default: 1]")
@click.option("--tolerance", type=float, help="Relative, of the value.  [default: 1e-6]")
@click.option("-n", "n", type=int, metavar="N", help="Rows of the input; a mechanism of one bare value needs none.")
@click.option("--adjacency", metavar="NAME", help="linf, l1, monotone, replace or add_remove.  [default: linf]")
@whole_options
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="Another parameter of the mechanism; repeatable.")
@json_option
@timeout_option
def command(target_: str, parameter: str, loss: float, as_json: bool, params: tuple[str, ...], **options: Any) -> None:
    """The value of PARAMETER at which the loss of TARGET over all adjacent inputs meets --target.

    dpest calibrate mine.py:noisy_sum scale --target 0.5 -n 10
    """
    from dpest.doors.calibrate import calibrate

    found = resolve(target_)
    own = found.algorithm.all_inputs(options["n"]) if found.algorithm is not None else {}
    about = {k: options[k] for k in ("n", "adjacency", "start", "tolerance", "delta") if options[k] is not None}
    with waiting(found.name), redirect_stdout(sys.stderr):
        asked = {**own, **about, **given_domain(options)}
        answer = calibrate(found.function, parameter, target=loss, params=dict(map(name_and_value, params)), **asked)
    if as_json:
        result = replace(answer.result, proof=None, mechanism=found.name).to_dict()
        plain = {"parameter": parameter, "target": loss, "delta": answer.delta, "value": answer.value}
        plain |= {"bracket": list(answer.bracket), "result": result}
        click.echo(json.dumps(plain, indent=2, allow_nan=False))
        return
    click.echo(str(answer))
