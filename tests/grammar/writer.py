"""Writes random expressions, conditions and statements over the variables that a program has so far."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

PROBABILITIES = (0.5, 0.25, 0.75, 0.1, 0.3, 0.02, 0.6)
TABLES = (
    "[0.5, 0.3, 0.2]",
    "[0.1, 0.5, 0.4]",
    "[0.25, 0.25, 0.5]",
    "[0.1, 0.2, 0.3, 0.4]",
    "[0.4, 0.1, 0.1, 0.4]",
    "[0.7, 0.3]",
)
STRICT = ("<", "<=", ">", ">=", "==", "!=")
WORDS = ("'a'", "'b'", "'c'", "'none'", "None")


@dataclass
class Writer:
    """The program so far; `rng` decides everything that follows."""

    rng: random.Random
    inputs: int
    unit: float
    offset: float
    smooth: bool = False  # whether a continuous draw is among the values: then no == and no products
    lines: list[str] = field(default_factory=list)
    compared: list[tuple[str, str]] = field(default_factory=list)
    values: list[str] = field(default_factory=list)  # names of numbers, random or not
    depth: int = 1
    made: int = 0

    def say(self, line: str) -> None:
        """One line at the present depth."""
        self.lines.append("    " * self.depth + line)

    def fresh(self, prefix: str = "v") -> str:
        """A new name."""
        self.made += 1
        return f"{prefix}{self.made}"

    def number(self, low: int = -3, high: int = 3) -> str:
        """A constant on the program's grid, now and then off it."""
        k = self.rng.randint(low, high)
        if self.rng.random() < 0.08:
            return repr(round(k * self.unit + self.unit / 2, 9))
        return plain(k * self.unit)

    def data(self) -> str:
        """One of the inputs, brought next to 0 where they lie far away."""
        i = self.rng.randrange(self.inputs)
        if self.offset and self.rng.random() < 0.7:
            return f"(x[{i}] - {plain(self.offset)})"
        return f"x[{i}]"

    def expression(self, depth: int = 2) -> str:
        """A number: a value, a sum, a rounding, a choice."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            pick = rng.random()
            if pick < 0.7 and self.values:
                return rng.choice(self.values)
            return self.data() if pick < 0.9 else self.number()
        a = self.expression(depth - 1)
        plain_numbers = 0 if self.smooth else 0.5  # functions of `math` that ask for a float: discrete draws are enumerated
        weights = (5, 4, 2, 1, 1, 1.5, 1.5, 1, 1.5, 1.5, 1, 1, plain_numbers, plain_numbers, plain_numbers)
        match rng.choices(range(15), weights)[0]:
            case 0:
                return f"({a} + {self.other(a, depth - 1)})"
            case 1:
                return f"({a} - {self.other(a, depth - 1)})"
            case 2:
                return f"({rng.choice(['2', '-1', '3', '0.5', '0.1', '10'])} * {a})"
            case 3:
                return f"abs({a})"
            case 4:
                return f"d.{rng.choice(['maximum', 'minimum'])}({a}, {self.expression(depth - 1)})"
            case 5:
                low = rng.randint(-3, 1)
                return f"d.clip({a}, {plain(low * self.unit)}, {plain((low + rng.randint(0, 4)) * self.unit)})"
            case 6:
                return f"({a} // {self.step()})"
            case 7:
                return f"({a} % {self.step()})"
            case 8:
                return self.rounded(a)
            case 9:
                return f"d.where({self.condition(depth - 1)}, {a}, {self.expression(depth - 1)})"
            case 10:
                return f"({a} / {rng.choice(['2', '4', '10', '3'])})"
            case 12:
                return f"math.fsum([{a}, {self.expression(depth - 1)}, {self.number()}])"
            case 13:
                return f"math.copysign({plain(self.unit)}, {a})"
            case 14:
                return f"({a} ** 2)"
            case _:
                return f"d.{rng.choice(['max', 'min', 'argmax', 'argmin'])}([{a}, {self.expression(depth - 1)}, {self.number()}])"

    def other(self, a: str, depth: int) -> str:
        """An expression that is not this one, where there is a choice."""
        for _ in range(4):
            b = self.expression(depth)
            if b != a:
                return b
        return self.number()

    def rounded(self, a: str) -> str:
        """A rounding of a value divided by a step."""
        if self.rng.random() < 0.15:
            return f"round({a}, {self.rng.choice([1, 1, 2])})"
        name = self.rng.choice(["round", "math.floor", "math.ceil", "math.trunc", "int", "d.floor", "d.ceil"])
        return f"{name}({a} / {self.step()})"

    def step(self) -> str:
        """A positive step of a rounding."""
        return plain(self.rng.choice([1, 2, 3, 4, 0.5, 1]) * self.unit)

    def condition(self, depth: int = 1) -> str:
        """Something true or false."""
        rng = self.rng
        if depth > 0 and rng.random() < 0.25:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return rng.choice([f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} and not {b})"])
        if self.compared and rng.random() < 0.3:
            return self.again()
        a = self.expression(depth)
        b = self.number() if rng.random() < 0.5 else self.other(a, depth)
        self.compared.append((a, b))
        if self.unit * 2 % 1 == 0 and rng.random() < 0.06:  # the square of the bound is a number of floating point too
            return f"({a} ** 2 {rng.choice(STRICT[:4])} {plain((rng.randint(0, 3) * self.unit) ** 2)})"
        operators = STRICT[:4] if self.smooth and rng.random() < 0.9 else STRICT
        return f"({a} {rng.choice(operators)} {b})"

    def again(self) -> str:
        """A comparison of what was compared before: at the same bound, next to it, or written the other way round."""
        a, b = self.compared[-1] if self.rng.random() < 0.6 else self.rng.choice(self.compared)
        operator = self.rng.choice(STRICT[:4] if self.smooth else STRICT)
        match self.rng.choices(range(4), (4, 2, 2, 1))[0]:
            case 0:
                return f"({a} {operator} {b})"
            case 1:
                return f"({b} {operator} {a})"
            case 2:
                return f"({a} - {b} {operator} {plain(self.rng.choice([-1, 0, 0, 1]) * self.unit)})"
            case _:
                return f"({plain(self.rng.choice([2, 3, 10, 0.1]))} * ({a} - {b}) {operator} 0)"

    def output(self) -> str:
        """What is returned: a word, a number, a tuple, a dict."""
        rng = self.rng
        pick = rng.random()
        if pick < 0.12:
            return rng.choice(WORDS)
        if pick < 0.4:
            return self.expression(1)
        if pick < 0.8:
            yes, no = rng.sample(WORDS, 2)
            return f"{yes} if {self.condition()} else {no}"
        if pick < 0.9:
            return f"({rng.choice(WORDS)}, {self.expression(1)})"
        return f"{{'v': {self.expression(0)}, 'w': {rng.choice(WORDS)} if {self.condition()} else {rng.choice(WORDS)}}}"

    def statement(self) -> None:
        """One statement: an assignment, an early return, a condition that changes nothing, a loop."""
        match self.rng.choices(range(7), (3, 3, 2, 1.5, 0.7, 0.7, 3))[0]:
            case 0:
                self.assign(self.expression())
            case 1:
                self.say(f"if {self.condition()}:")
                self.inner(lambda: self.say(f"return {self.output()}"))
            case 2:
                self.say(f"if {self.condition()}:")
                self.inner(lambda: self.say("pass"))
            case 3:
                self.choose()
            case 4:
                self.repeat()
            case 5:
                self.climb()
            case _:
                self.say(f"if {self.condition(0)}:")
                yes, no = self.rng.sample(WORDS, 2)
                self.inner(lambda: self.say(f"return {yes} if {self.again()} else {no}"))

    def assign(self, expression: str) -> None:
        """A new value."""
        name = self.fresh()
        self.say(f"{name} = {expression}")
        self.values.append(name)

    def inner(self, write: Any) -> None:
        """Writes one level deeper."""
        self.depth += 1
        write()
        self.depth -= 1

    def choose(self) -> None:
        """A value by `if` and `else`."""
        name, yes, no = self.fresh(), self.expression(1), self.expression(1)
        self.say(f"if {self.condition()}:")
        self.inner(lambda: self.say(f"{name} = {yes}"))
        self.say("else:")
        self.inner(lambda: self.say(f"{name} = {no}"))
        self.values.append(name)

    def repeat(self) -> None:
        """A `for` with a `break` on a random condition."""
        name = self.fresh("n")
        self.say(f"{name} = 0")
        self.say(f"for i in range({self.rng.randint(2, 3)}):")

        def body() -> None:
            self.say(f"if {self.condition()}:")
            self.inner(lambda: self.say("break"))
            self.say(f"{name} += 1")

        self.inner(body)
        self.values.append(name)

    def climb(self) -> None:
        """A counter that climbs to a value, but not for ever."""
        name, goal = self.fresh("k"), self.expression(1)
        self.say(f"{name} = 0")
        self.say(f"while {goal} {self.rng.choice(['>', '>='])} {name} and {name} < 4:")
        self.inner(lambda: self.say(f"{name} += 1"))
        self.values.append(name)


def plain(x: float) -> str:
    """A number as a person writes it: 0.3 and not 0.30000000000000004, 2 and not 2.0."""
    x = round(x, 9)
    return repr(int(x)) if x == int(x) else repr(x)
