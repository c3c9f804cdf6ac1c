"""Which values share noise with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpest.lang.nodes import Node, draws_of
from dpest.numerics.links import Links


def sharing_noise(values: Iterable[Node]) -> Iterator[list[Node]]:
    """The values that share noise with each other."""
    link = Links()
    draws = [(node, [id(d) for d in draws_of(node)]) for node in values]
    for _, own in draws:
        link.join(own)
    by_root: dict[Any, list[Node]] = {}
    for node, own in draws:
        if own:
            by_root.setdefault(link.root(own[0]), []).append(node)
    yield from by_root.values()
