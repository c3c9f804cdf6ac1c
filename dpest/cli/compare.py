"""`dpest compare`: two mechanisms side by side on the same inputs."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from dpest.cli.completing import complete_target
from dpest.cli.options import (
    Asked,
    all_inputs,
    answer_status,
    ask,
    bracket_dict,
    check_delta,
    input_options,
    inputs,
    json_option,
    parameter,
    question,
    sampling_options,
)
from dpest.cli.prove import proved
from dpest.cli.targets import resolve
from dpest.cli.waiting import timeout_option
from dpest.errors import InvalidInput

if TYPE_CHECKING:
    from dpest.results import Result


@click.command("compare")
@click.argument("first", shell_complete=complete_target)
@click.argument("second", shell_complete=complete_target)
@click.option("--delta", type=float, help="Also the smallest epsilon of both at this delta.")
@click.option("--all-inputs", "everywhere", is_flag=True, help="Also over all adjacent inputs, with proofs.")
@input_options
@sampling_options
@json_option
@timeout_option
def command(first: str, second: str, delta: float | None, everywhere: bool, as_json: bool, **options: Any) -> int:
    """The privacy loss of FIRST and SECOND on the same pairs of inputs, and which of them loses more.

    Each is FILE.py:FUNCTION, package.module:FUNCTION or a built-in name; --param goes to both.
    """
    check_delta(delta)
    asked = _questions(first, second, options)
    results = [ask(q, "auto") for q in asked]
    whole = [_proved(q, options) for q in asked] if everywhere else []
    ats = [] if delta is None else [r.epsilon_at(delta) for r in results]
    if as_json:
        found = [r.to_dict() for r in results]
        extra = {"at_delta": {"delta": delta, "epsilon": [bracket_dict(x) for x in ats]}} if ats else {}
        over = {"all_inputs": [replace(r, proof=None).to_dict() for r in whole]} if whole else {}
        click.echo(json.dumps({"results": found, **extra, **over}, indent=2, allow_nan=False))
    else:
        _print(results, whole, ats, delta)
    return max(answer_status(r) for r in results)


def _questions(first: str, second: str, options: dict[str, Any]) -> list[Asked]:
    """Both questions, about the same pairs: those that were given, or those that a built-in algorithm brings."""
    own = next((name for name in (first, second) if resolve(name).algorithm is not None), None)
    if own is None or options["pairs"] or options["n"] is not None:
        return [question({**options, "target": name}) for name in (first, second)]
    known = question({**options, "target": own})
    parts = [Asked(resolve(name), inputs(known), None, None, known.params, known.sampling) for name in (first, second)]
    return [replace(q, adjacency=known.adjacency) for q in parts]


def _proved(asked: Asked, options: dict[str, Any]) -> Result:
    about = all_inputs(asked)
    if about is None and asked.target.algorithm is not None:
        about = asked.target.algorithm.all_inputs()
    if about is None:
        raise InvalidInput("over which inputs? --all-inputs needs -n N, or --adjacency NAME beside --pair")
    return proved(asked.target, dict(map(parameter, options["params"])), about)


def _print(results: list[Result], whole: list[Result], ats: list[Any], delta: float | None) -> None:
    from dpest.report.curves import value_text
    from dpest.report.numbers import number
    from dpest.report.table import plain_table
    from dpest.report.text import loss_text

    a, b = names = [r.mechanism for r in results]
    pairs = zip(*(r.pairs for r in results), strict=True)
    rows = [[p.pair.name or f"pair {i}", number(p.epsilon, 9), number(q.epsilon, 9), _more(p, q, names)]
            for i, (p, q) in enumerate(pairs, 1)]  # fmt: skip
    click.echo(plain_table(["pair", a, b, "loses more"], rows) + "\n")
    for r in results:
        click.echo(f"{r.mechanism}: epsilon = {loss_text(r)}")
    for r in whole:
        click.echo(f"{r.mechanism} over {r.scope}: epsilon = {loss_text(r)}")
    for name, at in zip(names, ats, strict=False):
        click.echo(f"{name} at delta {delta:g}: epsilon = {value_text(at)}")
    click.echo(click.style(_sentence(*(whole or results)), bold=True))
    if ats:
        click.echo(click.style(_sentence_at(ats, names, delta), bold=True))


def _more(p: Any, q: Any, names: list[str]) -> str:
    """Which of two losses is larger, where their brackets decide it."""
    if p.lower > q.upper:
        return names[0]
    return names[1] if q.lower > p.upper else "equal" if math.isclose(p.epsilon, q.epsilon, rel_tol=1e-9) else "undecided"


def _sentence_at(ats: list[Any], names: list[str], delta: float | None) -> str:
    """Which loses more at a delta, where the brackets decide it."""
    (p, q), (a, b) = ats, names
    if p.lower > q.upper or q.lower > p.upper:
        return f"at delta {delta:g} {a if p.lower > q.upper else b} loses more"
    same = math.isclose(float(p), float(q), rel_tol=1e-9)
    return f"at delta {delta:g} {a} and {b} lose the same" if same else f"which loses more at delta {delta:g} is undecided"


def _sentence(p: Result, q: Result) -> str:
    from dpest.report.numbers import number
    from dpest.results import PAIRS

    names = [p.mechanism, q.mechanism]
    more = _more(p, q, names)
    where = "on these pairs" if p.scope == PAIRS else f"over {p.scope}"
    if more not in names:
        return f"{names[0]} and {names[1]} lose the same {where}" if more == "equal" else f"which loses more {where} is undecided"
    high, low = (p, q) if more == names[0] else (q, p)
    times = "" if not 0 < low.epsilon < high.epsilon < math.inf else f", {number(high.epsilon / low.epsilon, 4)} times as much"
    return f"{more} loses more {where}{times}"
