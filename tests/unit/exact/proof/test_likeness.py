"""Regions that are alike have the same cheapest alignment, and those that are not are told apart."""

from __future__ import annotations

import itertools

import pytest

import dpest
from dpest.exact.proof.align import _merged_regions, shift_cost
from dpest.exact.proof.likeness import Likenesses
from dpest.exact.proof.regions import Region, Released, scaled_row
from dpest.laws.continuous import Exponential, Laplace
from dpest.numerics.rationals import exact
from dpest.run.settings import Sides
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


def _by_forks(mechanism, data):
    return trace(mechanism, list(data), {}, sides=Sides.APART)


@pytest.mark.parametrize("mechanism", [two_maxima, unequal_maxima, sparse_vector, between, whole])
@pytest.mark.parametrize("other", [(2, 1, 1, 1, 1, 1), (0, 2, 0, 2, 1, 2), (1, 1, 1, 1, 1, 0)])
def test_pairs_with_one_key_have_one_cost(mechanism, other):
    forms = {}
    left, right = (_merged_regions(_by_forks(mechanism, data), None, forms) for data in ((1,) * 6, other))
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


LAWS = {"a": Laplace(1.0), "b": Laplace(1.0), "c": Exponential(1.0), "s": Laplace(2.0)}
ALIKE = [  # s + 2 a - b + 1 >= 0 where s is released, and what is the same up to names
    (("s", 1), ("a", 2), ("b", -1)),
    (("s", 1), ("b", 2), ("a", -1)),
]
OTHERS = [
    (("s", 1), ("a", 2), ("b", 1)),
    (("s", 1), ("a", -2), ("b", -1)),
    (("s", 1), ("a", -2), ("b", 1)),
    (("s", -1), ("a", 2), ("b", -1)),
    (("s", 1), ("a", 2), ("c", -1)),
    (("s", 1), ("c", 2), ("a", -1)),
    (("s", 1), ("a", 3), ("b", -1)),
    (("s", 1), ("a", 2)),
]


def told_by(condition, order, constant=1.0):
    """A region with one condition and a released draw, its draws numbered in some order."""
    number = {name: k for k, name in enumerate(order)}
    laws = {number[n]: LAWS[n] for n, _ in condition}
    terms = tuple(sorted((number[n], exact(c)) for n, c in condition))
    row = scaled_row(terms, exact(constant), False, laws)
    return Region("out", (row,), (Released(((number["s"], exact(1)),), exact(0)),), tuple(sorted(laws.items())))


def test_the_draws_of_one_condition_are_told_by_their_coefficients_and_laws():
    """Whatever their numbers are; another sign, law or coefficient, or another constant, is another pair."""
    likenesses = Likenesses()
    forms = [(form, constant) for form in (ALIKE, *([x] for x in OTHERS)) for constant in (1.0, -1.0)]
    keys, first = [], []
    for alike, constant in forms:
        own = {
            order: {likenesses.key(told_by(x, order, constant), told_by(x, order, 0.0)) for x in alike}
            for order in itertools.permutations("abcs")
        }
        assert all(None not in x for x in own.values())
        keys.append(set().union(*own.values()))
        first.append(set().union(*(x for order, x in own.items() if order[0] == "s")))
    assert [len(x) for x in first[:2]] == [1, 1]  # the released draw leads: one scale, and one sign, for every order
    for one, other in itertools.combinations(keys, 2):
        assert not one & other
