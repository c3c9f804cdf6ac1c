"""Checks whether runs are independent of each other, from the hits of an event in blocks of runs, in the order of the runs.

Two questions are kept apart.  Do hits clump inside blocks (rows of one call share a draw, say)?  Then only blocks can be counted
as independent.  Do blocks depend on each other (noise kept from one call for the next)?  Then no bound can be given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, gammainc, gammaincc, ndtr, pdtrc

from dpest.sampling.bounds.repeats import block_keys, comes_again

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

# Clumps cost a sharper bound, nothing else: one audit of independent runs in a hundred may pay that price.  Refusing costs the
# whole audit: one in ten thousand.
_CLUMPS = 0.01
_LINKS = 1e-4  # see above
# Many blocks show clumps that hardly matter: with a variance 1.1 times as large, bounds of 95 % hold with 94 %.  The bound for
# blocks of any law costs far more: 0.072 instead of 0.099 at two million samples of a noisy histogram.
_SLIGHT = 1.1
FEWEST_BLOCKS = 8  # fewer show nothing
_GROUPS = (16, 64)
_LEAST_MEAN = 3.0  # hits of a block from which a correlation is taken to have a normal law
_MOST_SKEW = 0.25  # of a sum of products of neighbours: up to here one term of a series corrects the normal law
_MANY_HITS, _MANY_BLOCKS = 5, 64  # in a block; in all
_COARSE = 0.05
# Standard errors by which outputs of one stage may be equal more often than those of two: refusing costs the whole audit.
_OWN = 8.0
_FEWEST_OUTPUTS = 64  # of a stage: fewer show nothing
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that keys of different blocks differ
_LAGS = (1, 2, 3, 4, 8, 16)


class Unit(Enum):
    """What is taken to be independent."""

    RUNS = "runs"
    BLOCKS = "blocks"


class Echo(Enum):
    """Where equal outputs are found more often than independent runs would have them."""

    NOWHERE = "nowhere"
    INSIDE = "inside blocks"  # neighbouring runs share what they draw
    BEYOND = "in neighbouring blocks"  # and go on sharing it in the next block
    AGAIN = "in later blocks"  # noise that comes again


@dataclass(frozen=True, eq=False)
class BlockHits:
    """Hits of an event in each block of runs, in the order of the runs, under both inputs."""

    size: int
    left: Ints
    right: Ints
    echo: Echo = Echo.NOWHERE
    outputs: tuple[tuple[Keys, Keys], ...] = ()  # keys of outputs under both inputs, of the stages that came before

    def __add__(self, other: BlockHits) -> BlockHits:
        """The hits of both; the outputs of the first, which are there to be compared with those of other stages."""
        assert self.size == other.size
        hits = np.concatenate([self.left, other.left]), np.concatenate([self.right, other.right])
        return BlockHits(self.size, *hits, outputs=self.outputs)


@dataclass(frozen=True)
class Seen:
    """What the hits show: how much blocks vary more than independent runs would, and p-values of both kinds of dependence."""

    dispersion: float  # the variance of hits per block, over the binomial one
    clumps: float  # p-value of "runs of one block are independent"
    links: float  # p-value of "blocks are independent"
    echo: Echo = Echo.NOWHERE
    excess: float = math.inf  # the larger of the two inputs' dispersions

    @property
    def clumped(self) -> bool:
        """Whether runs of one block depend on each other, so much that a bound for independent runs would suffer."""
        return self.surely_clumped or (self.clumps < _CLUMPS and self.excess > _SLIGHT)

    @property
    def surely_clumped(self) -> bool:
        """The same for bounds that take their variance from the blocks themselves, as those on common noise do."""
        return self.clumps < _LINKS or self.echo is Echo.INSIDE

    @property
    def linked(self) -> bool:
        """Whether blocks depend on each other."""
        return self.links < _LINKS or self.echo in (Echo.BEYOND, Echo.AGAIN)


def look(trace: BlockHits) -> Seen:
    """The larger dependence under the two inputs, with both p-values paid for looking twice."""
    sides = (trace.left, trace.right)
    if not len(trace.left):
        return Seen(1.0, 1.0, 1.0, trace.echo)
    found = [_dispersion(side, trace.size) for side in sides]
    dispersion = max(found, key=lambda d: abs(d - 1))
    clumps = min(1.0, 2 * min(_clumps(side, trace.size) for side in sides))
    links = min(1.0, 2 * min(_links(side, trace.size) for side in sides))
    return Seen(dispersion, clumps, links, trace.echo, max(found))


def shift(before: BlockHits, after: BlockHits) -> float:
    """A p-value of "the event is as probable in the later runs as in the earlier ones"."""
    sides = ((before.left, after.left), (before.right, after.right))
    return min(1.0, 2 * min(_shift(a, before.size, b, after.size) for a, b in sides))


def repeated(before: BlockHits | None, after: BlockHits, unit: Unit) -> bool:
    """Whether outputs of the later runs are those of earlier ones again, or come again among themselves.

    Where only blocks are independent, whole blocks are compared, and with none of another stage, whose blocks may be others.
    """
    for side in (0, 1):
        for both in after.outputs[-1:]:
            if unit is Unit.BLOCKS:
                found = comes_again([], block_keys(both[side], after.size), 1)
            else:
                earlier = [] if before is None else [stage[side] for stage in before.outputs]
                found = comes_again(earlier, both[side], after.size) or any(own_values(keys, both[side]) for keys in earlier)
            if found:
                return True
    return False


def own_values(earlier: Keys, later: Keys) -> bool:
    """Whether outputs of one stage are equal far more often than outputs of two stages: each stage then has noise of its own.

    Two independent outputs are equal with one probability, wherever they come from. The difference of the two frequencies is, to
    first order, that of the mean probability of an output in both stages (Hoeffding 1948), whose spread is known.
    """
    n, m = len(earlier), len(later)
    if min(n, m) < _FEWEST_OUTPUTS:
        return False
    values, place = np.unique(np.concatenate([earlier, later]), return_inverse=True)
    a, b = (np.bincount(part, minlength=len(values)).astype(np.float64) for part in (place[:n], place[n:]))
    across = float(a @ b) / (n * m)
    spread = float(np.var(((a + b) / (n + m))[place])) * (1 / n + 1 / m)
    for counts, size in ((a, n), (b, m)):
        pairs = size * (size - 1) / 2
        equal = float(counts @ (counts - 1)) / 2
        if equal / pairs - across > _OWN * math.sqrt(spread + (across + 1 / (n * m)) / pairs) + _OWN / pairs:
            return True
    return False


def alike_apart(keys: Keys, size: int) -> float:
    """How often two outputs of different blocks are equal."""
    equal, pairs, _, _ = _pairs(keys, size, apart=True)
    return equal / pairs if pairs else 0.0


def alike_across(one: Keys, other: Keys) -> float:
    """How often an output of one sample and one of another are equal."""
    return _common(one, other) / max(len(one) * len(other), 1)


def _shift(a: Ints, size: int, b: Ints, other_size: int) -> float:
    """The larger of two p-values: by the spread of blocks, for many hits, and by their number as if independent, for few."""
    if min(len(a), len(b)) < FEWEST_BLOCKS:
        return 1.0
    return max(_shift_by_blocks(a / size, b / other_size), _shift_by_counts(a, size, b, other_size))


def _shift_by_blocks(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    spread = float(np.var(a, ddof=1) / len(a) + np.var(b, ddof=1) / len(b))
    gap = abs(float(a.mean() - b.mean()))
    if spread == 0:
        return 1.0 if gap == 0 else 0.0
    return 2 * float(ndtr(-gap / math.sqrt(spread)))


def _shift_by_counts(a: Ints, size: int, b: Ints, other_size: int) -> float:
    """Given all hits, those of one part are binomial: blocks without a hit have no spread, and say little all the same."""
    runs, other_runs = len(a) * size, len(b) * other_size
    hits, total, share = int(a.sum()), int(a.sum() + b.sum()), runs / (runs + other_runs)
    if 2 * total > runs + other_runs:  # of hits and misses, the rarer ones
        hits, total = runs - hits, runs + other_runs - total
    return min(1.0, 2 * float(min(bdtr(hits, total, share), bdtrc(hits - 1, total, share) if hits else 1.0)))


def _dispersion(hits: Ints, size: int) -> float:
    if len(hits) < 2:
        return 1.0
    p = float(hits.mean()) / size
    expected = size * p * (1 - p)
    return float(np.var(hits, ddof=1)) / expected if expected > 0 else 1.0


def _clumps(hits: Ints, size: int) -> float:
    """A p-value against more pairs of hits in one block than independent runs would show, given the total.

    Pairs of hits are counted; their number has the mean and, when hits are rare, the law of a Poisson variable, and when hits
    are many that of a chi-square one.  In between, the larger of both p-values is on the safe side of either.
    """
    blocks, runs = len(hits), len(hits) * size
    if blocks < FEWEST_BLOCKS or size < 2:
        return 1.0
    if 2 * int(hits.sum()) > runs:
        hits = size - hits
    total = int(hits.sum())
    if total < 2:
        return 1.0
    pairs = int(np.sum(hits * (hits - 1))) // 2
    expected = blocks * size * (size - 1) / 2 * total * (total - 1) / (runs * (runs - 1))
    often = float(gammaincc((blocks - 1) / 2, _dispersion(hits, size) * (blocks - 1) / 2))
    if total >= _MANY_HITS * blocks or (blocks >= _MANY_BLOCKS and total >= blocks):
        return often
    rare = float(pdtrc(pairs - 1, expected)) if pairs > 0 else 1.0
    return max(rare, often)


def _links(hits: Ints, size: int) -> float:
    """A p-value against blocks that go together: neighbours (autocorrelation at some lags), and drift over long stretches."""
    # Of hits and misses, the rarer ones: blocks must not be few of them.
    rarer = hits if 2 * int(hits.sum()) <= size * len(hits) else size - hits
    found = _correlations(rarer)
    often = _merged(rarer, math.ceil(_LEAST_MEAN / max(float(rarer.mean()), 1e-12)))
    for groups in _GROUPS:
        if len(often) >= 4 * groups:
            found += _stretches(often - often.mean(), groups)
    return min(1.0, len(found) * min(found)) if found else 1.0


def _correlations(hits: Ints) -> list[float]:
    """p-values against positive autocorrelation at some lags.

    Under exchangeable blocks the autocorrelation has a mean of about -1/n and a variance of at most 1/n; its skewness is that of
    a block squared, over the root of n, and enters by the first term of Edgeworth's series.  Blocks are put together while it
    is too large for that.
    """
    while len(hits) >= 2 * FEWEST_BLOCKS:
        n, centred = len(hits), hits - hits.mean()
        power = float(centred @ centred)
        if power == 0:
            return []
        skewness = float(np.mean(centred**3)) ** 2 / (power / n) ** 3 / math.sqrt(n)
        if skewness <= _MOST_SKEW:
            lags = [lag for lag in _LAGS if n >= 4 * lag + FEWEST_BLOCKS]
            scores = [(float(centred[:-lag] @ centred[lag:]) / power + 1 / n) * math.sqrt(n) for lag in lags]
            return [_tail(z, skewness) for z in scores]
        hits = _merged(hits, 2)
    return []


def _tail(z: float, skewness: float) -> float:
    """The chance of a value above z of a nearly normal variable with a small skewness."""
    correction = skewness / 6 * max(z * z - 1, 0.0) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float(ndtr(-z)) + correction


def _merged(hits: Ints, together: int) -> Ints:
    """So many neighbouring blocks put together."""
    whole = len(hits) // together
    return np.asarray(hits[: whole * together].reshape(whole, together).sum(axis=1))


def _stretches(centred: NDArray[np.float64], groups: int) -> list[float]:
    """p-values against long stretches that differ by more than their blocks explain (drift), or by less (noise that repeats)."""
    length = len(centred) // groups
    kept = centred[: length * groups]
    variance = float(np.var(kept, ddof=1))
    if variance == 0:
        return [1.0]
    sums = kept.reshape(groups, length).sum(axis=1)
    spread = float(np.sum((sums - sums.mean()) ** 2)) / (length * variance)
    return [float(gammaincc((groups - 1) / 2, spread / 2)), float(gammainc((groups - 1) / 2, spread / 2))]


def echo(keys: NDArray[np.uint64], size: int) -> Echo:
    """Compare how often two outputs are equal inside blocks, in neighbouring blocks, and anywhere.

    Two independent outputs are equal with one probability, wherever they come from.
    """
    if _equal_pairs(keys) > _COARSE * len(keys) * (len(keys) - 1) / 2:
        return Echo.NOWHERE  # few different outputs: hits of events tell more
    length = size
    while len(keys) // length >= FEWEST_BLOCKS:
        if _too_often(*_pairs(keys, length, apart=True)):
            return Echo.AGAIN
        length *= 8
    if len(keys) // size < 2 * FEWEST_BLOCKS or not _too_often(*_pairs(keys, size, apart=False)):
        return Echo.NOWHERE
    # Blocks cut half a block later share their halves with neighbours: less of what was inside must remain.
    moved = keys[size // 2 :]
    straddling = [half for block in _cut(moved, size) for half in (block[: size // 2], block[size // 2 :])]
    return Echo.BEYOND if _straddles(straddling, keys, size) else Echo.INSIDE


def worst_echo(echoes: Iterable[Echo]) -> Echo:
    """The one that matters most."""
    return max(echoes, key=list(Echo).index, default=Echo.NOWHERE)


def _straddles(halves: list[NDArray[np.uint64]], keys: NDArray[np.uint64], size: int) -> bool:
    """Whether the halves on both sides of a border between blocks have more in common than blocks anywhere."""
    common = sum(_common(a, b) for a, b in zip(halves[::2], halves[1::2], strict=True))
    _, _, across, pairs = _pairs(keys, size, apart=False)
    return _too_often(common, len(halves) // 2 * (size // 2) ** 2, across, pairs)


def _common(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    """The number of equal pairs with one member on each side."""
    return _equal_pairs(np.concatenate([a, b])) - _equal_pairs(a) - _equal_pairs(b)


def _cut(keys: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    blocks = len(keys) // size
    return keys[: blocks * size].reshape(blocks, size)


def _pairs(keys: NDArray[np.uint64], size: int, *, apart: bool) -> tuple[float, float, float, float]:
    """Equal pairs and all pairs, first of one kind and then of the other: across blocks and inside them, or the reverse."""
    inside = _cut(keys, size)
    blocks = len(inside)
    within = _equal_pairs(inside + (np.arange(blocks, dtype=np.uint64) * _SPREAD)[:, None])
    across = _equal_pairs(inside) - within
    ours, theirs = (within, blocks * size * (size - 1) / 2), (across, blocks * (blocks - 1) / 2 * size**2)
    return (*theirs, *ours) if apart else (*ours, *theirs)


def _too_often(seen: float, pairs: float, elsewhere: float, other_pairs: float) -> bool:
    """Whether pairs are equal far more often than elsewhere, as counts go."""
    if not other_pairs or not pairs:
        return False
    return seen > 2 + pairs / other_pairs * (elsewhere + 5 + 4 * math.sqrt(elsewhere + 1)) + 4 * math.sqrt(
        1 + pairs / other_pairs * elsewhere
    )


def _equal_pairs(keys: NDArray[np.uint64]) -> float:
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float(np.sum(counts * (counts - 1)) / 2)
