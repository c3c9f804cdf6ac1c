"""A loop that tosses until a toss fails, or until it has tried often enough: the law of its rounds in closed form.

What it counts grows by 1, or by steps that add up to what Python's doubles add up to: eight times 0.1 is not 0.8.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import mpmath

from tests.grammar.program import Program
from tests.oracles.truth import Truth, between

# What is tossed, with a number in it, and how likely it is to hold on an input of 0 or 1.
TOSSES: dict[str, Callable[[Any, int], Any]] = {
    "d.bernoulli({a})": lambda a, x: a,
    "d.uniform(0, 1) < {a}": lambda a, x: a,
    "d.uniform(0, 1) < {a} - {a} / 4 * x[0]": lambda a, x: a * (4 - x) / 4,
    "not d.uniform(0, 1) >= {a}": lambda a, x: a,
    "x[0] + d.laplace(1) > {t}": lambda t, x: mpmath.exp(x - t) / 2,
    "x[0] + d.gaussian(1) > {t}": lambda t, x: mpmath.erfc((t - x) / mpmath.sqrt(2)) / 2,
}
CHANCES = (0.5, 0.25, 0.75, 0.125, 2.0**-10, 2.0**-45, 2.0**-70)  # a quarter of each is a number of floating point too
BOUNDS = (1, 2, 4, 7, 12, 30)
RETURNED: dict[str, Callable[[Any], Any]] = {
    "min(k, 2)": lambda k: min(k, 2),
    "k % 2": lambda k: k % 2,
    "k > 0": lambda k: k > 0,
    "k == 0.8": lambda k: k == 0.8,
    "k <= 0.3": lambda k: k <= 0.3,
    "'a'": lambda k: "a",
}
STEPS = (1, 1, 1, 0.5, 0.1)
ENDLESS = 3_000  # rounds: the most likely toss comes up as often with a chance below 1e-300
AFTERWARDS: dict[str, Callable[[int], Any]] = {"7 + x[0]": lambda x: 7 + x, "'end'": lambda x: "end"}


def tries(rng: random.Random, kind: str) -> Program:
    """The program of a seed."""
    toss = rng.choice(list(TOSSES))
    number = rng.choice(BOUNDS if "{t}" in toss else CHANCES)
    step, most = rng.choice(STEPS), rng.choice([1, 2, 5, 20, 60, 90, 105, 150, 300])
    name, last = rng.choice(list(RETURNED)), rng.choice(list(AFTERWARDS))
    test = toss.format(a=number, t=number)
    grows, enough = f"    k += {step}", f"if k >= {most}: return {last}"
    counting = rng.choice(
        [
            ["k = 0", f"while {test}:", grows, f"    {enough}"],
            ["k = 0", "while True:", f"    if not ({test}): break", grows, f"    {enough}"],
            ["k = 0", f"while k < {most} and ({test}):", grows, enough],
            [f"for k in range({most}):", f"    if not ({test}): break", f"else: return {last}"],
        ]
    )
    if step != 1:  # without a bound, and without outputs that only a rare round gives
        endless = [[f"while {test}:", grows], ["while True:", f"    if not ({test}): break", grows]]
        most, name, counting = ENDLESS, rng.choice(["k == 0.8", "k <= 0.3", "k > 0"]), ["k = 0.0", *rng.choice(endless)]
    lines = [repr(f"{toss}|{number}|{step}|{most}|{name}|{last}"), *counting, f"return {name}"]
    return Program(kind, "def mechanism(x):\n" + "".join(f"    {line}\n" for line in lines), ([0], [1]))


def tries_truth(program: Program) -> Truth:
    """The largest ratio over all outputs; infinite where the last one tells the input."""
    body: list[Any] = ast.parse(program.source).body[0].body  # type: ignore[attr-defined]
    toss, number, step, most, name, last = body[0].value.value.split("|")
    ends: list[Any] = [AFTERWARDS[last](x) if int(most) < ENDLESS else None for x in (0, 1)]
    counts = list(accumulate([float(step)] * (int(most) - 1), initial=0.0))
    with mpmath.workdps(600):
        chances = [TOSSES[toss](mpmath.mpf(float(number)), x) for x in (0, 1)]
        laws = [_law(chance, counts, RETURNED[name], end) for chance, end in zip(chances, ends, strict=True)]
        if {*laws[0]} != {*laws[1]}:
            return between(mpmath.inf, mpmath.inf, "tries")
        loss = max(abs(mpmath.log(p / laws[1][key])) for key, p in laws[0].items() if key is not None)
        return between(loss - mpmath.mpf(10) ** -11, loss + mpmath.mpf(10) ** -11, "tries")


def _law(chance: Any, counts: Sequence[float], returned: Callable[[Any], Any], end: Any) -> dict[Any, Any]:
    """The probability of each output; that of no end at all under None."""
    found: dict[Any, Any] = {end: chance ** len(counts)}
    for k, count in enumerate(counts):
        found[returned(count)] = found.get(returned(count), 0) + chance**k * (1 - chance)
    return found
