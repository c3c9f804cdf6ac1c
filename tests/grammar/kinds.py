"""The kinds of random programs, each made from a seed alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.grammar.arrays import arrays
from tests.grammar.program import Program
from tests.grammar.rewrite import REWRITINGS
from tests.grammar.tails import tails
from tests.grammar.tries import tries
from tests.grammar.writer import PROBABILITIES, TABLES, Writer, plain

FAMILIES = ("laplace", "laplace", "laplace", "exponential", "gumbel", "logistic", "uniform", "gaussian", "cauchy", "t")


def generate(kind: str, seed: int) -> Program:
    """The program of one kind and seed."""
    return KINDS[kind](random.Random(f"{kind} {seed}"), kind)


def _writer(rng: random.Random, smooth: bool) -> Writer:
    unit = rng.choice([1, 1, 1, 1, 0.5, 0.1, 0.1, 3])
    offset = rng.choice([0, 0, 0, 0, 0, 0, 2_000_000, 0.5])
    return Writer(rng, rng.choice([1, 1, 2]), unit, offset, smooth)


def _pair(w: Writer) -> tuple[list[Any], list[Any]]:
    """Two neighbouring inputs on the program's grid."""
    rng = w.rng
    base = [rng.randint(-1, 2) for _ in range(w.inputs)]
    other = list(base)
    at = rng.randrange(w.inputs)
    other[at] += rng.choice([-1, 1, 1, 1, 2])
    if rng.random() < 0.1:
        other = list(base)
    left, right = ([_value(k * w.unit + w.offset) for k in side] for side in (base, other))
    if rng.random() < 0.15:
        right[at] = round(right[at] + w.unit / 4, 9)
    return left, right


def _value(x: float) -> Any:
    x = round(x, 9)
    return int(x) if x == int(x) else x


def _discrete_draw(w: Writer, heavy: bool) -> str:
    """A discrete draw on the program's grid."""
    rng = w.rng
    pick = rng.random()
    if pick < 0.3:
        low = rng.randint(-3, 0)
        text = f"d.integers({low}, {rng.randint(0, 4)})"
    elif pick < 0.45:
        text = f"d.bernoulli({rng.choice(PROBABILITIES)})"
    elif pick < 0.6:
        text = f"d.categorical({rng.choice(TABLES)})"
    elif pick < 0.72:
        text = f"d.categorical({rng.choice(TABLES)} if x[0] > {w.number(0, 1)} else {rng.choice(TABLES)})"
    elif pick < 0.84:
        text = f"d.Dist.from_atoms({{{plain(-w.unit)}: 0.25, {plain(w.unit / 2)}: 0.25, {plain(2 * w.unit)}: 0.5}})"
        return text
    elif heavy:
        text = f"d.geometric({rng.choice([1, 0.5, 2])})"
    else:
        text = f"d.integers(0, {rng.randint(1, 5)})"
    return text if w.unit == 1 else f"{plain(w.unit)} * {text}"


def _continuous_draw(w: Writer) -> str:
    rng = w.rng
    family = rng.choice(FAMILIES)
    scale = plain(rng.choice([0.5, 1, 1, 2, 3]) * w.unit)
    match family:
        case "uniform":
            return f"d.uniform({plain(-w.unit)}, {plain(rng.choice([1, 2]) * w.unit)})"
        case "cauchy":
            return f"d.from_scipy(stats.cauchy(scale={scale}))"
        case "t":
            return f"{scale} * d.from_scipy(stats.t({rng.choice([2, 3, 5])}))"
    return f"d.{family}({scale})"


def _loop(w: Writer) -> None:
    """A counter of `while bernoulli`."""
    name = w.fresh("k")
    bound = "" if w.rng.random() < 0.5 else f" and {name} < 3"
    w.say(f"{name} = 0")
    w.say(f"while d.bernoulli({w.rng.choice(PROBABILITIES)}){bound}:")
    w.inner(lambda: w.say(f"{name} += 1"))
    w.values.append(name)


def _finish(w: Writer, kind: str) -> Program:
    w.say(f"return {w.output()}")
    return Program(kind, "def mechanism(x):\n" + "\n".join(w.lines) + "\n", _pair(w))


def discrete(rng: random.Random, kind: str) -> Program:
    """Discrete draws alone: enumerated in fractions."""
    w = _writer(rng, smooth=False)
    heavy = rng.random() < 0.25
    for k in range(rng.randint(1, 3)):
        name = w.fresh("k")
        moved = f"{w.data()} + " if rng.random() < (0.8 if k == 0 else 0.3) else ""
        w.say(f"{name} = {moved}{_discrete_draw(w, heavy and k == 0)}")
        w.values.append(name)
    for _ in range(rng.randint(0, 4)):
        w.statement()
    return _finish(w, kind)


def loops(rng: random.Random, kind: str) -> Program:
    """Loops whose number of rounds is random: enumerated until the rest weighs nothing."""
    w = _writer(rng, smooth=False)
    w.offset = 0
    _loop(w)
    if rng.random() < 0.6:
        w.assign(f"{w.data()} + {_discrete_draw(w, False)}")
    if rng.random() < 0.25:
        _loop(w)
    for _ in range(rng.randint(0, 2)):
        w.statement()
    return _finish(w, kind)


def one(rng: random.Random, kind: str) -> Program:
    """One continuous draw, and discrete ones: swept."""
    w = _writer(rng, smooth=True)
    z = w.fresh("z")
    w.say(f"{z} = {_continuous_draw(w)}")
    if rng.random() < 0.8:
        w.assign(f"{w.data()} + {z}")
    if rng.random() < 0.4 or not w.values:
        w.values.append(z)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        w.assign(_discrete_draw(w, False))
    for _ in range(rng.randint(0, 4)):
        w.statement()
    return _finish(w, kind)


def two(rng: random.Random, kind: str) -> Program:
    """Two continuous draws and decisions on them: cells of the plane."""
    w = _writer(rng, smooth=True)
    for k in range(2):
        moved = f"{w.data()} + " if k == 0 or rng.random() < 0.6 else ""
        w.assign(f"{moved}{_continuous_draw(w)}")
    if rng.random() < 0.25:
        w.assign(_discrete_draw(w, False))
    for _ in range(rng.randint(1, 4)):
        decide(w)
    return _finish_with_word(w, kind)


def decide(w: Writer) -> None:
    """A condition on linear values: a return, nothing, or a choice between two values."""
    rng = w.rng
    match rng.choices(range(4), (4, 2, 1.5, 1))[0]:
        case 0:
            w.say(f"if {linear_condition(w)}:")
            w.inner(lambda: w.say(f"return {word(w)}"))
        case 1:
            w.say(f"if {linear_condition(w)}:")
            w.inner(lambda: w.say("pass"))
        case 2:
            w.assign(
                rng.choice([f"d.where({linear_condition(w)}, {linear(w)}, {linear(w)})", f"d.maximum({linear(w)}, {linear(w)})"])
            )
        case _:
            w.assign(f"d.clip({linear(w)}, {w.number(-2, 0)}, {w.number(1, 3)})")


def linear(w: Writer) -> str:
    """A value, a sum or a difference of two."""
    rng = w.rng
    a = rng.choice(w.values)
    pick = rng.random()
    if pick < 0.5:
        return a
    if pick < 0.8:
        return f"({a} {rng.choice('+-')} {rng.choice(w.values)})"
    return rng.choice([f"abs({a})", f"(2 * {a})", f"(-{a})", f"({a} + {w.data()})"])


def linear_condition(w: Writer) -> str:
    """A comparison of linear values, or two of them."""
    rng = w.rng
    right = w.number() if rng.random() < 0.4 else linear(w)
    text = f"({linear(w)} {rng.choice(['<', '<=', '>', '>='])} {right})"
    return f"({text} {rng.choice(['and', 'or'])} {linear_condition(w)})" if rng.random() < 0.15 else text


def word(w: Writer) -> str:
    """A constant, or a choice between two, or an index."""
    rng = w.rng
    pick = rng.random()
    if pick < 0.6:
        return rng.choice(["'a'", "'b'", "'c'", "None", "0", "1"])
    if pick < 0.85:
        return f"'a' if {linear_condition(w)} else 'b'"
    return f"('i', d.argmax([{linear(w)}, {linear(w)}, {w.number()}]))"


def _finish_with_word(w: Writer, kind: str) -> Program:
    w.say(f"return {word(w)}")
    return Program(kind, "def mechanism(x):\n" + "\n".join(w.lines) + "\n", _pair(w))


def post(rng: random.Random, kind: str) -> Program:
    """Anything done to noisy inputs alone: the noise bounds the loss from above, samples from below."""
    w = _writer(rng, smooth=True)
    w.inputs = rng.choice([1, 2, 2, 3])
    for i in range(w.inputs):
        family = rng.choice(["laplace", "laplace", "laplace", "logistic"])
        w.say(f"y{i} = x[{i}] + d.{family}({plain(rng.choice([0.5, 1, 2]) * w.unit)})")
        w.values.append(f"y{i}")
    near = f" - {plain(w.offset)}" if w.offset else ""
    w.values = [f"(y{i}{near})" for i in range(w.inputs)]
    if rng.random() < 0.3:
        w.assign(_continuous_draw(w))
    if rng.random() < 0.2:
        w.assign(_discrete_draw(w, False))
    w.data = lambda: rng.choice(w.values)  # type: ignore[method-assign]
    for _ in range(rng.randint(0, 3)):
        (w.statement if rng.random() < 0.4 else lambda: decide(w))()
    w.say(f"return {rng.choice([w.output, lambda: word(w), lambda: _released(w)])()}")
    return Program(kind, "def mechanism(x):\n" + "\n".join(w.lines) + "\n", _pair(w))


def _released(w: Writer) -> str:
    """Linear values, one to three of them."""
    parts = [linear(w) for _ in range(w.rng.randint(1, 3))]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def rewritten(rng: random.Random, kind: str) -> Program:
    """A program of another kind, to be compared with itself written otherwise."""
    base = rng.choice(["discrete", "one", "two", "post", "post"])
    made = KINDS[base](rng, base)
    name = rng.choice([n for n in REWRITINGS if n != "if_for_where" or "d.where" in made.source])
    return Program(f"rewritten:{name}:{base}", made.source, made.pair)


KINDS: dict[str, Callable[[random.Random, str], Program]] = {
    "discrete": discrete,
    "loops": loops,
    "one": one,
    "two": two,
    "post": post,
    "rewritten": rewritten,
    "arrays": arrays,
    "tails": tails,
    "tries": tries,
}
