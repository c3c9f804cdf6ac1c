"""Which values share noise: the longest way through a traced mechanism, as data and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.exact.inference.paths import trace
from dpest.inputs.shown import affine_text, show
from dpest.lang.nodes import Draw, Linear, draws_of, is_node
from dpest.lang.words import words
from dpest.trace.explore import Path, Trace
from dpest.trace.literal import Literal


@dataclass(frozen=True)
class DrawBox:
    """A draw: its name here, its law, and by how many conditions and outputs it is used."""

    name: str
    law: str
    uses: int

    @property
    def shared(self) -> bool:
        """Whether more than one value depends on it."""
        return self.uses > 1


@dataclass(frozen=True)
class ValueBox:
    """A condition or an output, and the draws that it is computed from."""

    text: str
    draws: tuple[int, ...]


@dataclass(frozen=True)
class Dependence:
    """Draws, the conditions on them, and what is released."""

    draws: tuple[DrawBox, ...]
    conditions: tuple[ValueBox, ...]
    outputs: tuple[ValueBox, ...]
    paths: int


def traced(mechanism: Callable[..., Any], data: Any, params: Mapping[str, Any]) -> Dependence:
    """The dependence graph of a mechanism on one input."""
    return dependence(trace(mechanism, data, params))


def dependence(found: Trace) -> Dependence:
    """The dependence graph of the path with the most draws and conditions."""
    path = max(found.paths, key=_size)
    draws = _draws(path)
    index = {id(d): i for i, d in enumerate(draws)}
    conditions = tuple(ValueBox(_inequality(c, index), tuple(index[id(d)] for d, _ in c.terms)) for c in path.conditions)
    outputs = tuple(_outputs(path, index))
    used = [i for box in (*conditions, *outputs) for i in box.draws]
    boxes = tuple(DrawBox(_name(i), d.law.words(), used.count(i)) for i, d in enumerate(draws))
    return Dependence(boxes, conditions, outputs, len(found.paths))


def dependence_text(found: Dependence) -> str:
    """The draws, who shares them, and what is released: a few lines."""
    count = f"{len(found.draws)} draw{'s' if len(found.draws) != 1 else ''}"
    lines = [f"{found.paths} paths; the longest has {count}:" if found.paths > 1 else f"1 path with {count}:"]
    lines += [f"  {d.name} = {d.law}{_sharing(d)}" for d in found.draws]
    if found.conditions:
        lines += ["conditions on it:", *(f"  {box.text}" for box in found.conditions)]
    return "\n".join([*lines, "it releases:", *(f"  {box.text}" for box in found.outputs)])


def _sharing(draw: DrawBox) -> str:
    return f"   shared by {draw.uses} values" if draw.shared else ""


def _size(path: Path) -> tuple[int, int, int]:
    return len(_draws(path)), len(path.conditions), sum(map(is_node, path.output.leaves))


def _draws(path: Path) -> list[Draw]:
    """The draws of a path in the order of their first use; of those in one condition, the most used one first."""
    groups = [[d for d, _ in c.terms] for c in path.conditions]
    groups += [list(reversed(draws_of(leaf))) for leaf in path.output.leaves if is_node(leaf)]
    uses = Counter(id(d) for group in groups for d in group)
    found = [d for group in groups for d in sorted(group, key=lambda d: -uses[id(d)])]
    return list({id(d): d for d in found}.values())


def _outputs(path: Path, index: dict[int, int]) -> list[ValueBox]:
    """Random parts of the output one by one; an output of constants is one value."""
    leaves = path.output.leaves
    if not any(map(is_node, leaves)):
        return [ValueBox(f"output = {_constants(leaves)}", ())]
    return [
        ValueBox(f"{_place(i, leaves)} = {_value(leaf, index)}", tuple(sorted(index[id(d)] for d in draws_of(leaf))))
        for i, leaf in enumerate(leaves)
        if is_node(leaf)
    ]


def _place(i: int, leaves: Sequence[Any]) -> str:
    return f"output[{i}]" if len(leaves) > 1 else "output"


def _constants(leaves: Sequence[Any]) -> str:
    shown = ", ".join(map(show, leaves[:12])) + (", ..." if len(leaves) > 12 else "")
    return f"({shown})" if len(leaves) > 1 else shown


def _value(leaf: Any, index: dict[int, int]) -> str:
    if isinstance(leaf, Draw):
        return _name(index[id(leaf)])
    if isinstance(leaf, Linear) and all(isinstance(n, Draw) for n, _ in leaf.terms):
        return affine_text([(c, _name(index[id(n)])) for n, c in leaf.terms], leaf.constant, " ")
    return words(leaf)


def _inequality(literal: Literal, index: dict[int, int]) -> str:
    """The comparison with everything positive on its side: `v2 + 1 >= v1`."""
    terms = [(c, _name(index[id(d)])) for d, c in literal.terms]
    left = affine_text([t for t in terms if t[0] > 0], max(literal.constant, 0), " ")
    right = affine_text([(-c, name) for c, name in terms if c < 0], max(-literal.constant, 0), " ")
    return f"{left} >= {right}"


def _name(i: int) -> str:
    return f"v{i + 1}"
