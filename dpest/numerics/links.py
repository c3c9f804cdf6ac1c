"""Which things belong together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


class Links:
    """Union-find over anything hashable: joined things have one root."""

    def __init__(self) -> None:
        self.parent: dict[Hashable, Hashable] = {}

    def copy(self) -> Links:
        """The same, to be joined further."""
        other = Links()
        other.parent = dict(self.parent)
        return other

    def root(self, x: Hashable) -> Hashable:
        """What stands for everything that x is joined to."""
        parent = self.parent
        while (up := parent.get(x, x)) != x:
            parent[x] = x = parent.get(up, up)
        return x

    def join(self, items: Sequence[Hashable]) -> None:
        """From now on the items have one root."""
        for x in items[1:]:
            self.parent[self.root(x)] = self.root(items[0])
