"""Union-find, against the components of a graph that are found by walking."""

from __future__ import annotations

import random

import pytest

from dpest.numerics.links import Links


def component(edges: list[list[int]], x: int) -> frozenset[int]:
    found, new = {x}, {x}
    while new:
        new = {y for e in edges if new & set(e) for y in e} - found
        found |= new
    return frozenset(found)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_joined_has_one_root(seed: int) -> None:
    rng = random.Random(seed)
    edges = [rng.sample(range(12), rng.randint(1, 3)) for _ in range(rng.randint(0, 9))]
    links = Links()
    for e in edges:
        links.join(e)
    for x in range(12):
        assert links.root(x) in component(edges, x)
        for y in range(12):
            assert (links.root(x) == links.root(y)) == (y in component(edges, x))


def test_a_copy_is_joined_by_itself() -> None:
    links = Links()
    links.join("ab")
    other = links.copy()
    other.join("bc")
    assert links.root("c") == "c"
    assert other.root("c") == other.root("a")


def test_long_chains_are_shortened() -> None:
    """Each look-up halves the way: joined in the worst order, a million steps would not end."""
    links = Links()
    for k in range(5000):
        links.join([k + 1, k])
    assert len({links.root(k) for k in range(5001)}) == 1
    assert links.root(0) in links.parent.values()
