"""Random programs on NumPy's arrays of discrete draws: sorting, sums, masks, counts, sets, dictionaries, text, helper objects."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.grammar.program import Program
from tests.grammar.writer import plain

TABLES = ("[0.5, 0.3, 0.2]", "[0.1, 0.6, 0.3]", "[0.7, 0.3]")

# {a} and {b} are arrays, {i} is a place, {c} a number on the program's grid, {s} a number.
NUMBERS = (
    *("{a}[{i}]", "{a}.sum()", "{a}.max()", "np.argmax({a})", "np.min({a})", "np.mean({a})", "np.median({a})", "sum({a})"),
    *("int(np.sum({a} > {c}))", "np.sum({a} == {c})", "np.count_nonzero({a})", "np.ptp({a})", "np.dot({a}, {b})", "np.prod({a})"),
    *("{a}[0] * {b}[{i}]", "np.argmin({a})", "len(np.unique({a}))", "np.searchsorted([{c}, 10], {a}[0])", "sorted({a})[{i}]"),
    *("np.var({a})", "{a}[0] / ({b}[1] + 7.3)", "np.abs({a}).max()", "{a}[0] // 2", "{a}[0] % 3", "int({a}[0])", "round({a}[0])"),
    *("math.floor({a}[0])", "min(map(abs, {a}))", "int(np.any({a} > {c}))", "int(np.all({a} >= {c}))", "list({a}).count({c})"),
    *("len(set({a}.tolist()))", "np.bincount(np.abs({a}).astype(int), minlength=3)[1]", "divmod({a}[0], 2)[1]", "x[{i}]"),
    *("np.sign({a}[0])", "next((i for i, v in enumerate({a}) if v > {c}), -1)", "np.average({a})", "np.linalg.norm({a}, 1)"),
    *("~int({a}[{i}] > {c})", "~(int({a}[0] > {c}) + 0)", "~max(int({a}[{i}] > {c}), 0)", "(int({a}[0] > {c}) ^ 3) << 1"),
    *("np.sum(np.concatenate([{a}, {b}, {a}, {b}]) * 0.1)", "(0.1 * np.tile({a}, 4)).mean()"),  # eight and more: added in pairs
    *(
        "({a}[0] + {a}[1]) - {a}[0]",
        "max({a}) - ({a}[0] + {b}[1])",
        "({a}[{i}] + 0.3) - {a}[{i}]",
        "int((0.7 + 0.1 * {a}[0]) * 10)",
    ),
)
ARRAYS = (
    *("np.sort({a})", "np.argsort({a})", "np.cumsum({a})", "np.clip({a}, {c}, 2)", "np.where({a} > {c}, {a}, {b})", "{a}[::-1]"),
    *("np.maximum({a}, {b})", "np.abs({a})", "np.roll({a}, 1)", "{a} * {b}", "{a} - {a}.min()", "{a} // 2", "{a} % 2", "{a} / 3"),
    *("np.concatenate([{a}[1:], {b}[:1]])", "np.floor({a})", "np.minimum.accumulate({a})", "np.diff(np.append({a}, {c}))"),
    *("np.array([v if v > {c} else 0 for v in {a}])", "{a}[np.argsort({a}, kind='stable')]"),
    "np.array(sorted({a}, reverse=True))",
    "{a} + 0.1 * int(d.uniform(0, 1) < 0.25)",
)
OUTPUTS = (
    *("{s}", "({s}, {t})", "{a}.tolist()", "{{'p': {s}, 'q': {t} > {c}}}", "frozenset({a}.tolist())", "{s} > {t}"),
    *("'hi' if {s} > {c} else 'lo'", "tuple(np.unique({a}).tolist())", "{a}[{b} > {c}].tolist()"),
    *("''.join('x' if v > {c} else '-' for v in {a})", "dict(zip('abc', {a}.tolist()))"),
)


@dataclass
class ArrayWriter:
    """The program so far; `rng` decides everything that follows."""

    rng: random.Random
    unit: float
    size: int
    lines: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def constant(self) -> str:
        """A number on the program's grid."""
        return plain(self.rng.randint(-2, 3) * self.unit)

    def draw(self, size: int | None) -> str:
        """Discrete draws on the grid."""
        rng, given = self.rng, "" if size is None else f", size={size}"
        made = rng.choice(
            [
                f"d.integers({rng.randint(-1, 0)}, {rng.randint(1, 2)}{given})",
                f"d.bernoulli({rng.choice([0.5, 0.25, 0.1])}{given})",
                f"d.categorical({rng.choice(TABLES)}{given})",
            ]
        )
        return made if self.unit == 1 else f"{plain(self.unit)} * {made}"

    def filled(self, pattern: str) -> str:
        """A pattern with arrays, places and numbers in it."""
        rng = self.rng
        a, b = rng.choice(self.arrays), rng.choice(self.arrays)
        numbers = {name: self.number() if "{" + name + "}" in pattern else "" for name in ("s", "t")}
        return pattern.format(a=a, b=b, i=rng.randrange(self.size), c=self.constant(), **numbers)

    def number(self) -> str:
        """A number made of arrays, or one that has a name."""
        if self.numbers and self.rng.random() < 0.3:
            return self.rng.choice(self.numbers)
        return self.filled(self.rng.choice(NUMBERS))

    def statement(self) -> None:
        """A number, an array, an early return, a loop or a choice."""
        rng, name = self.rng, f"v{len(self.lines)}"
        pick = rng.random()
        if pick < 0.35:
            self.lines.append(f"{name} = {self.number()} {rng.choice('+-*')} {self.number()}")
            self.numbers.append(name)
        elif pick < 0.7:
            self.lines.append(f"{name} = {self.filled(rng.choice(ARRAYS))}")
            self.arrays.append(name)
        elif pick < 0.85:
            self.lines += [f"if {self.number()} {rng.choice(['>', '>=', '==', '<'])} {self.constant()}:", "    return 'a'"]
        else:
            self.lines += [f"{name} = 0", f"for w in {rng.choice(self.arrays)}:", f"    if w > {self.constant()}:"]
            self.lines += [f"        {rng.choice(['break', 'continue'])}", f"    {name} += {rng.choice(['1', 'w'])}"]
            self.numbers.append(name)


def arrays(rng: random.Random, kind: str) -> Program:
    """Discrete draws in arrays: enumerated on NumPy's own numbers."""
    size = rng.choice([2, 2, 3])
    w = ArrayWriter(rng, rng.choice([1, 1, 1, 0.5, 0.1, 3]), size)
    w.lines.append(f"a = np.array(x) * {plain(w.unit)} + {w.draw(size)}")
    w.arrays.append("a")
    if size == 2 and rng.random() < 0.5:  # three and three of them are a thousand paths
        w.lines.append(f"b = {w.draw(size)}")
        w.arrays.append("b")
    if rng.random() < 0.5:
        bit = f"{plain(w.unit)} * int(d.uniform(0, 1) < {rng.choice([0.5, 0.25, 0.001])})"
        w.lines.append(f"k = {bit if rng.random() < 0.4 else w.draw(None)}")
        w.numbers.append("k")
    for _ in range(rng.randint(1, 3)):
        w.statement()
    w.lines.append(f"return {w.filled(rng.choice(OUTPUTS))}")
    base = [rng.randint(-1, 2) for _ in range(size)]
    other = list(base)
    other[rng.randrange(size)] += rng.choice([1, 1, -1, 2])
    return Program(kind, "def mechanism(x):\n" + "".join(f"    {line}\n" for line in w.lines), (base, other))
