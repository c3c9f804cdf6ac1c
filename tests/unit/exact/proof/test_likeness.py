"""Regions that are alike have the same cheapest alignment, and those that are not are told apart."""

from __future__ import annotations

import pytest

import dpest
from dpest.exact.proof.align import _merged_regions, shift_cost
from dpest.exact.proof.likeness import Likenesses
from dpest.trace.explore import trace


def two_maxima(x):
    noisy = [v + dpest.laplace(1) for v in x]
    return dpest.max(noisy[:3]) + dpest.max(noisy[3:])


def unequal_maxima(x):
    noisy = [v + dpest.laplace(1 + i % 2) for i, v in enumerate(x)]
    return dpest.max(noisy), noisy[0] - noisy[1]


def sparse_vector(x):
    threshold = 0.5 + dpest.laplace(2)
    out = []
    for v in x:
        noisy = v + dpest.laplace(4)
        if noisy >= threshold:
            return [*out, noisy]
        out.append(None)
    return out


def between(x):
    out = []
    for v in x:
        noisy = v + dpest.exponential(3)
        out.append("in" if 1 <= noisy <= 2 else "out")
    return out


def whole(x):
    noisy = [v + dpest.geometric(2) for v in x]
    return dpest.argmax(noisy)


@pytest.mark.parametrize("mechanism", [two_maxima, unequal_maxima, sparse_vector, between, whole])
@pytest.mark.parametrize("other", [(2, 1, 1, 1, 1, 1), (0, 2, 0, 2, 1, 2), (1, 1, 1, 1, 1, 0)])
def test_pairs_with_one_key_have_one_cost(mechanism, other):
    forms = {}
    left, right = (_merged_regions(trace(mechanism, list(data), {}), None, forms) for data in ((1,) * 6, other))
    known, likenesses = {}, Likenesses()
    pairs = 0
    for source in left:
        for target in right:
            key = likenesses.key(source, target)
            if key is None:
                assert shift_cost(source, target, {}) is None
                continue
            pairs += 1
            cost = shift_cost(source, target, {})
            assert known.setdefault(key, cost) == cost
    assert len(known) < pairs or mechanism in (sparse_vector, whole)
    assert len(set(known.values())) > 1
