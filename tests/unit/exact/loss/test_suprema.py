"""Both ends of a bracket on one coordinate: closed forms, and 50 digits of mpmath where there are none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpest
from dpest import bernoulli, from_scipy, gaussian, gumbel, laplace, logistic, maximum
from dpest.exact.inference.paths import trace
from dpest.exact.loss.blocks import Block, Measures
from dpest.exact.loss.buckets import buckets
from dpest.exact.loss.supremum import supremum
from tests.oracles.mixtures import Part, climbed, log_ratio

INF = math.inf
SCALES = [1.0, 0.1, 1e-6, 1e6]


def found(mechanism: Callable[[Any], Any], left: Any, right: Any) -> dpest.Result:
    return dpest.estimate(mechanism, (left, right), method="exact")


def holds(result: dpest.Result, truth: float, width: float = 1e-9) -> None:
    """The truth lies between both ends; the ends are close."""
    own = 4e-15 * max(1.0, truth) if truth < INF else 0.0
    assert result.lower - own <= truth <= result.upper + own
    assert truth == INF or result.upper - result.lower <= width * max(truth, 1e-3)
    assert result.lower <= result.epsilon <= result.upper


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("mirror", [1, -1])
def test_a_density_that_vanishes_at_a_kink_is_no_infinite_limit(scale: float, mirror: int) -> None:
    def mechanism(x: float) -> Any:
        z, w = scale * x + laplace(20 * scale), laplace(2 * scale)
        if z < abs(laplace(2 * scale)):
            return None
        return mirror * maximum(z, w)

    # Only z depends on the input, and both branches keep its density ratio e^(1/20) for positive outputs.
    holds(found(mechanism, -1, 0), 0.05, 1e-9)


def mixture_of_bells(scale: float, offset: float) -> Callable[[float], Any]:
    def mechanism(x: float) -> Any:
        if bernoulli(0.94):
            return offset + scale * (9.33 - 0.2 * x + gaussian(0.4))
        return offset + scale * (0.26 + gaussian(49.28))

    return mechanism


@pytest.mark.parametrize("scale", SCALES)
def test_an_interior_maximum_between_two_bells(scale: float) -> None:
    parts = [Part(0.94, "gaussian", 0.4, -0.2, 9.33), Part(1 - 0.94, "gaussian", 49.28, 0.0, 0.26)]
    truth = float(climbed(parts, (0, 1), 10.52, 0.3))
    assert truth == pytest.approx(1.46141428, abs=1e-8)
    holds(found(mixture_of_bells(scale, 0.0), 0, 1), truth)


def test_a_large_offset_costs_digits_and_says_so() -> None:
    parts = [Part(0.94, "gaussian", 0.4, -0.2, 9.33), Part(1 - 0.94, "gaussian", 49.28, 0.0, 0.26)]
    truth = float(climbed(parts, (0, 1), 10.52, 0.3))
    holds(found(mixture_of_bells(1.0, 1e6), 0, 1), truth, 1e-6)


def behind_a_neutral_if(release: Callable[[float], Any]) -> Callable[[float], Any]:
    def mechanism(x: float) -> Any:
        if laplace(1.0) > 0:
            pass
        return release(x)

    return mechanism


@pytest.mark.parametrize(("left", "right"), [(2, 1), (1, 2), (0, 0.25)])
@pytest.mark.parametrize("scale", SCALES)
def test_a_neutral_if_changes_nothing(left: float, right: float, scale: float) -> None:
    d = abs(left - right)
    cases = [
        (lambda x: scale * (x + gumbel(0.5)), INF),
        (lambda x: scale * (x + laplace(0.5)), 2 * d),
        (lambda x: scale * (x + logistic(0.5)), 2 * d),
        (lambda x: scale * (x + gaussian(0.5)), INF),
    ]
    for release, truth in cases:
        holds(found(behind_a_neutral_if(release), left, right), truth)
        holds(found(release, left, right), truth)


def student_location_scale(nu: float, left: tuple[float, float], right: tuple[float, float]) -> float:
    """sup |ln f((y - m) / s) / s - ln f((y - m') / s') / s'| on a fine grid and far out."""
    angle = np.linspace(-math.pi / 2 + 1e-7, math.pi / 2 - 1e-7, 2_000_001)
    y = left[0] + 8 * max(left[1], right[1]) * np.tan(angle)
    a, b = (stats.t.logpdf((y - m) / s, nu) - math.log(s) for m, s in (left, right))
    return max(float(np.abs(a - b).max()), nu * abs(math.log(left[1] / right[1])))


@pytest.mark.parametrize(
    ("nu", "left", "right"),
    [(2.0, (0, 10), (1, 12)), (3.0, (0, 30), (0, 36)), (1.0, (0, 1), (1, 1)), (5.0, (2, 3), (-1, 2)), (0.7, (0, 1), (5, 1.5))],
)
@pytest.mark.parametrize("neutral", [False, True])
def test_students_law_moved_and_scaled(nu: float, left: tuple[float, float], right: tuple[float, float], neutral: bool) -> None:
    def release(d: tuple[float, float]) -> Any:
        return d[0] + d[1] * from_scipy(stats.t(nu))

    truth = student_location_scale(nu, left, right)
    result = found(behind_a_neutral_if(release) if neutral else release, left, right)  # type: ignore[arg-type]
    assert result.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-7) <= result.upper <= truth * (1 + 1e-5)


def test_heavy_tails_of_two_scales() -> None:
    holds(found(lambda s: s * from_scipy(stats.t(3)), 30, 36), 3 * math.log(1.2), 1e-9)
    holds(found(lambda s: s * from_scipy(stats.cauchy()), 1, 2), math.log(2), 1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_and_bells_of_two_scales(scale: float) -> None:
    holds(found(lambda d: scale * (d[0] + laplace(d[1])), (0, 1), (1, 2)), INF)
    result = found(lambda d: scale * (d[0] + laplace(d[1])), (0, 1), (1, 2))
    assert result.pairs[0].forward == pytest.approx(math.log(2) + 0.5, rel=1e-14)
    result = found(lambda d: scale * (d[0] + gaussian(d[1])), (0, 1), (1, 2))
    assert result.pairs[0].forward == pytest.approx(math.log(2) + 1 / (2 * 3), rel=1e-14)


@pytest.mark.parametrize("scale", SCALES)
def test_a_threshold_in_tenths(scale: float) -> None:
    def mechanism(x: float) -> Any:
        y = scale * x + laplace(2 * scale)
        return "e" if y <= 0.3 * scale else y

    holds(found(mechanism, 0, 1.5), 0.75)


@pytest.mark.parametrize("scale", SCALES)
def test_a_sum_of_two_families(scale: float) -> None:
    holds(found(lambda x: scale * x + laplace(scale) + logistic(0.5 * scale), 0, 2), 2.0)
    holds(found(lambda x: scale * (x + laplace(1) + gaussian(3)), 0, 2), 2.0)
    holds(found(lambda x: scale * (x + laplace(1) + dpest.uniform(-3, 3)), 0, 2), 2.0)
    holds(found(lambda x: scale * (x + laplace(1) + dpest.exponential(3)), 0, 2), 2.0)
    holds(found(lambda x: scale * (x + gaussian(1) + dpest.uniform(-3, 3)), 0, 2), INF)


@pytest.mark.parametrize("scale", SCALES)
def test_limits_that_are_approached_slowly_have_a_wide_bracket_or_none(scale: float) -> None:
    """The gap between two equal Laplace noises, and the sum of two: like 1/t. Their truth is the coupling bound."""

    def mechanism(x: float) -> Any:
        if bernoulli(0.5):
            return scale * (x + laplace(1) + laplace(1))
        return scale * (x + laplace(0.25))

    result = found(mechanism, 0, 1)
    assert result.lower <= 4.0 + 1e-12
    assert result.upper >= 1.0
    assert result.lower <= result.epsilon <= result.upper


KINDS = {
    "laplace": lambda s: laplace(s),
    "gaussian": lambda s: gaussian(s),
    "gumbel": lambda s: gumbel(s),
    "logistic": lambda s: logistic(s),
    "exponential": lambda s: dpest.exponential(s),
    "uniform": lambda s: dpest.uniform(-s, s),
    "student": lambda s: from_scipy(stats.t(3, scale=s)),
}


def random_parts(rng: random.Random) -> list[Part]:
    weights = np.array([rng.uniform(0.05, 1) for _ in range(rng.choice([1, 2, 2, 3]))])
    return [
        Part(
            float(w),
            rng.choice(list(KINDS)),
            rng.choice([0.3, 1.0, 2.0, 7.5]),
            rng.choice([0.0, 1.0, -1.0, 0.5, 0.2, -0.3]),
            round(rng.uniform(-3, 3), 2),
            rng.choice([1.0, 1.0, -1.0, 0.5]),
        )
        for w in weights / weights.sum()
    ]


def program(parts: list[Part]) -> Callable[[float], Any]:
    def mechanism(x: float) -> Any:
        chosen = dpest.categorical([p.weight for p in parts]) if len(parts) > 1 else None
        for i, p in enumerate(parts):
            if i == len(parts) - 1 or chosen == i:
                return p.offset + p.slope * x + p.factor * KINDS[p.kind](p.scale)
        return None

    return mechanism


def places(parts: list[Part], pair: tuple[float, float]) -> list[float]:
    centres = [float(p.centre(x)) for p in parts for x in pair]
    widths = [p.scale * abs(p.factor) for p in parts]
    steps = [0.0, 1e-7, 0.1, 0.5, 1.0, 1 - 1e-9, 1 + 1e-9, 2.0, 5.0, 12.0, 40.0]
    return sorted({c + s * w * d for c in centres for w in widths for d in steps for s in (-1, 1)})


@pytest.mark.parametrize("seed", range(40))
def test_random_mixtures_stay_within_their_bracket(seed: int) -> None:
    rng = random.Random(seed)
    parts, pair = random_parts(rng), rng.choice([(0.0, 1.0), (1.0, 0.0), (0.0, 2.0), (0.0, 0.3)])
    result = found(program(parts), *pair)
    ratios = [r for y in places(parts, pair) if (r := log_ratio(parts, pair, mpmath.mpf(y))) is not None]
    if not ratios:  # no output is possible under both inputs
        assert result.upper == math.inf
        return
    top = max(abs(float(r)) for r in ratios)
    assert top <= result.upper * (1 + 1e-12) + 1e-11
    witness = result.witness
    assert witness is not None
    if result.lower < INF:
        assert result.upper - result.lower <= 1e-6 * max(result.lower, 1e-3)
    if not witness.limit and witness.measure == "density" and result.lower < INF:
        assert result.lower <= witness.loss * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-6, 1e6, -1.0])
def test_at_a_step_of_a_density_one_side_counts(scale: float) -> None:
    """A whole number plus uniform noise: the density is a staircase with steps of e^(1/b)."""

    def release(b: float, width: float) -> Callable[[float], Any]:
        return lambda x: scale * (x + dpest.geometric(b) + dpest.uniform(-width, width))

    holds(found(release(1, 0.5), 0, 0.3), 1.0)
    holds(found(release(2, 0.5), 0, 1), 0.5)
    holds(found(release(2, 0.5), 0, 2.25), 1.5)  # 2.25 steps: three at the most
    holds(found(release(1, 0.2), 0, 0.3), INF)  # gaps between the points that the other input fills


def test_equal_laws_have_a_witness_with_its_true_probability() -> None:
    def mechanism(x: float) -> Any:
        if laplace(1.0) > 1:
            return "a"
        return dpest.geometric(2.0), laplace(1.0)

    result = found(mechanism, 0, 1)
    assert result.epsilon == 0.0
    assert result.witness is not None
    above = 0.5 * math.exp(-1)
    assert min(abs(result.witness.left - above), abs(result.witness.left - (1 - above))) < 1e-12


def test_what_was_not_explored_bounds_the_witness_too() -> None:
    def counter(x: int) -> int:
        k = x
        while bernoulli(0.5):
            k += 1
        return k

    result = found(counter, 0, 1)
    assert result.witness is not None
    assert result.witness.loss == pytest.approx(result.epsilon)


@pytest.mark.parametrize(("left", "right", "claim"), [(0.25, 0.75, 1.0), (0.2, 0.7, 1.0), (0.3, 0.9, 0.7), (0.0, 1.0, 2.0)])
def test_between_kinks_that_rounding_tells_apart_nothing_is_released(left: float, right: float, claim: float) -> None:
    """The square wave mechanism: the ends of its wave are `v + b`, once as a rounded number and once as a sum."""

    def square_wave(v: float) -> Any:
        e = math.exp(claim)
        b = (claim * e - e + 1) / (2 * e * (e - 1 - claim))
        if dpest.uniform() < 2 * b * e / (2 * b * e + 1):
            return dpest.uniform(v - b, v + b)
        u = dpest.uniform()
        return u - b if u < v else u + b

    found = dpest.estimate(square_wave, (left, right), method="exact")
    assert found.lower <= claim * (1 + 1e-12)
    assert found.upper >= claim * (1 - 1e-12)
    assert found.upper - found.lower <= 1e-9


def test_a_gap_that_holds_numbers_is_seen() -> None:
    def uneven(x: float) -> Any:
        return dpest.uniform(0, 1) if x < 0.5 else dpest.uniform(0, 1 - 1e-14)

    assert dpest.estimate(uneven, (0, 1), method="exact").lower == math.inf


@pytest.mark.parametrize(("left", "right"), [(0, 1), (9, 10), (19, 20)])
def test_tenths_of_a_noisy_count_are_rounded_as_the_program_rounds(left: int, right: int) -> None:
    """0.1 is not a tenth, but the program's floor is that of a tenth: the tails lose as much as the count does."""
    holds(found(lambda x: math.floor(0.1 * (x + dpest.geometric(5.0))), left, right), 0.2)


def test_what_reaches_a_proved_bound_is_not_looked_at_more_closely() -> None:
    """Both directions reach 1/2 far out; a bound that is proved elsewhere spares the search, and never moves the value."""

    def mechanism(x: float) -> Any:
        t = laplace(2)
        return [v if (v := x + laplace(2)) > t else None]

    def block() -> Block:
        traces = [trace(mechanism, x, {}) for x in (0.0, 1.0)]
        strata = [s for b in buckets(*traces, Measures()) for g in b.groups for s in g.strata]
        return next(b for s in strata for b in s.blocks if b.dimension == 1)

    free, capped = supremum(block()), supremum(block(), most=(0.5, 0.5))
    for one, other in ((free.forward, capped.forward), (free.backward, capped.backward)):
        assert one.lower <= other.value <= one.upper
        assert other.upper >= one.lower
    shared = block()
    supremum(shared, most=(free.forward.value, free.backward.value))
    again = supremum(shared)  # without the bound it is worked out anew
    assert again.forward.upper - again.forward.lower <= 1e-9
    assert again.backward.upper - again.backward.lower <= 1e-9


@pytest.mark.parametrize("pair", [(0, 0.1), (0.1, 0.3), (0, 0.7)])
def test_a_law_that_wraps_around_has_no_gap_at_its_joint(pair: tuple[float, float]) -> None:
    """A uniform angle, turned: the same law, put together of two parts whose ends are computed with other roundings."""

    def turned(x: float) -> Any:
        y = x + dpest.uniform(0, 1)
        return y - 1 if y > 1 else y

    holds(found(turned, *pair), 0.0, 1e-9)


@pytest.mark.parametrize("gap", [1e-9, 1e-13])
def test_a_gap_that_is_wider_than_rounding_is_a_gap(gap: float) -> None:
    def cut(x: float) -> Any:
        y = dpest.uniform(0, 0.1 + gap * x)
        return y if y > 0.05 else y - 1

    assert found(cut, 0, 1).lower == INF


@pytest.mark.parametrize("scale", SCALES)
def test_what_shows_an_infinite_loss_beyond_the_last_kink_is_an_output_that_occurs(scale: float) -> None:
    """Laplace noise goes on where uniform noise ends: within e^-100 of its peak, whatever the unit is."""
    result = found(lambda x: laplace(scale) if x else dpest.uniform(0, scale), 0, 1)
    witness = result.witness
    assert result.lower == INF
    assert witness is not None
    assert witness.log_left == -INF
    assert witness.log_right >= -math.log(2 * scale) - 100
