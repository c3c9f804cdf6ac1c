"""Outputs out of reach, replaced by the noisy values that they are computed from.

What is computed from released values, in the same way whatever the input, tells no more than they do (data processing).
The way in which it is computed, its constants included, becomes part of the output's shape: values that are put together
in different ways are never compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any

import numpy as np

from dpest.errors import ExactRefused
from dpest.exact.inference.cases import expand
from dpest.lang.behind import hidden_draws
from dpest.lang.nodes import Apply, Draw, Function, Linear, children, is_node, simplified
from dpest.lang.signature import operation
from dpest.trace.columns import constant_key
from dpest.trace.explore import Path, Trace
from dpest.trace.outputs import Flat

Reach = Callable[[Any], bool]


@dataclass
class Opening:
    """Takes one output apart until every part is in reach; the parts are its holes."""

    reach: Reach
    holes: list[Any] = field(default_factory=list)

    def shape(self, x: Any) -> Any:
        """How a value is computed from the holes that are added for it."""
        if not is_node(x):
            return ("=", _constant(x))
        if isinstance(x, Function):  # it tells what is inside it
            return (x.function, self.shape(x.value))
        if isinstance(x, Draw) or self.reach(x):
            if not any(x is h for h in self.holes):
                self.holes.append(x)
            return ("value", next(i for i, h in enumerate(self.holes) if h is x))
        match x:
            case Linear():
                return self._linear(x)
            case Apply(function=function, values=values):
                return ("apply", _callable(function), *map(self.shape, values))
            case _:
                return (operation(x), *map(self.shape, children(x)))

    def _linear(self, x: Linear) -> Any:
        """A sum: what is in reach stays together as one value, the rest is taken apart."""
        far = [(n, c) for n, c in x.terms if not self.reach(n)]
        near = [(n, c) for n, c in x.terms if self.reach(n)]
        if not far:  # each part is in reach, their sum is not
            far, near = [t for t in x.terms if not isinstance(t[0], Draw)], [t for t in x.terms if isinstance(t[0], Draw)]
        rest = self.shape(simplified(Linear(tuple(near), x.constant)))
        return ("sum", rest, *((c, self.shape(n)) for n, c in far))


def _constant(x: Any) -> Any:
    """A key of a constant; what cannot be compared for certain is equal to nothing."""
    if x is None or isinstance(x, bool | int | float | str | bytes):
        return constant_key(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "biuf":
        return x.shape, x.dtype.str, x.tobytes()
    return object()


def _callable(function: Any) -> Any:
    """A key of a function: itself. A method may see what its object holds, which may depend on the data."""
    return object() if isinstance(function, MethodType) else id(function)


def opened(trace: Trace, reach: Reach) -> tuple[Trace, int]:
    """The trace with every output that is out of reach taken apart, and the largest number of values for one of them."""
    if any(hidden_draws(x) for path in trace.paths for x in path.output.leaves):
        raise ExactRefused("an output is rounded by values that cancel: they are not inside it")
    most = 0
    paths = []
    for path in trace.paths:
        new, count = _path(path, reach)
        paths.append(new)
        most = max(most, count)
    return replace(trace, paths=tuple(paths)), most


def _path(path: Path, reach: Reach) -> tuple[Path, int]:
    shapes: list[Any] = []
    leaves: list[Any] = []
    count = 0
    for x in path.output.leaves:
        if not is_node(x) or reach(x):
            shapes.append(None)
            leaves.append(x)
            continue
        one = Opening(reach)
        shapes.append(("computed", one.shape(x)))
        leaves += one.holes
        count += len(one.holes)
    if not any(shapes):
        return path, 0
    return replace(path, output=Flat(("computed", path.output.structure, tuple(shapes)), tuple(leaves))), count


def with_values_inside(trace: Trace) -> tuple[Trace, int]:
    """The trace in which outputs come with the noisy values inside them, and the largest number of these.

    Whoever sees more tells inputs apart no worse. What is computed from earlier noisy values and the data, with noise of its own
    (the last step of a descent), is then known up to that noise.
    """
    paths, most = [], 0
    for path in trace.paths:
        found: dict[Any, Any] = {}
        for x in path.output.leaves:
            if is_node(x):
                for part in _parts(x):
                    _values_inside(part, found)
        structure = ("beside", len(found), path.output.structure)
        paths.append(replace(path, output=Flat(structure, (*path.output.leaves, *found.values()))))
        most = max(most, len(found))
    return replace(trace, paths=tuple(paths)), most


def _values_inside(x: Any, found: dict[Any, Any]) -> None:
    """The values with noise of their own that a value is computed from; of those that differ by a number, the first."""
    if not is_node(x):
        return
    terms = x.terms if isinstance(x, Linear) else ((x, 1),)
    if any(isinstance(n, Draw) for n, _ in terms):
        found.setdefault(frozenset((id(n), c / terms[0][1]) for n, c in terms), x)
    for part in _parts(x):
        _values_inside(part, found)


def _parts(x: Any) -> Sequence[Any]:
    """What a value is made of, without the draws that a sum adds."""
    return [n for n, _ in x.terms if not isinstance(n, Draw)] if isinstance(x, Linear) else children(x)


def reach_of() -> Reach:
    """Whether a value can be released as it is: whether it comes down to constants and affine values."""
    known: dict[int, tuple[Any, bool]] = {}  # by id; the node is kept, so that no other can come to have it

    def reach(x: Any) -> bool:
        if id(x) not in known:
            known[id(x)] = x, _expands(x)
        return known[id(x)][1]

    return reach


def _expands(x: Any) -> bool:
    try:
        expand([x], (), [0])
    except ExactRefused:
        return False
    return True


def affine_only(x: Any) -> bool:
    """Whether a value is an affine expression of draws as it stands."""
    return isinstance(x, Draw) or (isinstance(x, Linear) and all(isinstance(n, Draw) for n, _ in x.terms))

