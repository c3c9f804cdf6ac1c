"""Two laws, lists of laws, and samples compared under the older names."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpest.core import Dist
from dpest.errors import InvalidInput, InvalidLaw
from dpest.noise import Exponential, Laplace, create_exponential_noise, create_laplace_noise
from dpest.operations import (
    Sampled,
    add,
    affine,
    branch,
    geq,
    max_op,
    mul,
    mux,
    prefix_sum_distributions,
    vector_add,
    vector_argmax,
)
from dpest.utils.privacy import epsilon_from_dist, epsilon_from_list, epsilon_from_list_joint, epsilon_from_mixed_samples

N = 20_000


def test_atoms_that_one_law_lacks_are_infinite() -> None:
    assert epsilon_from_dist(Dist.from_atoms({0: 0.5, 1: 0.5}), Dist.deterministic(1)) == math.inf


def test_atoms_in_common_are_compared() -> None:
    p, q = Dist.from_atoms({0: 0.8, 1: 0.2}), Dist.from_atoms({0: 0.4, 1: 0.6})
    assert epsilon_from_dist(p, q) == pytest.approx(math.log(3), rel=1e-12)


def test_a_shifted_exponential_is_infinite() -> None:
    assert epsilon_from_dist(Exponential(b=1.0).to_dist(), Exponential(b=1.0).to_dist() + 1) == math.inf


@pytest.mark.parametrize(("shift", "scale"), [(1.0, 10.0), (1.0, 0.1), (50.0, 1.0)])
def test_a_shifted_laplace_loses_the_shift_over_the_scale(shift: float, scale: float) -> None:
    p, q = Laplace(b=scale).to_dist(), add(Laplace(b=scale).to_dist(), shift)
    assert epsilon_from_dist(p, q) == pytest.approx(shift / scale, rel=1e-9)


def test_a_mixed_law_compares_its_density_too() -> None:
    def released(q: float) -> Dist:
        return branch(Dist.from_atoms({0: 0.5, 1: 0.5}), q + Laplace(b=0.1).to_dist(), -1000.0)

    assert epsilon_from_dist(released(0.0), released(1.0)) == pytest.approx(10.0, rel=1e-9)


def test_the_maximum_of_values_with_one_shared_noise() -> None:
    def largest(q0: float, q1: float) -> Dist:
        shared = Laplace(b=10.0).to_dist()
        return max_op([q0 + shared, q1 + shared])

    assert epsilon_from_dist(largest(0.0, 0.0), largest(5.0, 5.0)) == pytest.approx(0.5, rel=1e-9)
    assert epsilon_from_dist(largest(0.0, 0.0), largest(5.0, 0.0)) == pytest.approx(0.5, rel=1e-9)


def test_x_plus_x_is_two_x() -> None:
    x = Laplace(b=1.0).to_dist()
    twice = add(x, x)
    grid = twice.density
    mean_square = float(np.sum(np.asarray(grid["x"]) ** 2 * np.asarray(grid["f"])) * grid["dx"])
    assert mean_square == pytest.approx(8.0, rel=1e-3)
    assert twice.sample(200_000, 1).var() == pytest.approx(8.0, rel=0.05)
    assert epsilon_from_dist(twice, add(twice, 1.0)) == pytest.approx(0.5, rel=1e-9)


def test_independent_coordinates_add() -> None:
    ps, qs = create_laplace_noise(20.0, 2), [1 + x for x in create_laplace_noise(20.0, 2)]
    assert epsilon_from_list(ps, qs) == pytest.approx(0.1, rel=1e-9)


def test_coordinates_add_per_direction() -> None:
    # One coordinate is likelier on the left, the other on the right: the larger direction is not the sum of the larger ones.
    one, other = Dist.from_atoms({0: 0.9, 1: 0.1}), Dist.from_atoms({0: 0.5, 1: 0.5})
    forward, backward = math.log(0.9 / 0.5), math.log(0.5 / 0.1)
    assert epsilon_from_list([one, other], [other, one]) == pytest.approx(forward + backward, rel=1e-9)
    same = [Dist.from_atoms({0: 0.9, 1: 0.1}) for _ in range(2)], [Dist.from_atoms({0: 0.5, 1: 0.5}) for _ in range(2)]
    assert epsilon_from_list(*same) == pytest.approx(2 * backward, rel=1e-9)


def test_where_one_coordinate_changes_the_loss_is_its_own() -> None:
    ps, qs = create_laplace_noise(10.0, 3), create_laplace_noise(10.0, 3)
    qs[1] = qs[1] + 1
    assert epsilon_from_list(ps, qs) == pytest.approx(0.1, rel=1e-9)


def test_dependent_lists_are_joint() -> None:
    def shared(a: float, b: float) -> list[Dist]:
        t = Laplace(b=10.0).to_dist()
        return [a + t, b + t]

    assert epsilon_from_list(shared(0, 0), shared(1, 1)) == pytest.approx(0.1, rel=1e-9)
    assert epsilon_from_list(shared(0, 0), shared(1, 0)) == math.inf
    assert epsilon_from_list_joint(shared(0, 0), shared(1, 1), hist_bins=50) == pytest.approx(0.1, rel=1e-9)


def test_prefix_sums_lose_the_l1_distance() -> None:
    def sums(shift: float) -> list[Dist]:
        return list(prefix_sum_distributions([shift + x for x in create_laplace_noise(10.0, 4)]))

    assert epsilon_from_list(sums(0.0), sums(1.0)) == pytest.approx(0.4, rel=1e-9)


def test_vector_verbs() -> None:
    def winner(values: list[float]) -> Dist:
        return vector_argmax(vector_add(values, create_exponential_noise(20.0, len(values))))

    assert epsilon_from_dist(winner([1.0, 1.0]), winner([0.0, 2.0])) == pytest.approx(0.1, rel=1e-9)


def test_scalar_verbs() -> None:
    x = Laplace(b=1.0).to_dist()
    assert affine(x, 2.0, 3.0).cdf(3.0) == pytest.approx(0.5)
    assert mul(x, 2.0).cdf(0.0) == pytest.approx(0.5)
    assert dict(geq(x, 0.0).atoms)[1.0] == pytest.approx(0.5)
    assert dict(mux(geq(x, 0.0), 7.0, 9.0).atoms) == pytest.approx({7.0: 0.5, 9.0: 0.5})


def test_values_known_by_samples_are_compared_as_samples() -> None:
    rng = np.random.default_rng(9)
    one, same, far = (Sampled.from_samples(x) for x in (rng.laplace(size=N), rng.laplace(size=N), 5 + rng.exponential(size=N)))
    assert epsilon_from_dist(one, same) < 0.3
    assert epsilon_from_dist(one, far) == math.inf
    assert epsilon_from_list_joint([one, one], [same, same], hist_bins=20) < 0.3
    assert one.cdf(0.0) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("samples", [[], [[1.0]], ["a"], [math.nan]])
def test_bad_samples_are_refused(samples: object) -> None:
    with pytest.raises(InvalidLaw, match="from_samples"):
        Sampled.from_samples(samples)


@pytest.mark.parametrize("bins", [10, 1000])
def test_two_samples_of_one_law_are_never_infinitely_far_apart(bins: int) -> None:
    rng = np.random.default_rng(7)
    assert epsilon_from_mixed_samples(rng.laplace(size=20_000), rng.laplace(size=20_000), n_bins=bins) < 0.3


def test_an_exclusive_output_is_printed_with_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(8)
    loss = epsilon_from_mixed_samples(rng.integers(0, 2, 10_000), np.ones(10_000), verbose=True)
    assert loss == math.inf
    printed = capsys.readouterr().out
    assert "output == 0" in printed
    assert "of 10000" in printed
    assert "0 of 10000" in printed


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidInput, match="one length, got 1 and 2"):
        epsilon_from_list(create_laplace_noise(1.0, 1), create_laplace_noise(1.0, 2))
    with pytest.raises(InvalidInput, match="empty"):
        epsilon_from_list([], [])
