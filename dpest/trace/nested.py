"""Values that are computed from values that are computed from each other: a long sum over all sequences of rounds."""

from __future__ import annotations

from dpest.lang.folding import folded
from dpest.lang.nodes import Linear, Node, children, is_node
from dpest.lang.sharing import sharing_noise

# Operations on each other's values that an output is made of. Sums of choices have three or four, however many people there are;
# what is computed from itself in each of a dozen rounds has more, and is a long sum over all sequences of rounds.
_NESTED = 10


def is_nested(node: Node) -> bool:
    """Whether a value is computed from itself again and again, or is a sum of many terms that share their noise."""
    return max(_depth(node), _tied(node)) > _NESTED


def _depth(node: Node) -> int:
    """How many operations lie between a value and its draws."""

    def parts(x: Node) -> list[Node]:
        return [y for y in children(x) if is_node(y)]

    return folded(node, parts, lambda x, found: 1 + max((found[id(y)] for y in parts(x)), default=0))


def _tied(node: Node) -> int:
    """How many terms of a sum share noise, each with another one: all terms of `sum(a != b for a, b in pairwise(answers))`."""
    terms = [n for n, _ in node.terms] if isinstance(node, Linear) else []
    return max(map(len, sharing_noise(terms)), default=0)
