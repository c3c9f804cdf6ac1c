from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpest.numerics.maximum import _chances, _contenders, _inside, _posterior, largest

RNG = np.random.default_rng(5)


def test_nothing_and_one() -> None:
    assert largest([], []) == 0.0
    assert largest([0.0, 0.0], [0.1, 0.1]) == 0.0
    assert largest([-0.7], [0.3]) == 0.7


def test_a_clear_leader_is_left_alone() -> None:
    assert abs(largest([2.0, 0.1, 0.0], [0.1, 0.1, 0.1]) - 2.0) < 1e-3


def test_never_above_the_largest_seen() -> None:
    for _ in range(50):
        sizes = RNG.standard_normal(30)
        assert 0 <= largest(sizes, np.full(30, 0.8)) <= np.abs(sizes).max() + 1e-12


# One size that stands out of n others by less than a = sigma sqrt(2 ln n) is not seen: the noise of the others reaches as high
# (for sizes near 0, of either sign, 2 n). Then 0 and a are both possible, and the answer a / 2 is at most a / 2 wrong; a larger
# one claims more than it must. The largest number seen is wrong by nearly a.


def half_of_what_is_not_seen(n: int) -> float:
    return math.sqrt(2 * math.log(n)) / 2


@pytest.mark.parametrize("n", [200, 500])
def test_pure_noise_is_taken_down(n: int) -> None:
    noise = RNG.standard_normal((40, n)) * 0.05
    estimates = [largest(row, np.full(n, 0.05)) for row in noise]
    assert 0 < np.mean(estimates) < 0.05 * half_of_what_is_not_seen(2 * n)


def test_equal_sizes_seen_through_noise() -> None:
    seen = 1.0 + 0.1 * RNG.standard_normal((40, 500))
    estimates = [largest(row, np.full(500, 0.1)) for row in seen]
    assert 1.0 < np.mean(estimates) < 1.0 + 0.1 * half_of_what_is_not_seen(500)


@pytest.mark.parametrize("n", [2, 5, 20, 60])
def test_few_numbers_teach_little_but_do_no_harm(n: int) -> None:
    for centre in (0.0, 1.0):
        seen = centre + 0.1 * RNG.standard_normal((100, n))
        estimates = [largest(row, np.full(n, 0.1)) for row in seen]
        raw = np.abs(seen).max(axis=1)
        assert centre < np.mean(estimates) < raw.mean()
        assert np.std(estimates) <= np.std(raw)


def test_precise_numbers_do_not_break_it() -> None:
    assert abs(largest([1.0, 1.0, 0.5], [1e-9, 1e-9, 1e-9]) - 1.0) < 1e-6


def posterior_mean(sizes: np.ndarray, error: float, steps: int) -> float:
    """The same estimate by plain sums over a fine grid of sizes: mixture weights by EM, then E max from the product of cdfs."""
    from scipy.stats import norm

    grid = np.linspace(0, sizes.max(), 4001)
    middle = (grid[1:] + grid[:-1]) / 2
    ends = np.geomspace(0.02 * sizes.max(), sizes.max(), 50)
    shapes = [(0.0, e) for e in ends] + [(0.8 * e, e) for e in ends]
    prior = np.array([(middle > a) & (middle < b) for a, b in shapes]) / np.array([[b - a] for a, b in shapes])
    step = grid[1] - grid[0]
    density = norm.pdf((sizes[:, None] - middle) / error) + norm.pdf((sizes[:, None] + middle) / error)
    likelihood = density @ prior.T * step / error
    weights = np.repeat([0.9, 0.1], 50) / 50
    for _ in range(steps):
        shares = likelihood * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = shares.mean(axis=0)
    each = (shares / likelihood) @ prior * density / error * step
    below = np.cumsum(each, axis=1)
    return float(np.sum(1 - np.prod(below / below[:, -1:], axis=0)) * step)


def test_the_estimate_against_sums_over_a_grid() -> None:
    seen = np.abs(1.0 + 0.3 * np.random.default_rng(9).standard_normal(30))
    found, plain = largest(seen, np.full(30, 0.3)), posterior_mean(seen, 0.3, 10)
    assert found == pytest.approx(plain, rel=0.02)


def test_a_badly_known_number_says_nothing_beside_a_well_known_one() -> None:
    """One and a half errors above the leader is what a thousand numbers show by chance; seven are not."""
    sizes, errors = np.zeros(1000), np.full(1000, 1.0)
    sizes[0], errors[0] = 2.0, 0.01
    sizes[1] = 3.5
    assert largest(sizes, errors) == pytest.approx(2.0, abs=0.05)
    sizes[1] = 9.0
    assert largest(sizes, errors) > 4.0


def test_of_very_many_numbers_the_largest_are_looked_at() -> None:
    sizes = np.concatenate([np.full(2000, 0.01), [5.0]])
    assert largest(sizes, np.full(2001, 0.01)) == pytest.approx(5.0, abs=0.05)


def test_the_chance_to_be_the_largest() -> None:
    """Uniform on [0, 1] and on [0, 2]: the second is larger with probability 3/4."""
    u = np.linspace(1e-9, 2, 2001)
    below = np.stack([np.minimum(u, 1.0), u / 2], axis=1)
    assert _chances(below, np.log(below).sum(axis=1)) == pytest.approx([0.25, 0.75], abs=1e-3)
    flat = np.ones((3, 4))
    assert _chances(flat, np.log(flat).sum(axis=1)).tolist() == [0.25] * 4


@pytest.mark.parametrize("mean", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("error", [0.1, 1.0])
def test_the_size_of_a_noisy_number_lies_between_two_sizes(mean: float, error: float) -> None:
    """(|m + s Z| / s)^2 is noncentral chi-squared with one degree of freedom."""
    low, high = np.array([0.0, 0.0, 0.5, 1.0, 3.0]), np.array([0.25, 4.0, 0.6, 2.0, 3.5])
    law = stats.ncx2(1, (mean / error) ** 2) if mean else stats.chi2(1)
    truth = law.cdf((high / error) ** 2) - law.cdf((low / error) ** 2)
    assert _inside(low, high, np.full(5, mean), np.full(5, error)) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(factor: float) -> None:
    sizes, errors = np.array([3.0, 2.0, 1.0]), np.array([0.0, 0.0, 0.0])
    m, s = _contenders(factor * sizes, factor * errors)
    assert m == pytest.approx(factor * sizes)
    assert s == pytest.approx(np.full(3, 3e-12 * factor), rel=1e-9)
    noisy = np.array([0.3, 0.2, 0.4])
    assert largest(factor * sizes, factor * noisy) == pytest.approx(factor * largest(sizes, noisy), rel=1e-9)


def test_the_posterior_of_each_size_is_a_law_on_the_sizes_seen() -> None:
    m, s = np.array([3.0, 2.5, 0.5, 0.1]), np.array([0.5, 0.4, 0.3, 0.2])
    points, below = _posterior(m, s)
    assert (points[0], points[-1]) == (0.0, 3.0)
    assert np.any(np.isclose(points, 0.06, rtol=1e-12))  # the narrowest prior: 2 % of the largest
    assert np.diff(points).max() <= 3.0 / 399 + 1e-12
    assert np.all(np.diff(below, axis=0) >= -1e-12)
    assert below[-1] == pytest.approx(np.ones(4))
    assert np.all(below[0] <= 1e-12)
    means = np.trapezoid(1 - below, points, axis=0)
    assert np.all(np.diff(means) < 0)  # in the order of what was seen


def test_two_that_cannot_be_told_apart_are_taken_down() -> None:
    """The larger of two numbers with errors of 0.3 each is too large by 0.17 on average where both sizes are alike."""
    assert 0.75 < largest([1.0, 0.98], [0.3, 0.3]) < 0.98
    assert largest([1.0], [0.3]) == 1.0


@pytest.mark.parametrize(("error", "told"), [(1.9, True), (3.0, False)])
def test_a_number_of_more_than_twice_the_leaders_error_is_left_out(error: float, told: bool) -> None:
    """Half an error above the leader is what chance explains."""
    m, s = np.array([1.0, 1.01]), np.array([0.01, 0.01 * error])
    assert len(_contenders(m, s)[0]) == 1 + told
    assert (largest(m, s) == 1.0) == (not told)
