"""The mechanisms that any exact engine must get right, each against a closed form or an independent oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import dpest
from tests.oracles import gallery, mechanisms, sparse_vector
from tests.oracles.exponentials import exponential_cdf, exponential_pdf
from tests.oracles.patterns import patterns
from tests.unit.exact.exact_cases import INF, Case, E, check, finite, geometric_at_least, geometric_mass, laplace_cdf, ln, same


def release(noise: Callable[[float], Any], scale: float) -> Callable[[float], Any]:
    return lambda x: x + noise(scale)


def argmax_of(noise: Callable[[float], Any], scale: float) -> Callable[[Any], Any]:
    return lambda values: dpest.argmax([v + noise(scale) for v in values])


def max_of(noise: Callable[[float], Any], scale: float) -> Callable[[Any], Any]:
    return lambda values: dpest.max([v + noise(scale) for v in values])


def prefix_sums(scale: float) -> Callable[[Any], Any]:
    return lambda values: dpest.cumsum([v + dpest.laplace(scale) for v in values])


def shared(values: list[float]) -> Any:
    z = dpest.laplace(1.0)
    return tuple(v + z for v in values)


def mixture(g: float) -> Callable[[float], Any]:
    return lambda x: x + dpest.laplace(1.0) if dpest.bernoulli(g) else dpest.laplace(1.0)


def clamped(x: int, scale: float) -> dict[int, float]:
    return mechanisms.clamped_geometric(x, scale, 0, 10)


def counted(present: float, threshold: float = 3.0) -> Any:
    noisy = present + dpest.laplace(1.0)
    return noisy if present and noisy > threshold else None


LEFT, RIGHT = (1, 2, 0, 1), (2, 1, 1, 1)
THREE, OTHER = (1, 1, 1), (2, 0, 1)
CASES = {
    "laplace": Case(release(dpest.laplace, 4.0), 3.0, 5.0, same(0.5)),
    "laplace, loss 50": Case(release(dpest.laplace, 0.1), 0.0, 5.0, same(50.0)),
    "laplace, loss 500": Case(release(dpest.laplace, 0.01), -2.0, 3.0, same(500.0)),
    "20 releases": Case(lambda x: [x + dpest.laplace(200.0) for _ in range(20)], 0.0, 1.0, same(0.1)),
    "7 releases": Case(lambda x: dpest.laplace(3.0, size=7) + x, 1.0, 0.5, same(7 / 6)),
    "prefix sums": Case(prefix_sums(3.0), [1, 2, 3], [2, 0, 4], same(4 / 3)),
    "ten prefix sums": Case(prefix_sums(10.0), [1] * 10, [2] * 10, same(1.0)),
    "one noise, one changes": Case(shared, [0, 0], [1, 0], same(INF)),
    "one noise, both change": Case(shared, [0, 5], [1, 6], same(1.0)),
    "softmax": Case(argmax_of(dpest.gumbel, 2.0), LEFT, RIGHT, mechanisms.softmax_loss(LEFT, RIGHT, 2.0)),
    "softmax, loss 50": Case(argmax_of(dpest.gumbel, 0.02), (0, 1), (1, 0), same(50.0)),
    "exponential argmax": Case(
        argmax_of(dpest.exponential, 2.0),
        THREE,
        OTHER,
        gallery.argmax_loss(THREE, OTHER, Fraction(2), exponential_pdf, exponential_cdf),
    ),
    "exponential argmax of two": Case(
        argmax_of(dpest.exponential, 1.0), (0, 0), (1, 0), finite({0: 0.5, 1: 0.5}, {0: 1 - 1 / (2 * E), 1: 1 / (2 * E)})
    ),
    "exponential max": Case(
        max_of(dpest.exponential, 2.0), THREE, OTHER, gallery.exponential_max_loss(THREE, OTHER, Fraction(2))
    ),
    **{f"mixture {g}": Case(mixture(g), 1.0, 0.0, (ln(1 + g * (E - 1)), -ln(1 - g + g / E))) for g in (0.01, 0.5, 1.0)},
    "clip": Case(lambda x: dpest.clip(x + dpest.laplace(2.0), 0, 10), 3.0, 4.0, mechanisms.clip_loss(3, 4, 2, 0, 10)),
    "clip, far outside": Case(
        lambda x: dpest.clip(x + dpest.laplace(0.5), 0, 10), -5.0, 20.0, mechanisms.clip_loss(-5, 20, 0.5, 0, 10)
    ),
    "round": Case(lambda x: round(x + dpest.laplace(2.0)), 0.0, 1.0, same(0.5)),
    "round, half a step": Case(
        lambda x: round(x + dpest.laplace(1.0)),
        0.0,
        0.5,
        tuple(  # type: ignore[arg-type]
            max(ln(mechanisms.rounded_laplace(a, 1, k) / mechanisms.rounded_laplace(b, 1, k)) for k in range(-30, 31))
            for a, b in ((0.0, 0.5), (0.5, 0.0))
        ),
    ),
    "geometric": Case(release(dpest.geometric, 2.0), 3, 5, same(1.0)),
    "geometric, loss 50": Case(release(dpest.geometric, 0.02), 0, 1, same(50.0)),
    "clamped geometric": Case(
        lambda x: dpest.clip(x + dpest.geometric(2.0), 0, 10), 3, 4, finite(clamped(3, 2.0), clamped(4, 2.0))
    ),
    "clamped geometric at the edge": Case(
        lambda x: dpest.clip(x + dpest.geometric(0.5), 0, 10), 0, 1, finite(clamped(0, 0.5), clamped(1, 0.5))
    ),
    "gaussian": Case(release(dpest.gaussian, 3.0), 0.0, 0.1, same(INF)),
    "count above a threshold": Case(counted, 1.0, 0.0, (INF, ln(1 / laplace_cdf(2.0)))),
    "gap of three": Case(
        lambda x: gap(x, 20.0), THREE, OTHER, mechanisms.argmax_gap_loss(THREE, OTHER, Fraction(20))
    ),
}


def gap(values: Any, scale: float) -> Any:
    noisy = [x + dpest.laplace(scale) for x in values]
    winner = dpest.argmax(noisy)
    for i, x in enumerate(noisy):
        if winner == i:
            return i, x - dpest.max([y for j, y in enumerate(noisy) if j != i])
    raise AssertionError("one of them is the largest")


@pytest.mark.parametrize("name", CASES)
def test_the_exact_loss_is_the_truth(name: str) -> None:
    check(CASES[name])


@pytest.mark.parametrize(("b", "d"), [(2.0, 1.0), (0.5, 3.0), (0.02, 1.0)])
def test_a_sum_of_two_equal_laplace_tends_to_its_loss(b: float, d: float) -> None:
    result = check(Case(lambda x: x + dpest.laplace(b) + dpest.laplace(b), 0.0, d, same(d / b)))
    assert result.witness is not None
    assert result.witness.limit
    assert "tending to" in result.witness.event


@pytest.mark.parametrize("name", ["one noise, one changes", "exponential max", "count above a threshold"])
def test_infinity_is_proved_by_an_event_that_one_input_cannot_produce(name: str) -> None:
    witness = check(CASES[name]).witness
    assert witness is not None
    assert (witness.left == 0) != (witness.right == 0)
    assert not witness.limit


def above_threshold(queries: Any, noise: Callable[[float], Any] = dpest.laplace, t: float = 0.5) -> Any:
    threshold = t + noise(20.0)
    for i, q in enumerate(queries):
        if q + noise(40.0) >= threshold:
            return i
    return None


def test_above_threshold() -> None:
    result = dpest.estimate(above_threshold, n=10, method="exact")
    assert float(result) == pytest.approx(0.0878011042170006, rel=1e-12)
    assert result.lower <= gallery.largest("SVT1") <= result.upper
    assert result.pair.name == "x_shape"


@pytest.mark.parametrize("name", ["one_above", "half_half", "all_above_all_below"])
def test_above_threshold_with_gaussian_noise(name: str) -> None:
    left, right = patterns(10)[name]
    laws = [mechanisms.gaussian_above_threshold(x, 0.5, 20.0, 40.0) for x in (left, right)]
    check(Case(lambda q: above_threshold(q, dpest.gaussian), list(left), list(right), mechanisms.finite_loss(*laws)))


def geometric_first(queries: Any, strict: bool) -> dict[Any, float]:
    """The law of the first query with q + geometric(4) >= (or >) geometric(2), summed over the threshold."""
    law: dict[Any, float] = dict.fromkeys([*range(len(queries)), None], 0.0)
    for t in range(-120, 121):
        left = geometric_mass(t, 2.0)
        for i, q in enumerate(queries):
            passes = geometric_at_least(t - q + strict, 4.0)
            law[i] += left * passes
            left *= 1 - passes
        law[None] += left
    return law


@pytest.mark.parametrize("strict", [False, True])
def test_above_threshold_with_ties(strict: bool) -> None:
    def mechanism(queries: Any) -> Any:
        threshold = dpest.geometric(2.0)
        for i, q in enumerate(queries):
            noisy = q + dpest.geometric(4.0)
            if noisy > threshold if strict else noisy >= threshold:
                return i
        return None

    left, right = [1, 0, 1], [0, 1, 1]
    check(Case(mechanism, left, right, finite(geometric_first(left, strict), geometric_first(right, strict))))


def test_answers_without_a_cutoff() -> None:
    def mechanism(queries: Any) -> Any:
        threshold = 1 + dpest.laplace(20.0)
        return [q + dpest.laplace(20.0) >= threshold for q in queries]

    result = dpest.estimate(mechanism, n=10, method="exact")
    assert float(result) == pytest.approx(0.42003154450669, rel=1e-12)
    assert result.lower <= gallery.largest("SVT6") <= result.upper


@pytest.mark.parametrize(("left", "right"), [((1, 0, 1), (0, 1, 2)), ((1, 1), (2, 0))])
def test_above_threshold_that_releases_the_value_that_passed(left: Any, right: Any) -> None:
    def mechanism(queries: Any) -> Any:
        threshold = 1 + dpest.laplace(20.0)
        for i, q in enumerate(queries):
            noisy = q + dpest.laplace(30.0)
            if noisy >= threshold:
                return i, noisy
        return None

    noise = sparse_vector.Noise(Fraction(1), Fraction(20), Fraction(30))
    check(Case(mechanism, list(left), list(right), sparse_vector.released_value_loss(left, right, noise, 1)))


def triangle(values: Any) -> Any:
    a, b, c = (x + dpest.laplace(10.0) for x in values)
    return a > b, b > c, a > c


def falling(values: Any) -> Any:
    noisy = [x + dpest.laplace(10.0) for x in values]
    return all(a > b for a, b in zip(noisy, noisy[1:], strict=False))


def test_a_triangle_of_comparisons() -> None:
    laws = [mechanisms.order_probabilities(x, Fraction(10)) for x in (THREE, OTHER)]
    check(Case(triangle, list(THREE), list(OTHER), mechanisms.finite_loss(*laws)))


def test_eight_in_a_chain() -> None:
    apart = (7, 6, 5, 4, 3, 2, 1, 0)
    result = dpest.estimate(falling, ([0] * 8, list(apart)), method="exact")
    chance = float(mechanisms.chain_probabilities(apart, Fraction(10))[(True,) * 7])
    assert result.witness is not None
    assert result.witness.event == "output == True"
    assert result.witness.left == pytest.approx(1 / math.factorial(8), rel=1e-9)
    assert result.witness.right == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.25])
def test_a_loop_that_ends_with_probability_one(p: float) -> None:
    """k has P(k) = p^k (1 - p); clamping it at 3 makes its last point the rest."""

    def mechanism(x: int) -> Any:
        k = x
        while dpest.bernoulli(p):
            k += 1
        return min(k, 3)

    result = dpest.estimate(mechanism, (0, 1), method="exact")
    (found,) = result.pairs
    assert found.backward == pytest.approx(-ln(p), rel=1e-9)  # k >= 3 from 1 against from 0
    assert found.forward == INF or found.upper == INF  # 0 cannot come from 1


IDENTICAL = {
    "release": lambda x: x[0] + dpest.laplace(1.0),
    "argmax": argmax_of(dpest.laplace, 1.0),
    "max": max_of(dpest.gaussian, 1.0),
    "above threshold": above_threshold,
    "triangle": triangle,
    "rounded": lambda x: [round(v + dpest.laplace(0.3)) for v in x],
    "geometric": lambda x: sum(v + dpest.geometric(1.0) for v in x),
    "mixture": lambda x: mixture(0.3)(x[0]),
    "constant": lambda x: ("nothing", None, math.nan),
}


@pytest.mark.parametrize("name", IDENTICAL)
def test_identical_inputs_lose_exactly_nothing(name: str) -> None:
    result = dpest.estimate(IDENTICAL[name], ([1.5, 0.1, 7.0], [1.5, 0.1, 7.0]), method="exact")
    assert (result.epsilon, result.lower, result.upper) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0, 4.0])
def test_the_gaussian_profile(eps: float) -> None:
    delta = dpest.estimate(release(dpest.gaussian, 1.5), (0.0, 1.0)).delta(eps)
    truth = mechanisms.gaussian_delta(1.0, 1.5, eps)
    assert float(delta) == pytest.approx(truth, rel=1e-9, abs=1e-15)
    assert delta.lower <= truth * (1 + 1e-13) + 1e-15
    assert truth * (1 - 1e-13) - 1e-15 <= delta.upper


@pytest.mark.parametrize("eps", [0.0, 1.0, 10.0])
def test_the_profile_of_a_count_above_a_threshold_is_its_tail(eps: float) -> None:
    delta = dpest.estimate(counted, (1.0, 0.0)).delta(eps)
    tail = 1 - laplace_cdf(2.0)
    backward = max(0.0, 1 - math.exp(eps) * laplace_cdf(2.0))
    assert float(delta) == pytest.approx(max(tail, backward), rel=1e-9)
