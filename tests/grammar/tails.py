"""One noisy value, compared with bounds far out in its tail and released there: the loss in closed form, in many digits."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

import mpmath

from tests.grammar.program import Program
from tests.oracles.truth import Truth, between

SPELLINGS = {
    "exponential": (
        "d.exponential({b})",
        "-{b} * math.log(1 - d.uniform(0, 1))",
        "-{b} * math.log(d.uniform(0, 1))",
        "-{b} * math.log1p(-d.uniform(0, 1))",
        "{b} * stats.expon.ppf(d.uniform(0, 1))",
    ),
    "laplace": (
        "d.laplace({b})",
        "{b} * stats.laplace.ppf(d.uniform(0, 1))",
        "{b} * np.sign(u := d.uniform(-0.5, 0.5)) * -math.log(1 - 2 * abs(u))",
        "d.exponential({b}) * (2 * d.bernoulli(0.5) - 1)",
    ),
    "logistic": ("d.logistic({b})", "{b} * math.log((u := d.uniform(0, 1)) / (1 - u))", "2 * {b} * math.atanh(d.uniform(-1, 1))"),
    "gumbel": ("d.gumbel({b})", "-{b} * math.log(-math.log(d.uniform(0, 1)))"),
    "geometric": ("d.geometric({b})", "d.geometric({b}) * (2 * d.bernoulli(0.5) - 1)"),
}
RELEASED = ("'d'", "-1", "z", "math.floor(z)", "round(z)", "z // 3", "math.floor(2 * z) / 2", "(z, 'd')", "-math.floor(z)")
SCALES = (0.5, 1, 2)


def tails(rng: random.Random, kind: str) -> Program:
    """The program of a seed."""
    family, b = rng.choice(list(SPELLINGS)), rng.choice(SCALES)
    noise = rng.choice(SPELLINGS[family]).format(b=b)
    first = round(4 + b * rng.choice([rng.uniform(1, 20), rng.uniform(20, 80), rng.uniform(80, 400)]), 2)
    second = round(first + b * rng.uniform(0.2, 30), 2)
    third = round(second + b * rng.uniform(0.2, 60), 2)
    middle = rng.choice(["if z <= {s}: return 'b'", "if not z > {s}: return 'b'", "if z > {f} and z <= {s}: return 'b'"])
    lines = [
        f"'{family} {b}'",
        f"z = x[0] + {noise}",
        f"if z <= {first}: return {rng.choice(['-1', repr('a')])}",
        middle.format(f=first, s=second),
        f"if z {rng.choice(['>', '>='])} {third}: return {rng.choice(RELEASED)}",
        "return 'c'",
    ]
    whole = family == "geometric"
    left, change = rng.choice([0, 1] if whole else [0, 1, 0.5]), rng.choice([1, 2] if whole else [0.5, 1, 2])
    return Program(kind, "def mechanism(x):\n" + "".join(f"    {line}\n" for line in lines), ([left], [left + change]))


class Tail:
    """A standard noise's probabilities beyond t > 0, in many digits."""

    def __init__(self, family: str, b: float) -> None:
        self.family, self.scale = family, mpmath.mpf(b)
        self.whole = family == "geometric"

    def above(self, t: Any) -> Any:
        """P(noise > t)."""
        if self.whole:
            return self._at_least(mpmath.floor(t) + 1)
        u = t / self.scale
        match self.family:
            case "exponential":
                return mpmath.exp(-u)
            case "laplace":
                return mpmath.exp(-u) / 2
            case "logistic":
                return 1 / (1 + mpmath.exp(u))
        return -mpmath.expm1(-mpmath.exp(-u))

    def from_(self, t: Any) -> Any:
        """P(noise >= t)."""
        return self._at_least(mpmath.ceil(t)) if self.whole else self.above(t)

    def _at_least(self, k: Any) -> Any:
        q = mpmath.exp(-1 / self.scale)
        return q**k / (1 + q)

    def log_density(self, t: Any) -> Any:
        """ln of the density, up to a constant."""
        u = t / self.scale
        match self.family:
            case "logistic":
                return -u - 2 * mpmath.log1p(mpmath.exp(-u))
            case "gumbel":
                return -u - mpmath.exp(-u)
        return -u


# value(k), and the first number with that value: cells of whole numbers k.
CELLS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "math.floor(z)": (lambda k: k, mpmath.mpf),
    "-math.floor(z)": (lambda k: -k, mpmath.mpf),
    "round(z)": (lambda k: k, lambda k: mpmath.mpf(k) - mpmath.mpf(1) / 2),
    "z // 3": (lambda k: k, lambda k: mpmath.mpf(3 * k)),
    "math.floor(2 * z) / 2": (lambda k: k / 2, lambda k: mpmath.mpf(k) / 2),
}
MOST_CELLS = 400


def tail_truth(program: Program) -> Truth:
    """The largest ratio over words and released whole numbers, and far out, where all of these laws decay like e^(-t / b)."""
    body: list[Any] = ast.parse(program.source).body[0].body  # type: ignore[attr-defined]
    family, b = body[0].value.value.split()
    numbers = {n.value for s in body[2:5] for n in ast.walk(s) if isinstance(n, ast.Constant) and isinstance(n.value, float)}
    with mpmath.workdps(600):
        first, second, third = (mpmath.mpf(x) for x in sorted(numbers))
        tail, shifts = Tail(family, float(b)), [mpmath.mpf(side[0]) for side in program.pair]
        closed = isinstance(body[4].test.ops[0], ast.GtE)
        beyond = [(tail.from_ if closed else tail.above)(third - x) for x in shifts]
        seen: dict[Any, list[Any]] = {}

        def add(key: Any, masses: list[Any]) -> None:
            seen[key] = [p + q for p, q in zip(seen.get(key, [0, 0]), masses, strict=True)]

        add(ast.literal_eval(body[2].body[0].value), [1 - tail.above(first - x) for x in shifts])
        add("b", [tail.above(first - x) - tail.above(second - x) for x in shifts])
        add("c", [tail.above(second - x) - y for x, y in zip(shifts, beyond, strict=True)])
        text = ast.unparse(body[4].body[0].value)
        limits = []
        if text in ("'d'", "-1"):
            add(ast.literal_eval(text), beyond)
        else:
            limits.append(abs(shifts[0] - shifts[1]) / tail.scale)
            if text in CELLS:
                _cells(text, third, beyond, tail, shifts, add)
            elif not tail.whole:
                limits.append(abs(tail.log_density(third - shifts[0]) - tail.log_density(third - shifts[1])))
        loss = max([*limits, *(abs(mpmath.log(p / q)) for p, q in seen.values() if p or q)])
        return between(loss - mpmath.mpf(10) ** -11, loss + mpmath.mpf(10) ** -11, "tails")


def _cells(
    text: str, third: Any, beyond: list[Any], tail: Tail, shifts: list[Any], add: Callable[[Any, list[Any]], None]
) -> None:
    """The masses of what is released beyond the third bound."""
    value, start = CELLS[text]
    k = int(mpmath.floor(third)) * (2 if "2 *" in text else 1)
    k = k // 3 - 1 if "//" in text else k - 1
    for j in range(k, k + MOST_CELLS):
        low = [y if start(j) <= third else tail.from_(start(j) - x) for x, y in zip(shifts, beyond, strict=True)]
        high = [y if start(j + 1) <= third else tail.from_(start(j + 1) - x) for x, y in zip(shifts, beyond, strict=True)]
        masses = [p - q for p, q in zip(low, high, strict=True)]
        if any(masses):
            add(value(j), masses)
