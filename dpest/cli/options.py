"""Options that several commands share, and the question that they make up."""

from __future__ import annotations

import ast
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from dpest.cli.colour import first_line_bold
from dpest.cli.completing import complete_target
from dpest.cli.main import INTERRUPTED
from dpest.cli.targets import Target, resolve
from dpest.cli.waiting import waiting
from dpest.errors import InvalidInput

if TYPE_CHECKING:
    from dpest.inputs.pairs import Pair
    from dpest.numerics.bracket import Bracketed
    from dpest.results import Result

F = TypeVar("F", bound=Callable[..., Any])
# option -> the keyword of dpest.estimate and dpest.audit
SAMPLING = {"samples": "samples", "seed": "seed", "confidence": "confidence", "workers": "executor", "checkpoint": "checkpoint"}


@dataclass(frozen=True)
class Asked:
    """A target with the pairs, parameters and sampling options that were asked for."""

    target: Target
    pairs: list[tuple[Any, Any]] | None
    n: int | None
    adjacency: str | None
    params: dict[str, Any]
    sampling: dict[str, Any]


def question_options(command: F) -> F:
    """The target, its pairs and its parameters."""
    return click.argument("target", shell_complete=complete_target)(input_options(command))


def input_options(command: F) -> F:
    """The pairs and the parameters."""
    for decorate in (
        click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the mechanism; repeatable."),
        click.option("--adjacency", metavar="l1|linf", help="Which of the seven patterns are adjacent.  [default: linf]"),
        click.option("-n", "n", type=int, metavar="N", help="Use the input patterns with N coordinates."),
        click.option("--pair", "pairs", nargs=2, multiple=True, metavar="D D'", help="Two adjacent inputs; repeatable."),
    ):
        command = decorate(command)
    return command


def sampling_options(command: F) -> F:
    """How to sample, where sampling happens."""
    for decorate in (
        click.option("--checkpoint", type=click.Path(), metavar="FILE", help="Keep what was counted in FILE; resume from it."),
        click.option("--workers", type=int, metavar="K", help="Processes to sample with."),
        click.option("--confidence", type=float, help="Of statistical bounds.  [default: 0.95]"),
        click.option("--seed", type=int, help="Seed of the random streams."),
        click.option("--samples", type=int, metavar="N", help="Samples per input."),
    ):
        command = decorate(command)
    return command


def json_option(command: F) -> F:
    """Machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(command)


def question(options: Mapping[str, Any]) -> Asked:
    """What the shared options ask for, checked."""
    target, n = options["target"], options["n"]
    if options["pairs"] and n is not None:
        raise InvalidInput("give either --pair D D' or -n N, not both")
    pairs = [(data(left), data(right)) for left, right in options["pairs"]] or None
    params = dict(map(parameter, options["params"]))
    sampling = {keyword: options[key] for key, keyword in SAMPLING.items() if options.get(key) is not None}
    asked = Asked(resolve(target), pairs, n, options["adjacency"], params, sampling)
    if pairs is None and n is None and asked.target.algorithm is None:
        raise InvalidInput(f"on which inputs? write --pair '[1, 1]' '[2, 1]' or -n 5 after {target}")
    return asked


def literal(text: str) -> Any:
    """A value as JSON or as a Python literal; anything else is a string."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError):
            continue
    return text


def parameter(text: str) -> tuple[str, Any]:
    """`name=value` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidInput(f"a parameter is NAME=VALUE, got {text!r}: write --param eps=0.1")
    return name, literal(value)


def data(text: str) -> Any:
    """An input of the mechanism; what looks like a container must be one."""
    value = literal(text)
    if value == text and text[:1] in tuple("[({"):
        raise InvalidInput(f"cannot read the input {text!r}: write a Python or JSON value such as '[1, 1, 0]'")
    return value


def print_verdict(*lines: str) -> None:
    """Print what a verdict rests on; a reader that has gone away does not change the exit status."""
    try:
        for line in lines:
            click.echo(line)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit must not fail


def verdict_status(*, violated: bool, interrupted: bool) -> int:
    """0 or 1 for a verdict; what was interrupted before a violation was seen is none."""
    if interrupted and not violated:
        click.echo("dpest: interrupted before the end: this is no verdict; run it again, with fewer --samples", err=True)
        return INTERRUPTED
    return int(violated)


def answer_status(result: Result) -> int:
    """0 for an answer; one that Ctrl-C stopped before its end exits as the signal would."""
    if result.interrupted:
        click.echo("dpest: interrupted before the end: this is the answer so far", err=True)
        return INTERRUPTED
    return 0


def ask(asked: Asked, method: str) -> Result:
    """The answer of `dpest.estimate` to the question."""
    from dpest.doors.estimate import estimate

    show = waiting(asked.target.name)
    with show, redirect_stdout(sys.stderr):  # a mechanism that prints must not spoil the answer
        options = {**where(asked), "params": asked.params, **asked.sampling}
        result = estimate(asked.target.function, **options, method=method, progress=show)
    return replace(result, mechanism=asked.target.name)


def check_delta(delta: float | None) -> None:
    """A delta that was given is a probability; refused before any work."""
    if delta is not None and not 0 <= delta <= 1:
        raise InvalidInput(f"delta must lie in [0, 1], got {delta!r}: write --delta 1e-5")


def check_claim(epsilon: float | None, delta: float) -> None:
    """A claim is refused before any work where it cannot be one."""
    if epsilon is not None and not epsilon >= 0:
        raise InvalidInput(f"a claimed epsilon is a number >= 0, got {epsilon!r}: write --claim 0.5")
    if delta and epsilon is None:
        raise InvalidInput("a claimed delta goes with an epsilon: write --claim 1 --delta 1e-5")
    check_delta(delta)


AtDelta: TypeAlias = "tuple[float, Bracketed] | None"


def at_delta(result: Result, delta: float | None) -> AtDelta:
    """A delta, and the smallest epsilon there; None where none was asked for."""
    return None if delta is None else (delta, result.epsilon_at(delta))


def print_answer(result: Result, at: AtDelta, *, as_json: bool) -> None:
    """The result, and the smallest epsilon at a delta where it was asked for, as text or as JSON."""
    if as_json:
        extra = {} if at is None else {"at_delta": {"delta": at[0], **bracket_dict(at[1])}}
        click.echo(json.dumps({**result.to_dict(), **extra}, indent=2, allow_nan=False))
        return
    click.echo(first_line_bold(str(result)))
    if at is not None:
        from dpest.report.curves import value_text

        click.echo(f"  at delta {at[0]:g}: epsilon = {value_text(at[1])}")


def bracket_dict(x: Bracketed) -> dict[str, float | str]:
    """An epsilon with its bracket as plain data; infinities are strings."""
    ends = {"epsilon": float(x), "lower": float(x.lower), "upper": float(x.upper)}
    return {name: v if math.isfinite(v) else str(v) for name, v in ends.items()}


def inputs(asked: Asked) -> list[Any] | None:
    """The pairs that were given or that a built-in algorithm brings; None where patterns were asked for."""
    if asked.pairs is None and asked.target.algorithm is not None:
        return list(asked.target.algorithm.pairs(asked.n, asked.adjacency))
    return asked.pairs


def where(asked: Asked) -> dict[str, Any]:
    """The same as keywords of `dpest.estimate` and `dpest.audit`."""
    pairs = inputs(asked)
    return {"pairs": pairs} if pairs else {"n": asked.n, "adjacency": asked.adjacency or "linf"}


def all_inputs(asked: Asked) -> dict[str, Any] | None:
    """What `dpest.prove` is asked beside the pairs: rows and adjacency; None where pairs were given without an adjacency."""
    if asked.target.algorithm is not None and asked.pairs is None and asked.adjacency is None:
        return asked.target.algorithm.all_inputs(asked.n)
    if asked.pairs is None:
        n = asked.n or (asked.target.algorithm.n if asked.target.algorithm is not None else None)
        return {"n": n, "adjacency": asked.adjacency or "linf"}
    if asked.adjacency is None:
        return None
    left = asked.pairs[0][0]
    return {"n": len(left) if isinstance(left, list | tuple) else None, "adjacency": asked.adjacency}


def first_pair(asked: Asked) -> Pair:
    """The first pair that the question is about."""
    from dpest.inputs.pairs import as_pairs, pattern_pairs

    given = inputs(asked)
    return as_pairs(given)[0] if given else pattern_pairs(asked.n or 1, asked.adjacency or "linf")[0]
