"""The closed set of attacks, how the default ones are fitted, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import numpy as np

from dpest.errors import NotCovered, UnknownName
from dpest.sampling.runs.outcomes import is_discrete
from dpest.sampling.runs.outputs import Batch, Matrix
from dpest.sampling.scores.additive import Additive, fit_additive
from dpest.sampling.scores.cells import Cells, Column, Reading, learn_cells
from dpest.sampling.scores.choose import Cut, Goal, choose_cut
from dpest.sampling.scores.classifiers import Estimator, Network, Trees
from dpest.sampling.scores.row_table import RowTable, fit_table
from dpest.sampling.scores.screening import SCREENED_ROWS, telling_columns

Attack = RowTable | Additive | Network | Trees | Estimator

FEATURES = ("half-lines", "values", "differences", "pooled", "pooled differences", "bits")
_CELL_ROWS = 200_000  # to learn edges of cells: they fix the mass of one in a hundred to about two percent
_FLOAT_READINGS = (Reading.TRAILING_ZEROS, Reading.LOWEST_BIT, Reading.LOW_BITS, Reading.EXPONENT, Reading.SIGN)
_MOST_BIT_COLUMNS = 4  # each is read in five ways
_FEW_COLUMNS = 24  # up to here every column has a table of its own
_ROWS_PER_COLUMN = 50  # fewer rows than this make tables of noise
MOST_COLUMNS = 48  # with tables of their own: the fit takes time by their square
_HALF_LINE_BINS = 1024
_HALF_LINE_ROWS = 100_000  # to choose the column; the cut is chosen on all rows
_PLAIN_BONUS = 0.02  # of the promised bound: what a half-line, which anybody can check, may cost against a finer event


def fit_by_features(name: str, left: Batch, right: Batch, bins: int | None = None) -> RowTable | Additive:
    """The attack that goes by one of the names that `feature_names` gives; `bins` of each column are for numbers."""
    few_left, few_right = _head(left), _head(right)
    bins = _bins(left.width) if bins is None else bins
    match name:
        case "table":
            return fit_table(left, right)
        case "values":
            columns = [Column(j) for j in _looked_at(left, right)]
            return fit_additive([learn_cells(c, few_left, few_right, bins) for c in columns], left, right)
        case "differences":
            shifted = _differences(left.width)
            columns = [shifted[j] for j in _looked_at(_differenced(left), _differenced(right))]
            return fit_additive([learn_cells(c, few_left, few_right, bins) for c in columns], left, right)
        case "pooled":
            columns = [Column(j) for j in range(left.width)]
            return fit_additive(_shared(columns, few_left, few_right, bins), left, right, pooled=True)
        case "pooled differences":
            columns = _differences(left.width)
            return fit_additive(_shared(columns, few_left, few_right, bins), left, right, pooled=True)
        case "half-lines":
            return best_half_lines(left, right)
        case "bits":
            chosen = range(left.width) if left.width <= _MOST_BIT_COLUMNS else telling_columns(left, right, _MOST_BIT_COLUMNS)
            readings = (*_FLOAT_READINGS, Reading.PAYLOAD) if _has_nan(left, right) else _FLOAT_READINGS
            columns = [Column(int(j), reading) for j in chosen for reading in readings]
            return fit_additive([learn_cells(c, few_left, few_right, bins) for c in columns], left, right)
        case _:
            raise UnknownName(f"no features are called {name!r}: choose from auto, table, {', '.join(FEATURES)}")


def trials(
    names: Sequence[str], train: tuple[Batch, Batch], choose: tuple[Batch, Batch], goal: Goal, bins: int | None = None
) -> list[tuple[str, Attack, Cut]]:
    """Each kind of features, fitted on one sample of either input and cut where another promises most."""
    found: list[tuple[str, Attack, Cut]] = []
    for name in names:
        attack = fit_by_features(name, *train, bins)
        cut = choose_cut(attack.score(choose[0]), attack.score(choose[1]), goal, is_ratio=name != "half-lines")
        found.append((name, attack, cut))
    return found


def merit(features: str, cut: Cut) -> float:
    """The promise, with a bonus for events that a person reads at a glance."""
    return cut.promise + (_PLAIN_BONUS * abs(cut.promise) if features == "half-lines" else 0.0)


def feature_names(left: Batch, right: Batch) -> tuple[str, ...]:
    """Which features are worth a try on such outputs: counting where outputs repeat, otherwise several views of numbers.

    The bits of a number are not among them: they find fault with the arithmetic rather than the mechanism, and are asked for.
    """
    if is_discrete(left, right):
        return ("table",)
    if left.width == 1:
        return ("half-lines", "values")
    if not _all_real(left, right):
        return ("half-lines", "values", "pooled")
    return ("half-lines", "values", "differences", "pooled", "pooled differences")


def _looked_at(left: Batch, right: Batch) -> list[int]:
    """The columns that get a table of their own: all, or where there are many, the most telling ones."""
    if left.width <= _FEW_COLUMNS:
        return list(range(left.width))
    most = min(MOST_COLUMNS, max(_FEW_COLUMNS, len(left) // _ROWS_PER_COLUMN))
    return list(range(left.width)) if left.width <= most else telling_columns(left, right, most).tolist()


def _differenced(batch: Batch) -> Batch:
    """The differences of neighbouring columns, if they are needed to choose among them."""
    if batch.width <= _FEW_COLUMNS:
        return batch
    some = batch.values[:SCREENED_ROWS]
    return Batch(np.hstack([some[:, :1], np.diff(some, axis=1)]), batch.names, batch.single)


def _has_nan(*batches: Batch) -> bool:
    return any(bool(np.isnan(b.values[:2000]).any()) for b in batches)


def _all_real(left: Batch, right: Batch) -> bool:
    """Whether every column holds numbers that hardly repeat, so that differences of neighbours mean something."""
    some = np.concatenate([left.values[:2000], right.values[:2000]])
    return not np.isnan(some).any() and all(len(np.unique(column)) > len(some) // 4 for column in some.T[:MOST_COLUMNS])


def half_lines(j: int, left: Batch, right: Batch) -> Additive:
    """The rank of a coordinate as a score, the larger where the first input is likelier: its events are the half-lines."""
    cells = learn_cells(Column(j), _head(left), _head(right), _HALF_LINE_BINS)
    rank = np.arange(cells.size, dtype=np.float64)
    a, b = (float(np.mean(rank[cells.codes(x)])) for x in (left, right))
    return Additive((cells,), (rank if a >= b else -rank,))


def best_half_lines(left: Batch, right: Batch) -> Additive:
    """The coordinate whose distribution functions differ most (Kolmogorov and Smirnov)."""
    few = [Batch(b.values[:_HALF_LINE_ROWS], b.names, b.single) for b in (left, right)]
    attacks = [half_lines(j, *few) for j in _looked_at(*few)]
    return max(attacks, key=lambda a: float(ks_distance(a.score(few[0]), a.score(few[1]))))


def ks_distance(a: Matrix, b: Matrix) -> float:
    """The largest difference of two empirical distribution functions."""
    both = np.unique(np.concatenate([a, b]))
    gap = np.searchsorted(np.sort(a), both, "right") / len(a) - np.searchsorted(np.sort(b), both, "right") / len(b)
    return float(np.max(np.abs(gap)))


def attack_to_dict(attack: Attack) -> dict[str, Any]:
    """Plain data, with the attack's kind."""
    match attack:
        case RowTable():
            return {"kind": "table", **attack.to_dict()}
        case Additive():
            return {"kind": "additive", **attack.to_dict()}
        case Network():
            return {"kind": "network", **attack.to_dict()}
        case Trees():
            return {"kind": "trees", **attack.to_dict()}
        case Estimator():
            raise NotCovered(
                f"the event of a {type(attack.model).__name__} is not data and has no JSON: run the audit again with its seed, "
                'or use classifier="logistic", "trees" or "network"'
            )
        case _:
            assert_never(attack)


def attack_from_dict(data: Mapping[str, Any]) -> Attack:
    """The inverse of `attack_to_dict`."""
    match data["kind"]:
        case "table":
            return RowTable.from_dict(data)
        case "additive":
            return Additive.from_dict(data)
        case "network":
            return Network.from_dict(data)
        case "trees":
            return Trees.from_dict(data)
        case kind:
            raise UnknownName(f"no attack of kind {kind!r} is known: is the JSON from a newer dpest?")


def _head(batch: Batch) -> Batch:
    """The rows that cells are learned on: fewer where there are many columns."""
    rows = _CELL_ROWS if batch.width <= _MOST_BIT_COLUMNS else _CELL_ROWS // 3
    return Batch(batch.values[:rows], batch.names, batch.single)


def _bins(width: int) -> int:
    return 96 if width == 1 else 48 if width <= 4 else 24 if width <= 12 else 16


def _differences(width: int) -> list[Column]:
    return [Column(0), *(Column(j, Reading.DIFFERENCE) for j in range(1, width))]


def _shared(columns: Sequence[Column], left: Batch, right: Batch, bins: int) -> list[Cells]:
    """One set of cells for all columns, learned on all of them together."""
    rows = max(1, _CELL_ROWS // len(columns))
    one, other = (Batch(np.concatenate([c.read(b)[:rows] for c in columns])[:, None], b.names, b.single) for b in (left, right))
    shared = learn_cells(Column(0), one, other, bins)
    return [Cells(c, shared.breaks, shared.symbols, shared.names) for c in columns]
