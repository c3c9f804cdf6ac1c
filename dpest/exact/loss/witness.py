"""The event behind a loss, in words, with its probability (or density) under both inputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.exact.inference.cases import Constant
from dpest.exact.loss.blocks import Block, BlockLaw, CoordinateKind, IntegratedLaw
from dpest.exact.loss.compare import Loss, StratumLoss
from dpest.exact.loss.coordinates import Frame
from dpest.exact.loss.line import line_kinks
from dpest.exact.loss.logs import Sup
from dpest.exact.loss.redundant import Told
from dpest.exact.loss.shift import release
from dpest.exact.loss.undone import Dressed
from dpest.inputs.shown import LONG, show, signed_sum
from dpest.laws.law import Continuous
from dpest.numerics.logspace import Floats
from dpest.numerics.quadrature import integrate, with_tails
from dpest.trace.outputs import rebuild


@dataclass(frozen=True)
class OutputEvent:
    """What the output must be, and how likely that is under the law that favours it and under the other."""

    words: str
    measure: str
    log_p: float
    log_q: float
    limit: bool


class Name:
    """A coordinate of the output that a clause speaks of; shows as a bare letter."""

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def __repr__(self) -> str:
        return self.letter


def describe(loss: Loss, swapped: bool) -> OutputEvent | None:
    """The event of a loss; `swapped` where the favoured law is the second one of each block."""
    if loss.bucket is None:
        return None
    leaves: list[Any] = [None] * loss.bucket.size
    for i, value in loss.bucket.constants:
        leaves[i] = value
    clauses: list[str] = []
    log_p = log_q = 0.0
    measure, limit = "probability", False
    letters = _letters(loss.bucket.size)
    for part in loss.parts:
        told = _part(part, leaves, letters, swapped)
        clauses += told.clauses
        log_p, log_q = log_p + told.log_p, log_q + told.log_q
        measure = "density" if told.density else measure
        limit = limit or told.limit
    leaves = [Name(x.words(repr(leaves[x.place]))) if isinstance(x, Told) else x for x in leaves]
    dressed = Dressed(loss.bucket.layers, [x.letter if isinstance(x, Name) else x for x in leaves])
    for i in loss.bucket.layers:
        leaves[i] = _with_layers(dressed, i, leaves[i])
    shown = show_output(rebuild(loss.bucket.structure, leaves))
    words = f"output == {shown}"
    if shown == "x" and len(clauses) == 1:
        words = clauses[0].replace("x", "output", 1)
        if words == "any output" and log_p < -1e-12:  # others are not numbers
            words = "output is a number"
    elif clauses:
        words += " with " + ", ".join(clauses)
    return OutputEvent(words, measure, log_p, max(log_q, loss.log_unseen), limit)


def _with_layers(dressed: Dressed, place: int, leaf: Any) -> Any:
    """An output with the functions that were taken off it before it was compared."""
    if not isinstance(leaf, int | float | Name) or (not isinstance(leaf, Name) and not math.isfinite(leaf)):
        return leaf
    value = dressed.value(place)
    return Name(dressed.text(place)) if math.isnan(value) else value


def show_output(x: Any) -> str:
    """An output as its author would write it, in full: what prints it shortens it (`dpest.inputs.shown`)."""
    if isinstance(x, list | tuple):
        inner = ", ".join(show_output(v) for v in x)
        return f"[{inner}]" if isinstance(x, list) else f"({inner}{',' if len(x) == 1 else ''})"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k!r}: {show_output(v)}" for k, v in x.items()) + "}"
    return show(x)


@dataclass
class _Told:
    clauses: list[str]
    log_p: float
    log_q: float
    density: bool
    limit: bool


def _letters(size: int) -> Callable[[int], str]:
    """The name of a leaf: x, y, z, x1, ... in turn; in a long output xK for the value at place K."""
    if size > LONG:
        return lambda position: f"x{position}"
    names = itertools.chain("xyz", (f"x{i}" for i in itertools.count(1)))
    return lambda position: next(names)


def _part(part: StratumLoss, leaves: list[Any], letters: Callable[[int], str], swapped: bool) -> _Told:
    """Fills in the leaves of one group, and says what its random ones must be."""
    stratum = part.stratum
    place = np.full(sum(len(m) for m in stratum.members), np.nan)
    rays: dict[int, int] = {}
    lattice: set[int] = set()
    told = _Told([], 0.0, 0.0, False, False)
    for block, members, sup in zip(stratum.blocks, stratum.members, part.sups, strict=True):
        place[list(members)] = sup.at if sup.at else np.nan
        lattice.update(j for j, kind in zip(members, block.kinds, strict=True) if kind is CoordinateKind.LATTICE)
        if sup.ray:
            rays[members[0]] = sup.ray
        _weigh(told, block, sup, swapped)
    names: dict[int, Name] = {}
    for position, value in stratum.leaves:
        if isinstance(value, Constant):
            leaves[position] = value.value
        else:
            leaves[position] = _leaf(stratum.frame, value, place, lattice)
            if leaves[position] is None:
                leaves[position] = Name(letters(position))
            if isinstance(leaves[position], Name):
                names[value] = leaves[position]
    there = [_placed(stratum.frame, j, t) for j, t in enumerate(place)]
    transform = np.array(stratum.frame.transform, float).reshape(len(place), len(place))
    told.clauses = _clauses(transform, np.array(there, float), rays, names, told.limit)
    return told


def _leaf(frame: Frame, leaf: int, place: Floats, lattice: set[int]) -> float | None:
    """The value of a random leaf where it is a single point."""
    row = frame.restore[leaf]
    used = [i for i, c in enumerate(row) if c]
    if used and all(i in lattice and math.isfinite(place[i]) for i in used):
        return float(sum(row[i] * frame.place(i, place[i]) for i in used))
    return None


def _placed(frame: Frame, j: int, t: float) -> float:
    """A coordinate's value in terms of the output; what tends to infinity still does."""
    return float(frame.place(j, t)) if math.isfinite(t) else t


def _clauses(transform: Floats, place: Floats, rays: dict[int, int], names: dict[int, Name], limit: bool) -> list[str]:
    """What is asked of the letters, or of combinations of them where noise is shared."""
    out = []
    for i, row in enumerate(transform):
        used = [int(j) for j in np.flatnonzero(np.abs(row) > 1e-12)]
        if math.isnan(place[i]) or not used or not all(j in names for j in used):
            continue
        sign = 1.0 if row[used[0]] > 0 or len(used) > 1 else -1.0
        scale = abs(row[used[0]])
        subject = _combination([(names[j], sign * row[j] / scale) for j in used])
        value = sign * place[i] / scale
        if math.isinf(value):
            out.append(f"{subject} tending to {'+' if value > 0 else '-'}infinity")
        elif i in rays:
            out.append(f"{subject} {'>=' if rays[i] * sign > 0 else '<='} {_tidy(value)}")
        else:
            out.append(f"{subject} {'tending to' if limit else '='} {_tidy(value)}")
    return out or [f"any {name}" for name in names.values()]


def _combination(terms: list[tuple[Name, float]]) -> str:
    """Letters with their coefficients, positive ones first."""
    ordered = sorted(terms, key=lambda t: t[1] < 0)
    return signed_sum((c, str(name) if abs(abs(c) - 1) < 1e-12 else f"{abs(c):.6g} {name}") for name, c in ordered)


def _weigh(told: _Told, block: Block, sup: Sup, swapped: bool) -> None:
    """Adds a block's share of the event's probability: a mass where it has one, else the density at its place."""
    told.limit = told.limit or sup.limit
    line = block.dimension == 1 and block.kinds[0] is CoordinateKind.REAL
    if line and (sup.ray or not sup.at):
        sides = (block.right, block.left) if swapped else (block.left, block.right)
        ends = {1: (sup.at[0], math.inf), -1: (-math.inf, sup.at[0])}[sup.ray] if sup.ray else (-math.inf, math.inf)
        told.log_p += mass(block, sides[0], *ends)
        told.log_q += mass(block, sides[1], *ends)
        return
    told.log_p += sup.log_p
    told.log_q += sup.log_q
    told.density = told.density or (CoordinateKind.REAL in block.kinds and bool(sup.at))


def mass(block: Block, side: BlockLaw, low: float, high: float) -> float:
    """ln of the mass that a law on a line puts between two points."""
    if isinstance(side, IntegratedLaw) and math.isinf(low) and math.isinf(high):
        return side.log_total
    plain = release(side)
    if plain is not None and isinstance(plain.law, Continuous):
        return plain.log_mass(low, high)
    kinks = line_kinks(block)
    start, end = max(low, kinks[0] - _FARTHEST * block.scale), min(high, kinks[-1] + _FARTHEST * block.scale)
    start, end = _where_it_counts(side, kinks, start, end, block.widest)
    inside = kinks[(kinks > start) & (kinks < end)][None, :]
    edges = with_tails(inside, np.array([start]), np.array([end]), block.scale)

    def log_f(_: Any, x: Floats) -> tuple[Floats, Floats]:
        logs, error = side.log(x.reshape(-1, 1))
        return logs.reshape(x.shape), error.reshape(x.shape)

    return float(integrate(log_f, edges).log_value[0])


_FARTHEST = 3000.0  # scales beyond the kinks that are integrated over at most
_NEARER = np.array([64.0, 256.0, 1024.0])  # and beyond which nothing may be left, where tails are exponential
_NOTHING = 60.0  # nats below the largest density between: with a length of 3000 scales, 1e-22 of the mass


def _where_it_counts(side: BlockLaw, kinks: Floats, start: float, end: float, scale: float) -> tuple[float, float]:
    """The ends without far tails in which a density that only falls has become negligible."""
    right, left = kinks[-1] + scale * _NEARER, kinks[0] - scale * _NEARER
    logs = side.log(np.concatenate([[start, end], np.clip(kinks, start, end), right, left])[:, None])[0]
    top = logs[: 2 + len(kinks)].max()
    for places, found in ((right, logs[-6:-3]), (left, logs[-3:])):
        gone = places[(found < top - _NOTHING) & (places > start) & (places < end)]
        if gone.size and places is right:
            end = min(end, float(gone[0]))
        elif gone.size:
            start = max(start, float(gone[0]))
    return start, end


def _tidy(x: float) -> str:
    return show(0.0 if abs(x) < 1e-9 else float(f"{x:.9g}"))
