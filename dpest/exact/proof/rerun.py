"""A proof compared with the program: random runs on random inputs, shifted as the certificate says, must release the same.

This looks at what the rational check takes for granted: that the regions describe the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.exact.proof.corners import between
from dpest.exact.proof.cross import change
from dpest.exact.proof.regions import Region, Released, Row
from dpest.lang.nodes import Draw, Node
from dpest.lang.plain import evaluate
from dpest.laws.law import Law
from dpest.numerics.ranges import NOTHING
from dpest.numerics.rationals import Rational, exact
from dpest.trace.columns import constant_key
from dpest.trace.execute import execute
from dpest.trace.outputs import Flat

if TYPE_CHECKING:
    from dpest.exact.proof.certificate import Certificate, PairKind, ProofStep
    from dpest.exact.proof.upper import ProofQuestion, Traced

_NEAR = 1e-9  # conditions this close to a tie are left out: the program's own rounding decides them
_SAME = 1e-7  # relative difference of released numbers that rounding explains


class ScriptedRun:
    """One run on plain numbers: draws take the given values, or fresh ones."""

    def __init__(self, rng: np.random.Generator, given: Sequence[float] = ()) -> None:
        self._rng, self._given = rng, list(given)
        self.values: list[float] = []
        self.known: dict[int, Any] = {}
        self._nodes: list[Draw] = []

    def draw(self, law: Law) -> Node:
        """The next draw, with its value."""
        k = len(self.values)
        value = self._given[k] if k < len(self._given) else float(law.sample(self._rng, 1)[0])
        node = Draw(law)
        self._nodes.append(node)
        self.values.append(value)
        self.known[id(node)] = value
        return node

    def decide(self, condition: Node) -> bool:
        """Which way a condition goes at the values of the draws."""
        return bool(evaluate(condition, self.known))


def problems(certificate: Certificate, question: ProofQuestion, traced: Traced, runs: int, seed: int) -> list[str]:
    """What random runs say against a certificate; empty where they agree with it."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(runs):
        found = _Rerun(certificate, question, traced, rng).problem()
        if found:
            out.append(found)
    return out


class _Rerun:
    def __init__(self, certificate: Certificate, question: ProofQuestion, traced: Traced, rng: np.random.Generator) -> None:
        self.certificate, self.question, self.traced, self.rng = certificate, question, traced, rng
        self.number = int(rng.integers(len(certificate.cases)))
        self.case: PairKind = certificate.cases[self.number]

    def problem(self) -> str | None:
        """One random pair, one random run: None where the shifted run releases the same."""
        first, second = self._inputs()
        run, output = self._run(first, self.case.source, ())
        here = self._numbers(first, run.values)
        regions = _holding(self.certificate.programs[self.case.source], run.values, here)
        if regions is None:
            return None
        told = self._told(regions, output, run, here)
        if told:
            return f"{told} (on {self._data(first, self.case.source)!r})"
        there = self._numbers(second, run.values)
        if not self._adjacent(here, there):
            return None
        shifts = self._shifts(regions, here, there)
        if shifts is None:
            return None
        moved = [v + shifts.get(k, 0.0) for k, v in enumerate(run.values)]
        again, second_output = self._run(second, self.case.target, moved)
        if not _same(output, second_output, run.known, again.known):
            return f"the shifted run on {self._data(second, self.case.target)!r} releases something else"
        return None

    def _adjacent(self, here: Mapping[int, Rational], there: Mapping[int, Rational]) -> bool:
        """Whether the pair is of the kind that the step is about: derived values change within their ranges."""
        box = self.case.box
        moves = dict(box.moves)
        changes = [(there[v] - x, moves.get(v, NOTHING)) for v, x in here.items()]
        held = [*changes, *((here[v], within) for v, within in box.within)]
        return all((low is None or x >= low) and (high is None or x <= high) for x, (low, high) in held)

    def _inputs(self) -> tuple[list[float], list[float]]:
        fields, rng = self.traced.inputs.fields, self.rng
        first, second = [], []
        moves = dict(self.case.box.moves)
        for i, f in enumerate(fields):
            low, high = max(f.low, -5.0), min(f.high, 5.0)
            low, high = (low, high) if low <= high else (f.low, f.low + 10.0) if math.isfinite(f.low) else (f.high - 10.0, f.high)
            x = float(rng.uniform(low, high))
            least, most = (0.0 if e is None else float(e) for e in moves.get(-1 - i, (exact(0), exact(0))))
            y = min(max(x + float(rng.uniform(least, most)), f.low), f.high)
            first.append(float(round(x)) if f.whole else x)
            second.append(float(round(x)) + round(y - x) if f.whole else y)
        return first, second

    def _data(self, numbers: Sequence[float], program: int) -> Any:
        full = self.traced.inputs.fill(list(numbers))
        return full if program == 0 else [row for k, row in enumerate(full) if k != program - 1]

    def _run(self, numbers: Sequence[float], program: int, given: Sequence[float]) -> tuple[ScriptedRun, Flat]:
        run = ScriptedRun(self.rng, given)
        return run, execute(run, self.question.mechanism, self._data(numbers, program), self.question.params)

    def _numbers(self, numbers: Sequence[float], draws: Sequence[float]) -> dict[int, Rational]:
        """The values of all unknowns, derived ones included; largest values take their draws from the run."""
        symbols = self.traced.symbols
        known: dict[int, Any] = {id(symbols.inputs[i]): x for i, x in enumerate(numbers)}
        out = {-1 - i: exact(x) for i, x in enumerate(numbers)}
        for k, node in enumerate(symbols.derived):
            maximum = dict(self.traced.maxima).get(-1 - symbols.given - k)
            if maximum is not None:
                values = [_slack(Row(terms, constant, False), (), out) + draws[v] for v, terms, constant in maximum.values]
                out[-1 - symbols.given - k] = exact(max(values))
                continue
            value = float(evaluate(node, known))
            known[id(symbols.inputs[symbols.given + k])] = value
            out[-1 - symbols.given - k] = exact(value)
        return out

    def _told(self, regions: Sequence[int], output: Flat, run: ScriptedRun, inputs: Mapping[int, Rational]) -> str | None:
        """What is wrong with the regions of a run: there must be one for each group, and it must tell the released numbers."""
        program = self.certificate.programs[self.case.source]
        groups = sorted({r.group for r in program})
        if sorted(program[i].group for i in regions) != groups:
            return f"a run is in {len(regions)} regions"
        for i in regions:
            told = [_number(r, run.values, inputs) for r in program[i].released if r.offset is None]
            numbers = [evaluate(x, run.known) for x in output.leaves]
            if not all(any(_close(t, x) for x in numbers if isinstance(x, int | float)) for t in told):
                return "a run releases a number that its region does not tell"
        return None

    def _shifts(
        self, regions: Sequence[int], before: Mapping[int, Rational], after: Mapping[int, Rational]
    ) -> dict[int, float] | None:
        known = {**before, **{change(v): after[v] - before[v] for v in before}}
        program = self.certificate.programs[self.case.target]
        out: dict[int, float] = {}
        for step in self._steps(regions):
            if step.apart is not None or not all(_slack(r, (), after) >= 0 for r in program[step.target].bare):
                continue
            if step.policy is not None:
                out.update({v: float(s.exactly({i: known[change(i)] for i, _ in s.terms})) for v, s in step.policy.items()})
            elif step.corners is not None:
                moved = {i: after[i] - before[i] for corner, _, _ in step.corners[:1] for i, _ in corner}
                out.update({v: float(s) for v, s in between(step.corners, dict(self.case.box.moves), moved).items()})
            elif step.crossing is not None:
                for v, terms, constant in step.crossing.shifts:
                    out[v] = float(constant + sum(c * known[i] for i, c in terms))
            else:
                return None
        return out

    def _steps(self, regions: Sequence[int]) -> list[ProofStep]:
        own = [s for s in self.certificate.steps if s.case == self.number]
        return [s for s in own if s.source in regions or (s.pool is not None and set(s.pool.members) & set(regions))]


def _slack(row: Row, values: Sequence[float], inputs: Mapping[int, Rational]) -> float:
    total = row.constant
    for v, c in row.terms:
        total += c * (exact(values[v]) if v >= 0 else inputs[v])
    return float(total)


def _holding(program: Sequence[Region], values: Sequence[float], inputs: Mapping[int, Rational]) -> list[int] | None:
    """The regions that a run is in; None where a condition is nearly a tie."""
    out = []
    for i, region in enumerate(program):
        if any(v >= len(values) for v, _ in region.laws):
            continue
        slacks = [_slack(r, values, inputs) for r in region.rows]
        if any(abs(s) < _NEAR for s in slacks):
            return None
        if all(s > 0 for s in slacks):
            out.append(i)
    return out


def _same(a: Flat, b: Flat, known_a: Mapping[int, Any], known_b: Mapping[int, Any]) -> bool:
    if a.structure != b.structure:
        return False
    for x, y in zip(a.leaves, b.leaves, strict=True):
        p, q = evaluate(x, known_a), evaluate(y, known_b)
        numbers = isinstance(p, int | float) and isinstance(q, int | float)
        if numbers and _close(p, q):
            continue
        if constant_key(p) != constant_key(q):
            return False
    return True


def _close(p: float, q: float) -> bool:
    return abs(p - q) <= _SAME * (1 + abs(p))


def _number(value: Released, values: Sequence[float], inputs: Mapping[int, Rational]) -> float:
    """The number that a region says is released."""
    return _slack(Row(value.terms, value.constant, False), values, inputs)
