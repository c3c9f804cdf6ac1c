"""Outputs that others help to undo: each program is compared with one that releases the noisy values themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpest
from dpest.errors import DpestError
from dpest.exact.loss.beside import Beside, FunctionName, Undoing, others_in
from dpest.exact.loss.same_value import ValueNumbers
from dpest.exact.loss.undone import _pulled_out
from dpest.lang.dist import unwrap
from dpest.lang.nodes import Pick
from dpest.lang.plain import evaluate
from dpest.numerics.elementary import EXP
from dpest.numerics.rationals import ONE, ZERO, exact

Program = Callable[[Any], Any]
PAIR = ((3.0, 2.0, 1.0), (2.0, 2.5, 1.0))


def noisy(x: Any) -> tuple[Any, Any, Any]:
    return x[0] + dpest.laplace(2), x[1] + dpest.laplace(3), x[2] + dpest.gaussian(1)


def released(x: Any) -> Any:
    return noisy(x)


def quotients(x: Any) -> Any:
    a, b, c = noisy(x)
    return a, b / a, c / b


def clipped_quotients(x: Any) -> Any:
    a, b, c = noisy(x)
    return a, 10 + 2 * b / max(a, 1), c


def products(x: Any) -> Any:
    a, b, c = noisy(x)
    return a, a * b, a * b * c


def shifted(x: Any) -> Any:
    a, b, c = noisy(x)
    return a, b + np.exp(a), c - a * b


def through_a_function(x: Any) -> Any:
    a, b, c = noisy(x)
    return np.exp(a), b * a, c


def dictionary(x: Any) -> Any:
    a, b, c = noisy(x)
    return {"total": a + b, "share": a / (a + b), "c": c}


@pytest.mark.parametrize("program", [quotients, clipped_quotients, products, shifted, through_a_function, dictionary])
def test_bijections_of_the_outputs_change_no_loss(program: Program) -> None:
    known, found = (dpest.estimate(f, PAIR, method="exact") for f in (released, program))
    assert found.lower - 1e-9 <= known.epsilon <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
    for epsilon in (0.1, 0.4):
        ours, theirs = found.delta(epsilon), known.delta(epsilon)
        assert ours.lower - 1e-9 <= theirs.upper
        assert theirs.lower <= ours.upper + 1e-9


def test_a_product_with_zero_tells_nothing_of_the_other_side() -> None:
    """Where the first value is clipped to zero nothing is seen of the second."""

    def program(x: Any) -> Any:
        a = min(max(x[0] + dpest.laplace(2), 0), 5)
        return a, a * (x[1] + dpest.laplace(1))

    found = dpest.estimate(program, ((0.0, 0.0), (0.0, 1.0)), method="exact")
    assert found.lower <= 1 <= found.upper  # where a > 0
    assert found.delta(0.0).lower <= 0.5 * (1 - math.exp(-0.5)) <= found.delta(0.0).upper  # P(a > 0) = 1/2


def test_kaplan_meier_releases_one_noisy_count_after_the_other() -> None:
    def survival(deaths: list[int]) -> list[Any]:
        at_risk, left, out = 10, 1.0, []
        for d in deaths:
            left *= 1 - min(max(d + dpest.laplace(2), 0), at_risk) / at_risk
            at_risk -= 1
            out.append(left)
        return out

    found = dpest.estimate(survival, ([2, 1, 1], [3, 1, 1]), method="exact")
    assert found.lower <= 0.5 + 1e-12
    assert found.upper >= 0.5 - 1e-12
    assert found.upper - found.lower < 1e-9


def test_what_differs_between_the_inputs_is_not_taken_off() -> None:
    """b / (a + x) with the input itself below the line: its loss is not that of (a, b)."""

    def program(x: float) -> Any:
        a, b = dpest.laplace(1), dpest.laplace(1)
        return a, b / (a + x)

    try:
        found = dpest.estimate(program, (0.0, 1.0), method="exact")
    except DpestError:
        return
    assert found.upper == math.inf  # at a = 0 the second output is infinite under one input alone


def test_slope_and_intercept() -> None:
    def line(points: list[tuple[float, float]]) -> Any:
        xs, ys = zip(*points, strict=True)
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        covariance = sum((a - x) * (b - y) for a, b in points) + dpest.laplace(2)
        variance = sum((a - x) ** 2 for a in xs) + dpest.laplace(2)
        if variance <= 0:
            return None
        slope = covariance / variance
        return slope, y - slope * x + dpest.laplace(2)

    found = dpest.estimate(line, ([(0, 1), (1, 2), (2, 2)], [(0, 1), (1, 2), (2, 3)]), method="exact")
    assert found.lower <= 2 / 3 <= found.upper  # 1/2 by the covariance where slope <= 0, 1/6 by the mean of y
    assert found.upper - found.lower < 1e-9


def test_witnesses_are_written_with_the_outputs_that_undo_them() -> None:
    found = dpest.estimate(lambda x: (lambda n: {"n": n, "mean": (x + dpest.laplace(6)) / n})(dpest.laplace(2)), (0.0, 1.0))
    assert found.witness is not None
    assert "'mean': (x / y), 'n': y" in str(found.witness)


@pytest.mark.parametrize(
    ("outputs", "same"),
    [
        (lambda a, b: dpest.maximum(np.exp(a), np.exp(b)), dpest.maximum),
        (lambda a, b: dpest.maximum(0.5**a, 0.5**b), dpest.minimum),
        (lambda a, b: dpest.minimum(0.5**a, 0.5**b), dpest.maximum),
        (lambda a, b: dpest.where(b > 0, np.exp(a), np.exp(b)), lambda a, b: dpest.where(b > 0, a, b)),
        (lambda a, b: 3 * np.exp(a) if b > 0 else 3 * np.exp(b), lambda a, b: a if b > 0 else b),
    ],
)
def test_a_function_around_a_choice_tells_what_is_chosen(outputs: Callable[..., Any], same: Callable[..., Any]) -> None:
    def asked(function: Callable[..., Any]) -> Any:
        # The two move against each other, so that the largest and the smallest lose 0.96 and 0.75.
        return dpest.estimate(lambda x: function(x + dpest.laplace(1), -1 - x / 2 + dpest.laplace(2)), (0.0, 1.0), method="exact")

    found, known = asked(outputs), asked(same)
    assert known.upper - known.lower < 1e-6
    assert found.lower - 1e-9 <= known.upper
    assert known.lower <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6


def test_the_largest_of_values_of_different_functions() -> None:
    """max(e^a, e^b - 1), by its density written out on a fine grid: 0.79, where max(a, b) has 0.75."""

    def mechanism(x: float) -> Any:
        return dpest.maximum(np.exp(x + dpest.laplace(1)), np.expm1(1 - x / 2 + dpest.laplace(2)))

    found = dpest.estimate(mechanism, (0.0, 1.0), method="exact")
    y = np.exp(np.linspace(-14, 14, 40_001))
    logs = []
    for x in (0.0, 1.0):
        a, b = stats.laplace(x, 1), stats.laplace(1 - x / 2, 2)
        u, v = np.log(y), np.log1p(y)
        logs.append(np.log(a.pdf(u) / y * b.cdf(v) + a.cdf(u) * b.pdf(v) / (1 + y)))
    truth = float(np.abs(logs[0] - logs[1]).max())
    assert truth - 1e-5 <= found.upper
    assert found.lower <= truth + 1e-5


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda z: 2 * np.exp(z) + 1, "(2*exp(x) + 1)"),
        (lambda z: -2 * np.exp(z), "-exp(x)"),  # the factor is in x
        (np.tanh, "tanh(x)"),
        (lambda z: 2 * np.tanh(z), "2*tanh(x)"),
        (lambda z: np.exp(np.tanh(z) / 2), "exp(0.5*tanh(x))"),
    ],
)
def test_witnesses_show_the_functions_around_a_value(function: Callable[[Any], Any], words: str) -> None:
    found = dpest.estimate(lambda x: function(x + dpest.laplace(1)), (0.0, 1.0), method="exact")
    assert found.lower <= 1 <= found.upper
    assert str(found.witness).startswith(f"output == {words} with x")


@pytest.mark.parametrize(("function", "truth"), [(np.exp, math.log(1.5)), (lambda z: np.exp(z) ** 3, math.log(1.5) / 3)])
def test_a_factor_goes_into_the_function(function: Callable[[Any], Any], truth: float) -> None:
    """c e^z = e^(z + ln c): factors of 2 and 3 are ln 1.5 apart."""
    found = dpest.estimate(lambda x: x * function(dpest.laplace(1)), (2.0, 3.0), method="exact")
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (lambda z: (np.floor(z), z), "output == (floor(x), x) with x <= 0"),
        (lambda z: (z, 3 - 2 * np.ceil(z / 2 + 1)), "output == (x, -2*ceil(0.5*x + 1) + 3) with x <= 0"),
        (lambda z: (math.exp(math.floor(z)), z), "output == (exp(floor(x)), x) with x <= 0"),
    ],
)
def test_an_output_that_another_one_tells_is_written_with_it(outputs: Program, words: str) -> None:
    found = dpest.estimate(lambda x: outputs(x + dpest.laplace(1)), (0.0, 1.0), method="exact")
    assert found.lower <= 1 <= found.upper
    assert str(found.witness).startswith(words + ":")


def test_a_number_beside_a_function_is_shown_as_it_is() -> None:
    def program(x: float) -> Any:
        return math.exp(dpest.laplace(5)) if dpest.laplace(1) + x > -2 else 5.0

    witness = dpest.estimate(program, (0.0, 1.0), method="exact").witness
    assert str(witness).startswith("output == 5:")


@pytest.mark.parametrize(
    "apart", [lambda y: divmod(y, 10), lambda y: (y // 10, y % 10), lambda y: {"tens": y // 10, "ones": y % 10}]
)
def test_a_quotient_and_its_remainder_tell_the_whole_number(apart: Program) -> None:
    found = dpest.estimate(lambda x: apart(x + dpest.geometric(2)), (7, 8), method="exact")
    assert found.lower - 1e-12 <= 0.5 <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9
    low, high = found.delta(0.0).lower, found.delta(0.0).upper  # P(k <= 7) less P(k <= 6), around 7
    assert low - 1e-9 <= math.tanh(0.25) <= high + 1e-9


A: FunctionName = ("outputs", ((0, ONE),), ZERO)
B: FunctionName = ("outputs", ((1, -ONE), (2, exact(2))), exact(3))


@pytest.mark.parametrize(
    ("name", "value", "words", "about"),
    [
        (("number", exact(2.5)), lambda a, b, c: 2.5, "2.5", set()),
        (A, lambda a, b, c: a, "a", {0}),
        (B, lambda a, b, c: 3 - b + 2 * c, "(-b + 2*c + 3)", {1, 2}),
        (("sum", ((A, exact(-2)), (B, ONE)), exact(-1)), lambda a, b, c: -2 * a + 3 - b + 2 * c - 1, None, {0, 1, 2}),
        (("node", Undoing.TIMES, A, B), lambda a, b, c: a * (3 - b + 2 * c), "(a * (-b + 2*c + 3))", {0, 1, 2}),
        (("node", Undoing.OVER, B, A), lambda a, b, c: (3 - b + 2 * c) / a if a else math.nan, "((-b + 2*c + 3) / a)", {0, 1, 2}),
        (("node", Pick.MAX, A, ("number", ONE)), lambda a, b, c: max(a, 1), "max(a, 1)", {0}),
        (("node", Pick.MIN, A, ("number", ONE)), lambda a, b, c: min(a, 1), "min(a, 1)", {0}),
        (("node", EXP, A), lambda a, b, c: math.exp(a), "exp(a)", {0}),
    ],
)
def test_functions_of_other_outputs(name: FunctionName, value: Callable[..., float], words: str | None, about: set[int]) -> None:
    assert others_in(name) == about
    for numbers in ((1.5, -2.0, 4.0), (0.0, 1.0, 1.0), (-3.0, 0.5, 0.0)):
        by = value(*numbers)
        for step, truth in ((Undoing.PLUS, 7 + by), (Undoing.TIMES, 7 * by), (Undoing.OVER, 7 / by if by else math.nan)):
            undone = Beside(step, name, exact(-2), exact(5))
            assert undone.value(7.0, numbers.__getitem__) == pytest.approx(5 - 2 * truth, nan_ok=True)
    if words is not None:
        assert Beside(Undoing.TIMES, name, ONE, ZERO).words("x", lambda place: "abc"[place]) == f"(x * {words})"
        assert Beside(Undoing.PLUS, name, ONE, ZERO).words("0", lambda place: "abc"[place]) == f"({words})"
        assert Beside(Undoing.OVER, name, exact(-2), exact(5)).words("x", lambda place: "abc"[place]) == f"(-2*(x / {words}) + 5)"


@pytest.mark.parametrize("step", list(Undoing))
@pytest.mark.parametrize("inner", ["0", "7"])
@pytest.mark.parametrize(("factor", "constant"), [(1, 0), (-2, 0), (1, 5), (-2, 5)])
def test_the_words_of_a_step_have_its_value(step: Undoing, inner: str, factor: int, constant: int) -> None:
    """The oracle is Python, which reads the words."""
    for by in (("number", exact(2.5)), A, B):
        undone = Beside(step, by, exact(factor), exact(constant))
        text = undone.words(inner, lambda place: "abc"[place])
        assert eval(text, {}, {"a": 1.5, "b": -2.0, "c": 4.0}) == undone.value(float(inner), (1.5, -2.0, 4.0).__getitem__)


# -- both ends of an interval ------------------------------------------------------------------------------------------


def test_both_ends_of_an_interval_give_its_middle_and_its_width() -> None:
    """An interval around a noisy mean whose width follows from a noisy variance, or from the mean, tells both and no more."""

    def two(x: Any) -> Any:
        mean, variance = x[0] + dpest.laplace(2), max(x[1] + dpest.laplace(3), 0.1)
        half = 1.96 * math.sqrt(variance / 10)
        return mean - half, mean + half

    def wald(x: Any) -> Any:
        p = min(max(x[0] + dpest.laplace(2), 0), 1)
        half = 1.96 * math.sqrt(p * (1 - p) / 10)
        return p - half, p + half

    def wilson(x: Any) -> Any:
        p = min(max(x[0] + dpest.laplace(2), 0), 1)
        middle, half = (p + 0.19) / 1.38, 1.96 / 1.38 * math.sqrt(p * (1 - p) / 10 + 0.0096)
        return {"low": middle - half, "high": middle + half}

    def unequal(x: Any) -> Any:
        y = x[0] + dpest.laplace(2)
        return y - np.exp(y), y + 2 * np.exp(y)

    for mechanism, truth in ((two, 0.5 + 1 / 3), (wald, 0.5), (wilson, 0.5), (unequal, 0.5)):
        found = dpest.estimate(mechanism, ((0.2, 2.0), (1.2, 3.0)), method="exact")
        assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
        assert found.upper - found.lower < 1e-9


def test_ends_that_depend_on_the_data_are_not_put_together() -> None:
    """The middle is (y + z) / 2 under one input and (2 y + z) / 3 under the other: its density ratio has no bound."""

    def mechanism(x: Any) -> Any:
        middle, width = dpest.laplace(1), np.exp(dpest.laplace(1))
        return middle - width, middle + x * width

    found = dpest.estimate(mechanism, (1, 2), method="exact")
    assert found.lower > 100
    assert found.upper == math.inf


def test_an_interval_that_is_written_twice() -> None:
    def mechanism(x: Any) -> Any:
        p = min(max(x + dpest.laplace(2), 0.1), 0.9)
        return p - 2 * math.sqrt(p * (1 - p) / 9), p + 2 * math.sqrt(p * (1 - p) / 9)

    found = dpest.estimate(mechanism, (0, 1), method="exact")
    truth = math.log((1 - 0.5 * math.exp(-0.05)) / (0.5 * math.exp(-0.45)))  # of the end at 0.1
    assert (found.lower, found.upper) == (pytest.approx(truth, abs=1e-9), pytest.approx(truth, abs=1e-9))


def test_a_long_chain_of_shared_values_is_numbered_in_no_time() -> None:
    """Each value is used twice by the next one: written out, the last one would have 2^60 parts."""
    x: Any = dpest.laplace(1)
    for _ in range(60):
        x = 0.5 * x + np.tanh(x)
    numbers = ValueNumbers()
    assert numbers.of((x + np.exp(x)).node) == numbers.of((x + np.exp(x)).node)
    assert numbers.of(np.exp(x).node) != numbers.of(np.exp(x + 1).node)


def test_values_have_one_number_only_where_they_are_one_function() -> None:
    """Written twice, a value is the same one; what differs at some number is another one (the oracle evaluates both)."""
    forms: list[Callable[[Any], Any]] = [
        *(lambda x: x, lambda x: 2 * x, lambda x: x + 3, lambda x: 2 * x + 3, lambda x: 0.5 * x + 3),
        *(lambda x: np.exp(x), lambda x: np.exp(2 * x), lambda x: np.exp(x + 3), lambda x: 2 * np.exp(x)),
        *(lambda x: np.floor(x), lambda x: np.floor(x + 1), lambda x: np.floor(x) + 1, lambda x: np.ceil(x)),
        *(lambda x: np.tanh(x), lambda x: x * x, lambda x: x * np.exp(x), lambda x: x / np.exp(x)),
    ]
    z, numbers = dpest.laplace(1), ValueNumbers()
    for one in forms:
        for other in forms:
            same = all(one(t) == other(t) for t in (-1.3, 0.4, 2.7))
            found = numbers.of(one(z).node) == numbers.of(other(z).node)
            assert same or not found
            assert found or one is not other


@pytest.mark.parametrize("extreme", [dpest.maximum, dpest.minimum])
@pytest.mark.parametrize("function", [np.exp, lambda z: 0.5**z, lambda z: 3.0**z, lambda z: np.exp(-z), lambda z: z])
def test_the_largest_of_functions_of_one_kind_is_that_function_of_one_of_them(extreme: Any, function: Any) -> None:
    """A function that falls turns the largest into the smallest: the value stays the same whatever the draws are."""
    draws = [dpest.laplace(1), dpest.laplace(2)]
    node = unwrap(extreme(*map(function, draws)))
    for values in ((0.25, -1.5), (-0.5, 2.0), (3.0, 3.5)):
        drawn = dict(zip((id(z.node) for z in draws), values, strict=True))
        assert evaluate(_pulled_out(node), drawn) == pytest.approx(evaluate(node, drawn))
