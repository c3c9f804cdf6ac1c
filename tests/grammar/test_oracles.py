"""The oracles of the grammar against closed forms, against each other and against plain runs."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.grammar.kinds import generate
from tests.grammar.program import Program
from tests.oracles import enumeration, losses
from tests.oracles.affine import NotSwept
from tests.oracles.families import CONTINUOUS, Family
from tests.oracles.plane import plane_law, plane_truth
from tests.oracles.samples import outputs
from tests.oracles.sweep import law
from tests.oracles.truth import Truth

RUNS = 6_000
ERRORS = 6.0


def meets(truth: Truth, value: Any, width: float = 1e-6) -> None:
    """The enclosure holds the value and is narrow."""
    assert truth.lower <= value <= truth.upper, (truth, value)
    assert truth.upper - truth.lower <= width


def test_a_remainder_by_tenths_is_never_negative() -> None:
    """0.3 times a whole number is rounded as a double, which leaves room for remainders below 0."""
    source = "def mechanism(x):\n    z = d.gumbel(1)\n    return 'low' if (x[0] + z) % 0.3 < 0 else 'high'\n"
    program = Program("one", source, ([0], [1]))
    for x in program.pair:
        assert set(law(program.two_sided(), x).atoms) == {"high"}


def families() -> list[Family]:
    from scipy import stats

    made = [CONTINUOUS[n](0.7) for n in ("laplace", "gaussian", "exponential", "gumbel", "logistic")]
    frozen = [CONTINUOUS["from_scipy"](f) for f in (stats.cauchy(scale=0.7), stats.t(3, scale=2.0))]
    return [*made, CONTINUOUS["uniform"](-1, 2), *frozen]


@pytest.mark.parametrize("family", families(), ids=lambda f: f.name)
def test_a_family_is_one_law_in_all_its_forms(family: Family) -> None:
    """Tails add up to 1, the density is their slope, doubles agree with 50 digits, scipy with both."""
    for z in (-1.3, -0.2, 0.4, 1.7, 5.0):
        at = mpf(z)
        assert abs(family.below(at) + family.above(at) - 1) < mpf("1e-40")
        slope = mp.diff(family.below, at)
        assert abs(slope - family.density(at)) < mpf("1e-15") * (1 + abs(slope))
        if family.density(at):
            assert float(family.log(np.float64(z))) == pytest.approx(float(mp.log(family.density(at))), rel=1e-12, abs=1e-12)
        assert family.double.cdf(z) == pytest.approx(float(family.below(at)), rel=1e-12, abs=1e-15)
    assert abs(family.mass(-0.2, 0.4) - (family.below(mpf(0.4)) - family.below(mpf(-0.2)))) < mpf("1e-40")


@pytest.mark.parametrize("seed", range(60))
def test_discrete_programs_have_the_law_of_plain_enumeration(seed: int) -> None:
    """The sweep without a continuous draw is what the older enumeration says, where that one knows the functions."""
    program = generate("discrete", seed)
    if any(name in program.source for name in ("geometric", "from_atoms", "ceil", "maximum", "minimum", "argmin", "{'v'")):
        return
    mechanism = program.two_sided()
    for x in program.pair:
        found = law(mechanism, x)
        direct = enumeration.law(mechanism, x)
        merged: dict[Any, Any] = {}
        for key, p in direct.items():
            merged[_plainly(key)] = merged.get(_plainly(key), 0) + p
        assert {_plainly(k): float(p) for k, p in found.atoms.items()} == pytest.approx({k: float(p) for k, p in merged.items()})


def _plainly(key: Any) -> Any:
    """A key without the kinds of containers and with doubles for numbers."""
    if isinstance(key, dict):
        return repr(key)
    if isinstance(key, tuple):
        return tuple(_plainly(k) for k in key)
    return float(key) if isinstance(key, int | float) and not isinstance(key, bool) else key


def test_the_sweep_knows_closed_forms() -> None:
    meets(losses.sweep_truth(lambda x, d: x + d.laplace(2), (0, 1), closed=False), 0.5)
    meets(losses.sweep_truth(lambda x, d: x + d.laplace(1) > 0.5, (0, 1), closed=True), max(_halves(0.5)), 1e-12)
    meets(losses.sweep_truth(lambda x, d: x + d.logistic(1) > 0, (0, 1), closed=True), math.log((1 + math.e) / 2), 1e-12)
    assert losses.sweep_truth(lambda x, d: x + d.uniform(0, 1), (0, 0.5), closed=False).lower == math.inf
    assert losses.sweep_truth(lambda x, d: x + d.gumbel(1), (0, 1), closed=False).upper == math.inf
    meets(losses.sweep_truth(lambda x, d: math.floor(d.laplace(1)) >= x, (0, 1), closed=True), 1.0, 1e-12)


def _halves(at: float) -> list[float]:
    """|ln| of the ratios of P(laplace > 0.5) and P(laplace > -0.5), which mirror each other."""
    tail = math.exp(-at) / 2
    return [math.log((1 - tail) / tail)]


def test_the_plane_knows_closed_forms() -> None:
    """P(laplace(1) - laplace(2) > t), and the difference of two Cauchy draws."""
    from scipy import stats

    b, c = mpf(1), mpf(2)
    tail = (c * c * mp.exp(-1 / c) - b * b * mp.exp(-1 / b)) / (2 * (c * c - b * b))
    truth = plane_truth(lambda x, d: "a" if x + d.laplace(1) > d.laplace(2) else "b", (0, 1))
    meets(truth, max(mp.log(2 * (1 - tail)), -mp.log(2 * tail)), 1e-8)
    cauchy = stats.cauchy(scale=1)
    truth = plane_truth(lambda x, d: "a" if x + d.from_scipy(cauchy) > d.from_scipy(cauchy) else "b", (0, 1))
    share = mpf(1) / 2 - mp.atan(mpf(1) / 2) / mp.pi
    meets(truth, max(-mp.log(2 * share), mp.log(2 * (1 - share))), 1e-8)


def test_outputs_that_next_to_never_come_leave_the_upper_end_open() -> None:
    """exp(-exp(10)) against exp(-exp(12)): no double knows the masses, and the oracle must not call the laws equal."""

    def rare(x: Any, d: Any) -> Any:
        v, w = x + d.gumbel(0.05), d.gumbel(0.2)
        return "c" if v >= -0.3 else "a" if w > 0 else "b"

    assert plane_truth(rare, (0.2, 0.3)).upper == math.inf
    swept = losses.sweep_truth(lambda x, d: "c" if x + d.gumbel(0.05) >= -0.3 else "a", (0.2, 0.3), closed=True)
    meets(swept, math.exp(12) - math.exp(10), 1e-6)


@pytest.mark.parametrize("seed", range(25))
def test_a_second_draw_that_does_nothing_changes_nothing(seed: int) -> None:
    """The sweep against the plane: the same program with one more draw in front."""
    program = generate("one", 7_000 + seed)
    source = program.source.replace("def mechanism(x):\n", "def mechanism(x):\n    unused = d.laplace(1)\n")
    wider = Program("two", source, program.pair)
    try:
        two = plane_truth(wider.two_sided(), program.pair)
        one = losses.sweep_truth(program.two_sided(), program.pair, closed=False)
    except NotSwept:
        return
    assert two.lower <= one.upper
    assert one.lower <= two.upper


@pytest.mark.parametrize("kind", ["discrete", "loops", "one", "two"])
@pytest.mark.parametrize("seed", range(8))
def test_laws_are_those_of_plain_runs(kind: str, seed: int) -> None:
    """Every output comes as often as its law says, within six standard errors."""
    program = generate(kind, 9_000 + seed)
    mechanism = program.two_sided()
    try:
        masses = _masses(kind, mechanism, program.pair[0])
    except NotSwept:
        return
    counts = Counter(_plainly(_key(o)) for o in outputs(mechanism, program.pair[0], RUNS, seed))
    for key, p in masses.items():
        error = math.sqrt(RUNS * p * (1 - min(p, 1.0)))
        assert abs(counts[key] - RUNS * p) <= ERRORS * error + 3, (key, p, counts[key] / RUNS, str(program))


def _masses(kind: str, mechanism: Any, x: Any) -> dict[Any, float]:
    found = plane_law(mechanism, x).masses if kind == "two" else law(mechanism, x).atoms
    return {_plainly(k): float(p) for k, p in found.items()}


def _key(output: Any) -> Any:
    if isinstance(output, dict):
        return ("dict", *((k, _key(v)) for k, v in output.items()))
    if isinstance(output, list | tuple):
        return (type(output).__name__, *(_key(v) for v in output))
    return output
