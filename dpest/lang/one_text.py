"""One of several texts, by a draw that says which: it can be compared, counted and returned without a path for each.

What else is asked of it is refused, and so is what a counter of random values cannot tell: the program is then followed once
more, with a path for each text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from dpest.errors import BudgetExceeded, ExactRefused, MechanismError
from dpest.lang import noise
from dpest.lang.chosen import chosen
from dpest.lang.logic import compare
from dpest.lang.nodes import Relation, Where, is_node
from dpest.lang.points import listed_points
from dpest.lang.run import RUN
from dpest.numerics.setting import Setting

_MOST = 64  # texts: each is a comparison more in all that is asked of the value
T = TypeVar("T")


@dataclass
class _Left:
    met: bool = False  # whether anything was left random


_OPEN: ContextVar[_Left | None] = ContextVar("dpest_texts_left_random", default=None)


def texts_open(found: Callable[[], T]) -> T:
    """What is found with texts left random where sides are kept together; with a path for each where that is refused."""
    with Setting(_OPEN, _Left()):
        try:
            return found()
        except (MechanismError, ExactRefused) as error:
            if not of_texts(error):
                raise
    return found()


def of_texts(error: BaseException) -> bool:
    """Whether something was left random, and may be what the error is about: not where it says that there is too much work."""
    return some_left() and not isinstance(error, BudgetExceeded | RecursionError)


def some_left() -> bool:
    """Whether anything was left random that is a text, or a counter."""
    left = _OPEN.get()
    return left is not None and left.met


def left_random() -> bool:
    """Whether this run leaves texts random; whoever asks makes a value that refuses what it cannot tell."""
    left = _OPEN.get()
    if left is None or not getattr(RUN.get(), "together", False):
        return False
    left.met = True
    return True


def one_of_texts(items: Sequence[Any], weights: Sequence[float] | None) -> Any:
    """One of the texts as a random value where the run keeps sides together; None where it follows each, or for other values."""
    if not _are_texts(items) or not left_random():
        return None
    return text_at(items, noise.integers(0, len(items) - 1) if weights is None else noise.categorical(weights))


def text_at(items: Sequence[Any], place: Any) -> Any:
    """The text at a random place of a list, as a random value."""
    if not is_node(getattr(place, "node", None)):
        return items[int(place)]
    found: Any = items[-1]
    for k in reversed(range(len(items) - 1)):
        found = found if items[k] == found else chosen(compare(Relation.EQ, place.node, k), items[k], found)
    return type(place)(found) if is_node(found) else found


def has_text_at(items: Any, place: Any) -> bool:
    """Whether a random place of a list is left random: all that it may be have a text."""
    if type(items) not in (list, tuple) or not _are_texts(items):
        return False
    points = listed_points(place.node)
    return points is not None and all(0 <= k < len(items) and k.denominator == 1 for k in points) and left_random()


def _are_texts(items: Sequence[Any]) -> bool:
    return 1 < len(items) <= _MOST and all(type(x) is str for x in items)


def texts_of(node: Any) -> set[str]:
    """The texts that one of several may be."""
    return texts_of(node.yes) | texts_of(node.no) if isinstance(node, Where) else {node}
