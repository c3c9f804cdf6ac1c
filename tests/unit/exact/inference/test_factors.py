"""Factors against closed forms, and their tails: beyond the start a factor lies within what its tail says of it."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpest.exact.inference.asymptotics import _moved, product_asymptotes, tail
from dpest.exact.inference.expressions import Expr, expr, number, single
from dpest.exact.inference.factors import Between, Bound, Density, Factor, Identity, Indicator, Integral, WholeIndicator, depth
from dpest.exact.inference.integral_tails import _without
from dpest.exact.inference.rays import Ray
from dpest.laws.asymptote import Asymptote
from dpest.laws.continuous import Exponential, Gaussian, Gumbel, Laplace, Logistic, Uniform
from dpest.laws.discrete import Geometric, atoms, integers_law
from dpest.laws.scipy_law import from_frozen
from dpest.numerics.rationals import exact

Y = -1
CAUCHY = from_frozen(stats.cauchy())[1]


def line(c: float, constant: float, *more: tuple[int, float]) -> Expr:
    return expr(((Y, exact(c)), *((v, exact(x)) for v, x in more)), exact(constant))


def value(f: Factor, y: float) -> tuple[float, float]:
    logs, error = f.log({Y: np.array([y])})
    return float(np.ravel(logs)[0]), float(np.max(error))


def laplace_cdf(x: float) -> mpmath.mpf:
    return mpmath.exp(mpmath.mpf(x)) / 2 if x < 0 else 1 - mpmath.exp(-mpmath.mpf(x)) / 2


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [-3.0, 0.0, 0.25, 7.0])
def test_probabilities_between_bounds(y: float) -> None:
    with mpmath.workdps(40):
        _probabilities_between_bounds(y)


def _probabilities_between_bounds(y: float) -> None:
    lower, upper = line(1, -1), line(2, 3)
    cases = [
        (Between(Laplace(1.0), (lower,), ()), 1 - laplace_cdf(y - 1)),
        (Between(Laplace(1.0), (), (upper, line(1, 9))), laplace_cdf(min(2 * y + 3, y + 9))),
        (Between(Laplace(1.0), (lower, line(-1, 0)), ()), 1 - laplace_cdf(max(y - 1, -y))),
        (Between(Laplace(1.0), (lower,), (upper,)), laplace_cdf(2 * y + 3) - laplace_cdf(y - 1) if y > -4 else 0),
    ]
    for f, truth in cases:
        found, error = value(f, y)
        assert found == pytest.approx(float(mpmath.log(truth)) if truth > 0 else -math.inf, abs=1e-14 + error)
        squared, twice = value(Between(f.law, f.lowers, f.uppers, power=3), y)
        assert squared == pytest.approx(3 * found)
        assert twice == pytest.approx(3 * error)


def test_probabilities_of_whole_numbers() -> None:
    f = Between(integers_law(0, 9), (line(1, 0),), (line(1, 3.5),))
    assert value(f, 2.0)[0] == pytest.approx(math.log(0.4))  # 2, 3, 4, 5
    assert value(f, 2.5)[0] == pytest.approx(math.log(0.4))  # 3, 4, 5, 6
    assert value(f, 20.0)[0] == -math.inf


def test_indicators() -> None:
    f = Indicator(Bound(line(1, -2)))
    assert [value(f, y)[0] for y in (1.9, 2.0, 2.1)] == [-math.inf, 0.0, 0.0]
    g = Identity(line(2, -4))
    assert [value(g, y)[0] for y in (1.0, 2.0)] == [-math.inf, 0.0]
    h = WholeIndicator(expr(((Y, exact(0.5)),), exact(0)))
    assert [value(h, y)[0] for y in (1.0, 2.0, -4.0)] == [-math.inf, 0.0, 0.0]


def integral(law: object, factors: tuple[Factor, ...], lowers: tuple[Expr, ...] = (), uppers: tuple[Expr, ...] = ()) -> Integral:
    return Integral(0, law, lowers, uppers, factors)  # type: ignore[arg-type]


@pytest.mark.parametrize("y", [-6.0, -0.5, 0.0, 2.0, 40.0])
def test_the_difference_of_two_laplace_draws(y: float) -> None:
    """P(L' >= L + y) = 1 - F(y) of the difference: (2 + t) e^-t / 4 for t >= 0."""
    f = integral(Laplace(1.0), (Between(Laplace(1.0), (line(1, 0, (0, 1)),), ()),))
    t = abs(y)
    tail_mass = (2 + t) * mpmath.exp(-t) / 4
    truth = float(mpmath.log(tail_mass if y >= 0 else 1 - tail_mass))
    found, error = value(f, y)
    assert abs(found - truth) <= error + 1e-14 * (1 + t)
    assert error < 1e-12
    density = integral(Laplace(1.0), (Density(Laplace(1.0), line(1, 0, (0, -1))),))
    logs, off = value(density, y)
    assert abs(logs - float(mpmath.log((1 + t) * mpmath.exp(-t) / 4))) <= off + 1e-14 * (1 + t)


def test_bounds_of_an_integral() -> None:
    """The integral of e^-v over y <= v <= 3: e^-y - e^-3."""
    f = integral(Exponential(1.0), (), (line(1, 0),), (number(3),))
    for y in (0.5, 1.0, 2.9999, 3 - 1e-13):
        with mpmath.workdps(40):
            truth = float(mpmath.log(mpmath.exp(-mpmath.mpf(y)) - mpmath.exp(-3)))
        found, error = value(f, y)
        assert abs(found - truth) <= error + 1e-12
        assert error < 1e-3
    assert value(f, 3.0)[0] == -math.inf
    assert value(f, 4.0)[0] == -math.inf


@pytest.mark.parametrize("beyond", [3e-7, 1e-9, 1e-4])
def test_an_integral_knows_the_rounding_of_its_edges(beyond: float) -> None:
    """Edges of a factor that lie near each other, not near zero: f(z) / 0.2 over (y - c) / 2 <= z <= y, at 50 digits."""
    c, b = 0.30000000004656613, 0.1
    f = integral(Laplace(b), (Density(Uniform(0, 0.2), line(1, 0, (0, -1))),), (line(0.5, -0.5 * c),))
    worst = 0.0
    for k in range(40):
        y = -c + beyond * (1 + k / 40)
        with mpmath.workdps(50):
            low, high = (mpmath.mpf(y) - mpmath.mpf(c)) / 2, mpmath.mpf(y)
            mass = (mpmath.exp(high / mpmath.mpf(b)) - mpmath.exp(low / mpmath.mpf(b))) / 2
            truth = mpmath.log(mass / mpmath.mpf(0.2))
        found, error = value(f, y)
        assert abs(float(found - truth)) <= error
        worst = max(worst, abs(float(found - truth)))
    assert worst > 1e-15 / beyond / 100  # there is something to know


def test_a_narrow_gap_far_from_zero() -> None:
    """Bounds that differ by less than floats resolve: the integrand times the exact width."""
    f = integral(Laplace(1.0), (), (line(1, 0),), (line(1, 1e-20),))
    found, error = value(f, 2.0)
    assert found == pytest.approx(-2 - math.log(2) + math.log(1e-20), abs=1e-9)
    assert 0 < error < 1e-9
    swapped = integral(Laplace(1.0), (), (line(1, 1e-20),), (line(1, 0),))
    assert value(swapped, 2.0)[0] == -math.inf


@pytest.mark.parametrize("y", [-3.0, 0.0, 4.0, 200.0])
def test_sums_over_whole_numbers(y: float) -> None:
    """The sum over k of P(k) f(y - k), geometric against Laplace, term by term."""
    f = integral(Geometric(2.0), (Density(Laplace(1.5), line(1, 0, (0, -1))),))
    with mpmath.workdps(30):
        a = mpmath.exp(-0.5)
        terms = (a ** abs(k) * mpmath.exp(-abs(mpmath.mpf(y) - k) / 1.5) / 3 for k in range(-300, 600))
        truth = mpmath.log((1 - a) / (1 + a) * mpmath.fsum(terms))
    found, error = value(f, y)
    assert abs(found - truth) <= error + 1e-13
    assert error < 1e-12
    bounded = integral(integers_law(0, 5), (Density(Laplace(1.0), line(1, 0, (0, -1))),), (number(2),), (line(1, 0),))
    if y == 4.0:
        assert value(bounded, y)[0] == pytest.approx(math.log(sum(math.exp(-abs(4 - k)) / 12 for k in (2, 3, 4))))


def test_depth_and_scope() -> None:
    inner = integral(Laplace(1.0), (Between(Laplace(1.0), (line(1, 0, (0, 1)),), ()),))
    outer = Integral(1, Laplace(1.0), (), (), (inner,))
    assert [depth(f) for f in (Density(Laplace(1.0), line(1, 0)), inner, outer)] == [0, 1, 2]
    assert inner.scope == {Y}
    assert set(outer.laws()) == {Laplace(1.0)}


def test_kinks_lie_where_bounds_and_kinks_of_laws_meet() -> None:
    f = Between(Laplace(1.0), (line(1, 0),), (line(2, 3),))
    assert {float(-k.constant / k.coefficient(Y)) for k in f.kinks} == {0.0, -1.5, -3.0}
    g = Density(Laplace(1.0), line(2, -3))
    assert [float(-k.constant / k.coefficient(Y)) for k in g.kinks] == [1.5]
    h = integral(atoms({0.0: 0.5, 2.0: 0.5}), (Density(Laplace(1.0), line(1, 0, (0, -1))),))
    assert {float(-k.constant / k.coefficient(Y)) for k in h.kinks} == {0.0, 2.0}


# -- tails -------------------------------------------------------------------------------------------------------------

LAWS = [Laplace(1.5), Gaussian(2.0), Exponential(1.0), Logistic(0.7), Gumbel(1.0), CAUCHY]


def factors() -> dict[str, tuple[Factor, ...]]:
    out: dict[str, tuple[Factor, ...]] = {}
    for law in LAWS:
        name = "Cauchy" if law is CAUCHY else type(law).__name__
        out[f"{name} density"] = (Density(law, line(1, -0.75)),)
        out[f"{name} density, turned"] = (Density(law, line(-2, 0.5)),)
        out[f"{name} beyond"] = (Between(law, (line(1, -0.75),), ()),)
        out[f"{name} below"] = (Between(law, (), (line(-2, 1.5),)),)
        out[f"{name} window"] = (Between(law, (line(1, 0.25),), (line(1, 1.5),)),)
        out[f"{name} growing window"] = (Between(law, (line(1, 0.25),), (line(3, 1.5),)),)
        out[f"{name} opening"] = (Between(law, (number(-1.0),), (line(1, 2),), power=2),)
        out[f"{name} product"] = (
            Density(law, line(1, 0.5)),
            Between(law, (line(1, 0),), (), power=2),
            Density(Laplace(1.0), line(1, 0)),
        )
    out["geometric beyond"] = (Between(Geometric(2.0), (line(1, 0.5),), ()),)
    out["geometric below"] = (Between(Geometric(2.0), (), (line(-1, 0.5),)),)
    out["moved"] = (integral(Laplace(1.0), (Density(Laplace(3.0), line(1, 0.5, (0, -1))),)),)
    out["moved, with a condition"] = (
        integral(Laplace(1.0), (Density(Laplace(3.0), line(1, 0, (0, -2))), Between(Gaussian(1.0), (), (single(0),)))),
    )
    out["alike"] = (integral(Laplace(2.0), (Density(Laplace(2.0), line(1, 0.5, (0, -1))),)),)
    out["alike above a bound"] = (integral(Laplace(2.0), (Density(Laplace(2.0), line(1, 0.5, (0, -1))),), (number(0.75),)),)
    out["alike below a bound"] = (integral(Laplace(2.0), (Density(Laplace(2.0), line(1, 0.5, (0, -1))),), (), (number(-3.0),)),)
    out["alike with a kink far out"] = (integral(Laplace(2.0), (Density(Laplace(2.0), line(1, -30, (0, -1))),)),)
    out["alike with a bound far out"] = (integral(Laplace(2.0), (Density(Laplace(2.0), line(1, 0, (0, -1))),), (number(30.0),)),)
    out["alike, two scales"] = (integral(Laplace(1.0), (Density(Laplace(2.0), line(1, 0.5, (0, -2))),), (number(-4.0),)),)
    out["alike, turned"] = (integral(Laplace(1.0), (Density(Exponential(2.0), line(1, 0.5, (0, 2))),)),)
    out["running"] = (integral(Laplace(2.0), (Between(Laplace(1.0), (number(0.25),), ()),), (line(1, 0.5),)),)
    out["running down"] = (integral(Laplace(2.0), (), (), (line(-1, 0.5),)),)
    out["loosened"] = (integral(Laplace(2.0), (Between(Laplace(1.0), (), (line(1, 0, (0, 1)),)),)),)
    out["a number"] = (Density(Laplace(1.0), number(0.5)), Indicator(Bound(line(1, 0))))
    return out


FACTORS = factors()
UNKNOWN = {"Cauchy window", "Cauchy growing window", "Cauchy product"}


@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_lies_within_its_tail(name: str) -> None:
    product = FACTORS[name]
    for side, start in ((1, 6.0), (1, 40.0), (-1, 25.0)):
        ray = Ray(Y, side, exact(0.25), start)
        found = tail(product, ray)
        if found is None:
            continue
        for t in (start, start + 0.3, 1.5 * start, 4 * start):
            logs, errors = zip(*(value(f, 0.25 + side * t) for f in product), strict=True)
            own = sum(logs)
            if own < -600:
                continue
            off = found.error + sum(errors) + 1e-13 * (1 + abs(own))
            assert found.asymptote.at(t) + found.low - off <= own <= found.asymptote.at(t) + found.high + off


# What is told of the tail on the right, from 40 on: that something is told at all, and how wide it may be.
KNOWN = [name for name in FACTORS if not name.startswith("Cauchy") and "window" not in name and not name.startswith("alike")]


@pytest.mark.parametrize("name", KNOWN)
def test_tails_are_told_and_sharp(name: str) -> None:
    found = tail(FACTORS[name], Ray(Y, 1, exact(0.25), 40.0))
    if "Exponential density, turned" in name or "Exponential below" in name or "Gumbel" in name:
        return  # nothing lies there, or it falls too fast for floats
    assert found is not None
    assert found.high - found.low <= (
        0.51 if "geometric" in name else 0.06 if "Gaussian" in name else 2e-3 if "condition" in name else 1e-6
    )


def test_two_alike_grow_by_a_power() -> None:
    """(1 + t) e^-t / 4 for two Laplace draws of scale 1: t e^-t / 4 in the limit, and a little more before."""
    found = tail((integral(Laplace(1.0), (Density(Laplace(1.0), line(1, 0, (0, -1))),)),), Ray(Y, 1, exact(0), 50.0))
    assert found is not None
    assert (found.asymptote.rate, found.asymptote.power) == (1, 1)
    assert found.asymptote.constant == pytest.approx(-math.log(4))
    assert found.low == 0.0
    assert found.high == pytest.approx(math.log(51 / 50), rel=1e-12)
    scaled = tail((integral(Laplace(1.0), (Density(Laplace(2.0), line(1, 0, (0, -2))),)),), Ray(Y, 1, exact(0), 50.0))
    assert scaled is not None  # 2 L + L' of scale 2 each: t e^(-t/2) / 16
    assert scaled.asymptote.rate == exact(0.5)
    assert scaled.asymptote.constant == pytest.approx(-math.log(16))


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0, -0.25])
@pytest.mark.parametrize("share", [0.9, 1.5])
def test_two_alike_beyond_a_bound(ratio: float, share: float) -> None:
    """r V + W on V >= c, of scales b and s = |r| b: (t / |r| - c + b / 2) e^(-t / s) / (4 b s) for t >= |r| c."""
    b, start, r = 2.0, 40.0, abs(ratio)
    s, c = r * b, share * start / (2 * r)
    bound = ((number(c),), ()) if ratio > 0 else ((), (number(-c),))
    f = integral(Laplace(b), (Density(Laplace(s), line(1, 0, (0, -ratio))),), *bound)
    found = tail((f,), Ray(Y, 1, exact(0), start))
    assert found is not None
    assert found.asymptote.constant == pytest.approx(-math.log(4 * b * s * r))
    for t in (start, 45.0, 100.0, 1000.0):
        truth = math.log((t / r - c + b / 2) / (4 * b * s)) - t / s
        off = found.error + 1e-13 * (1 + abs(truth))
        assert found.asymptote.at(t) + found.low - off <= truth <= found.asymptote.at(t) + found.high + off


def test_products_of_one_draw() -> None:
    """e^(-|v|/2) times P(L <= v) on either side: on the left both decay."""
    left, right = product_asymptotes(Laplace(2.0), 0, [Between(Laplace(1.0), (), (single(0),))])
    assert right is not None
    assert right.rate == exact(0.5)
    assert right.constant == pytest.approx(-math.log(4))
    assert left is not None
    assert left.rate == exact(1.5)
    assert left.constant == pytest.approx(-math.log(8))


def test_nothing_is_told_too_early_or_of_other_variables() -> None:
    assert tail((Density(Laplace(1.0), line(1, -30.0)),), Ray(Y, 1, exact(0), 10.0)) is None
    assert tail((Density(Laplace(1.0), line(1, 0, (0, 1))),), Ray(Y, 1, exact(0), 10.0)) is None
    assert tail((Density(Laplace(1.0), single(0)),), Ray(Y, 1, exact(0), 10.0)) is None
    assert tail((Density(Uniform(0.0, 1.0), line(1, 0)),), Ray(Y, 1, exact(0), 10.0)) is None
    crossing = Between(Laplace(1.0), (line(1, -30), number(0)), ())
    assert tail((crossing,), Ray(Y, 1, exact(0), 10.0)) is None
    assert tail((crossing,), Ray(Y, 1, exact(0), 31.0)) is not None


@pytest.mark.parametrize("gap", [8e-15, -8e-15, 1e-9, -0.25, 0.5])
def test_a_tail_that_is_not_reached_yet_is_bounded_by_its_gap(gap: float) -> None:
    declared = Asymptote(0.0, rate=exact(1))
    found = _moved(declared, exact(2), exact(-1), 0.75, declared.at(0.5) + gap, 1e-13)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((min(gap, 0.0), max(gap, 0.0)), rel=0.1, abs=1e-20)
    assert (found.asymptote.rate, found.asymptote.constant) == (2, 1.0)  # -(2 t - 1)
    assert 1e-13 + 4e-16 <= found.error <= 1e-13 + 2e-15
    rounded = _moved(declared, exact(2), exact(-1), 0.75, declared.at(0.5) + 2e-15, 0.0)
    assert rounded is not None
    assert (rounded.low, rounded.high) == (0.0, 0.0)
    assert _moved(declared, exact(2), exact(-2), 0.75, -1.0, 0.0) is None  # not on this side of zero yet


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_a_whole_number_beyond_a_bound_that_runs_away(side: int, scale: float) -> None:
    """P(K >= x) = a^ceil(x) / (1 + a) with a = e^(-1/b), against its straight line; the constant is known to a rounding."""
    f = Between(Geometric(scale), (line(1, 0.25),), ()) if side > 0 else Between(Geometric(scale), (), (line(1, -0.25),))
    found = tail((f,), Ray(Y, side, exact(0), 4.0))
    assert found is not None
    a = math.exp(-1 / scale)
    for t in (4.0, 4.5, 4.75, 4.8, 9.0, 40.125):
        truth = -math.ceil(t + 0.25) / scale - math.log1p(a)
        assert found.low - found.error <= truth - found.asymptote.at(t) <= found.high + found.error
    assert found.high - found.low == pytest.approx(1 / scale)
    assert 4e-16 <= found.error <= 5e-16 * (2 + abs(found.asymptote.constant))


@pytest.mark.parametrize("offset", [3.7, 1e3 / 7, 1e6 / 7])
def test_the_constant_of_a_mass_far_out_is_known_up_to_its_size(offset: float) -> None:
    """The mass of a Laplace draw above t + offset: -ln 2 - (t + offset) / b, at 40 digits."""
    scale = 0.3
    f = integral(Laplace(scale), (), (line(1, offset),))
    found = tail((f,), Ray(Y, 1, exact(0), 1.0))
    assert found is not None
    with mpmath.workdps(40):
        for t in (1.0, 2.5, 64.0):
            truth = -mpmath.log(2) - (t + mpmath.mpf(offset)) / mpmath.mpf(scale)
            told = found.asymptote.constant - mpmath.mpf(t) * found.asymptote.rate.numerator / found.asymptote.rate.denominator
            assert abs(told - truth) <= found.error + max(found.high, -found.low)
    assert 4e-16 * offset / scale <= found.error <= 1e-15 * (4 + 2 * offset / scale)


def test_bounds_that_give_way_along_a_ray() -> None:
    """v <= y and v >= -y give way as y grows; v >= y does not."""
    up, down = Ray(Y, 1, exact(0), 1.0), Ray(Y, -1, exact(0), 1.0)
    fixed = number(2)
    assert _without((line(-1, 0), fixed), (line(3, 1),), up) == ((fixed,), ())
    assert _without((line(-1, 0), fixed), (line(3, 1),), down) is None
    assert _without((line(1, 0),), (fixed,), up) is None
    assert _without((fixed,), (line(-2, 0),), up) is None
    assert _without((line(1, 0),), (fixed, line(-2, 0)), down) == ((), (fixed,))


@pytest.mark.parametrize("offset", [-5.0, 2.0])
def test_the_mass_beyond_a_bound_is_bounded_from_where_the_bound_is(offset: float) -> None:
    """P(v >= t + offset) of a logistic draw: -ln(1 + e^(t + offset)), which is not its asymptote yet."""
    found = tail((integral(Logistic(1.0), (), (line(1, offset),)),), Ray(Y, 1, exact(0), 8.0))
    assert found is not None
    for t in (8.0, 8.5, 12.0, 40.0):
        truth = -math.log1p(math.exp(t + offset))
        assert found.low - found.error - 1e-14 <= truth - found.asymptote.at(t) <= found.high + found.error + 1e-14
    assert found.high - found.low <= 3 * math.exp(-(8.0 + offset))


@pytest.mark.parametrize("far", [1500.0, 2990.0, 2999.0])
def test_an_integral_and_its_error_are_the_same_in_other_units(far: float) -> None:
    """P(far < X < 3005 scales) of Laplace noise, of which the last nats lie beyond where integrals end."""
    truth = -far - math.log(2) + math.log1p(-math.exp(far - 3005))
    errors = []
    for unit in (2.0**-40, 1.0, 2.0**40):
        beside = Between(Laplace(unit), (), (single(0),))  # nearly 1 out there
        found, error = value(Integral(0, Laplace(unit), (line(1, 0),), (number(exact(3005 * unit)),), (beside,)), far * unit)
        assert abs(math.expm1(found - truth)) <= error
        errors.append(error)
    assert errors == pytest.approx([errors[1]] * 3, rel=1e-6)
