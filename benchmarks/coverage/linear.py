"""Matrix, tree and wavelet mechanisms: linear functions of noisy counts."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import toeplitz

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_linear


def running_totals(values, rng: np.random.Generator, epsilon=1.0):
    return np.cumsum(np.asarray(values) + rng.laplace(0, 1 / epsilon, size=len(values)))


def tree_counter(stream, rng: np.random.Generator, b=3.0):
    """Prefix sums from the nodes of a binary tree over four items."""
    nodes = {(i, i + w): sum(stream[i : i + w]) + rng.laplace(0, b) for w in (1, 2, 4) for i in range(0, 4, w)}
    return [
        nodes[0, 1],
        nodes[0, 2],
        nodes[0, 2] + nodes[2, 3],
        nodes[0, 4],
    ]


def online_counter(stream, rng: np.random.Generator, b=2.0):
    """Chan, Shi and Song's counter: partial sums are kept by the binary digits of the time."""
    alpha = [0.0] * 3
    noisy = [0.0] * 3
    released = []
    for t, x in enumerate(stream, start=1):
        i = (t & -t).bit_length() - 1
        alpha[i] = sum(alpha[:i]) + x
        for j in range(i):
            alpha[j] = noisy[j] = 0.0
        noisy[i] = alpha[i] + rng.laplace(0, b)
        released.append(sum(noisy[j] for j in range(3) if t >> j & 1))
    return released


def two_level_counter(stream, rng: np.random.Generator, block=2, b=2.0):
    out, done, partial = [], 0.0, 0.0
    for t, x in enumerate(stream):
        partial += x
        if (t + 1) % block == 0:
            done += partial + rng.laplace(0, b)
            partial = 0.0
            out.append(done)
        else:
            out.append(done + partial + rng.laplace(0, b))
    return out


TREE = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], *np.eye(4)])


def consistent_tree(counts, rng: np.random.Generator, b=3.0):
    """Hay et al.: noisy counts of a tree, made consistent by least squares."""
    noisy = TREE @ np.asarray(counts) + rng.laplace(0, b, size=len(TREE))
    return np.linalg.pinv(TREE) @ noisy


def consistent_pair(counts, rng: np.random.Generator, b=2.0):
    """A total and its two parts, adjusted to add up."""
    total = sum(counts) + rng.laplace(0, b)
    left = counts[0] + rng.laplace(0, b)
    right = counts[1] + rng.laplace(0, b)
    gap = total - left - right
    return {"left": left + gap / 3, "right": right + gap / 3}


def matrix_mechanism(x, rng: np.random.Generator, b=2.0):
    """Workload of all ranges of three cells, strategy: total and cells."""
    workload = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]])
    strategy = np.vstack([np.ones(3), np.eye(3)])
    noisy = strategy @ x + rng.laplace(0, b, size=4)
    return workload @ np.linalg.pinv(strategy) @ noisy


HAAR = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]]) / np.array([[4], [4], [2], [2]])


def privelet(counts, rng: np.random.Generator, b=1.0):
    """Wavelet coefficients with noise by level, transformed back."""
    weights = np.array([4.0, 4.0, 2.0, 2.0])
    coefficients = HAAR @ np.asarray(counts) + rng.laplace(size=4) * b / weights
    return np.linalg.inv(HAAR) @ coefficients


def fourier_perturbation(series, rng: np.random.Generator, b=2.0):
    """The first coefficients of a cosine transform, as noisy numbers."""
    n = len(series)
    basis = np.array([[math.cos(math.pi * k * (2 * t + 1) / (2 * n)) for t in range(n)] for k in range(2)])
    return basis.T @ (basis @ np.asarray(series) + rng.laplace(0, b, size=2))


def toeplitz_factorisation(x, rng: np.random.Generator, b=1.0):
    """Prefix sums as a square of a lower triangular Toeplitz matrix."""
    n = len(x)
    first = [1.0]
    for k in range(1, n):
        first.append(first[-1] * (2 * k - 1) / (2 * k))
    root = toeplitz(first, np.zeros(n))
    return root @ (root @ np.asarray(x) + rng.laplace(0, b, n))


def correlated_noise(gradients, rng: np.random.Generator, b=1.0, beta=0.5):
    """Each step takes back part of the last step's noise."""
    out, last = [], 0.0
    for g in gradients:
        z = rng.laplace(0, b)
        out.append(g + z - beta * last)
        last = z
    return out


def marginals(table, rng: np.random.Generator, b=1.0):
    noisy = np.asarray(table, dtype=float) + rng.laplace(0, b, size=(2, 2))
    return noisy.sum(axis=0), noisy.sum(axis=1)


def every_range(counts, rng: np.random.Generator, b=1.0):
    noisy = [c + rng.laplace(0, b) for c in counts]
    return [sum(noisy[i : j + 1]) for i in range(len(noisy)) for j in range(i, len(noisy))]


def smoothed(counts, rng: np.random.Generator, b=1.0):
    noisy = np.asarray(counts) + rng.laplace(0, b, size=len(counts))
    return np.convolve(noisy, [0.5, 0.5], mode="valid")


def noisy_total_and_parts(counts, rng: np.random.Generator, b=1.0):
    parts = [c + rng.laplace(0, b) for c in counts]
    return parts, sum(counts) + rng.laplace(0, b)


def random_projection(x, rng: np.random.Generator, b=1.0):
    public = np.array([[1, -1, 1], [1, 1, -1]]) / math.sqrt(2)
    return public @ np.asarray(x) + rng.laplace(0, b, 2)


# ---- the truth ----


def _pinv_tree() -> float:
    rows = np.linalg.pinv(TREE)
    return laplace_linear(rows, [1, 0, 0, 0], 3.0)


def _tree_prefixes() -> float:
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]  # noise of [0,1), [0,2), [2,3), [0,4)
    return laplace_linear(rows, [1, 1, 1, 1], 3.0)


def _online() -> float:
    return 3 / 2.0  # the first item is in the nodes of times 1, 2 and 4, which are released one by one


def _two_level() -> float:
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]]
    return laplace_linear(rows, [1, 1, 1, 1], 2.0)


def _ranges_of_three() -> float:
    strategy = np.vstack([np.ones(3), np.eye(3)])
    return laplace_linear(np.linalg.pinv(strategy), [1, 0, 0], 2.0)


def _cosines() -> float:
    basis = [[math.cos(math.pi * k * (2 * t + 1) / 8) for t in range(4)] for k in range(2)]
    return (abs(basis[0][0]) + abs(basis[1][0])) / 2


def _root() -> float:
    return 1 + 1 / 2 + 3 / 8 + 5 / 16


def _correlated() -> float:
    return 1 + 1 / 2 + 1 / 4  # z must follow: 1, then beta, then beta squared


def _marginals() -> float:
    rows = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]
    return laplace_linear(rows, [1, 0, 1, 0], 1.0)


def _smoothed() -> float:
    return laplace_linear([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]], [0.5, 1.0, 0.5], 1.0)


ONE = ([1, 1, 1, 1], [2, 1, 1, 1])
CASES = (
    Case("running totals", "Dwork et al. 2010", running_totals, ONE, lambda: 1.0, "closed form"),
    Case("binary tree, prefix sums", "Dwork et al. 2010", tree_counter, ONE, _tree_prefixes, "linear program"),
    Case("binary counter, online", "Chan et al. 2011", online_counter, ONE, _online, "closed form"),
    Case("two-level counter", "Chan et al. 2011", two_level_counter, ONE, _two_level, "linear program"),
    Case("tree made consistent, 7 noises", "Hay et al. 2010", consistent_tree, ONE, _pinv_tree, "linear program"),
    Case("total and parts made consistent", "Hay et al. 2010", consistent_pair, ([3, 4], [4, 4]), lambda: 1.0, "closed form"),
    Case(
        "matrix mechanism, all ranges",
        "Li et al. 2010",
        matrix_mechanism,
        ([1, 1, 1], [2, 1, 1]),
        _ranges_of_three,
        "linear program",
    ),
    Case("wavelets (Privelet)", "Xiao et al. 2010", privelet, ONE, lambda: 3.0, "closed form"),
    Case("Fourier perturbation", "Rastogi and Nath 2010", fourier_perturbation, ONE, _cosines, "closed form"),
    Case("Toeplitz factorisation", "Fichtenberger et al. 2023", toeplitz_factorisation, ONE, _root, "closed form"),
    Case(
        "correlated noise between steps",
        "Denisov et al. 2022",
        correlated_noise,
        ([1, 1, 1], [2, 1, 1]),
        _correlated,
        "closed form",
    ),
    Case(
        "marginals of a noisy table",
        "Barak et al. 2007",
        marginals,
        ([[1, 2], [3, 4]], [[2, 2], [3, 4]]),
        _marginals,
        "linear program",
    ),
    Case("every range of noisy counts", "Hay et al. 2010", every_range, ([1, 1, 1], [2, 1, 1]), lambda: 1.0, "closed form"),
    Case(
        "moving average of noisy counts", "Dwork et al. 2010", smoothed, ([1, 1, 1, 1], [1, 2, 2, 1]), _smoothed, "linear program"
    ),
    Case("noisy parts and a noisy total", "Hay et al. 2010", noisy_total_and_parts, ([3, 4], [4, 4]), lambda: 2.0, "closed form"),
    Case(
        "public projection",
        "Kenthapadi et al. 2013",
        random_projection,
        ([1, 1, 1], [2, 1, 1]),
        lambda: math.sqrt(2),
        "closed form",
    ),
)
