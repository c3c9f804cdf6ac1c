"""Where a Markov chain ends, by elimination of its states, with bounds for chances that are known up to a factor.

Numbers have so many bits that rounding adds up to nothing: without subtractions (Grassmann, Taksar and Heyman, 1985) the error
of each probability is at most a constant times the cube of the number of states (O'Cinneide, 1993), some 10^10 times 2^-200.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import gmpy2

from dpest.errors import BudgetExceeded

_BITS = 200  # with 2,000 states, the error that the bound allows for is 10^-49
NextStates = dict[Hashable, gmpy2.mpfr]
Chances = Mapping[Hashable, tuple[float, float]]  # of each way the chance, and the most that its logarithm is off


@dataclass(frozen=True)
class ChainEnds:
    """ln of the probability of each end, how far each of them may be off, and how often each state is expected to be met."""

    logs: Mapping[Hashable, float]
    off: Mapping[Hashable, float]
    visits: Mapping[int, float]


@dataclass
class Chain:
    """The states of a chain by number: where each leads to, and with which chance; what has no ways is an end."""

    ways: dict[int, dict[Hashable, tuple[float, float]]] = field(default_factory=dict)

    def add(self, state: int, ways: Chances) -> None:
        """The ways from a state, without those that have no chance."""
        self.ways[state] = {end: (p, off) for end, (p, off) in ways.items() if p > 0.0}

    def ends(self, start: int) -> ChainEnds:
        """Where the chain ends."""
        with gmpy2.context(gmpy2.get_context(), precision=_BITS):
            found, visits = _solved(self._scaled(0), start, whole=True)
            logs = {end: float(gmpy2.log(p)) for end, p in found.items()}
            return ChainEnds(logs, self._off(start, logs), {k: float(n) for k, n in visits.items()})

    def _off(self, start: int, logs: Mapping[Hashable, float]) -> dict[Hashable, float]:
        """How far the probabilities may be off: the smaller one of two bounds.

        A probability of the chain is a quotient of two sums of products of as many chances as there are states, none of them
        negative (the matrix-tree theorem): it is off by a factor for each of them, twice. And it is the sum of the weights of all
        ways to an end, each of them a product of chances: it lies between what the smallest and the largest chances give.
        """
        most = 2.0 * len(self.ways) * max((off for w in self.ways.values() for _, off in w.values()), default=0.0)
        low, _ = _solved(self._scaled(-1), start, whole=False)
        try:
            high, _ = _solved(self._scaled(1), start, whole=False)
        except BudgetExceeded:  # the largest chances add up to more than 1, and a loop has no end
            return dict.fromkeys(logs, most)
        out = {}
        for end, log_p in logs.items():
            sides = float(gmpy2.log(high[end])) - log_p, log_p - float(gmpy2.log(low[end]))
            out[end] = min(most, max(0.0, *sides)) + 4e-16 * (1.0 + abs(log_p))
        return out

    def _scaled(self, side: int) -> dict[int, NextStates]:
        """The chances, or the smallest or largest ones."""
        factor = {off: gmpy2.exp(gmpy2.mpfr(side * off)) for w in self.ways.values() for _, off in w.values()}
        return {k: {end: gmpy2.mpfr(p) * factor[off] for end, (p, off) in w.items()} for k, w in self.ways.items()}


def _solved(ways: dict[int, NextStates], start: int, *, whole: bool) -> tuple[NextStates, dict[int, gmpy2.mpfr]]:
    """The weight of each end, and of the visits of each state; where the ways from a state weigh 1, nothing is subtracted."""
    leading: dict[Hashable, set[int]] = {}
    for k, w in ways.items():
        for end in w:
            leading.setdefault(end, set()).add(k)
    kept: list[tuple[int, gmpy2.mpfr, dict[int, gmpy2.mpfr]]] = []  # an eliminated state, what leaves it, and what led to it
    for k in [k for k in reversed(ways) if k != start]:
        leaving, own = _leaving(k, ways.pop(k), whole)
        before = {}
        for end in own:
            leading[end].discard(k)
        for i in leading.pop(k, set()) - {k}:
            into = before[i] = ways[i].pop(k)
            for end, p in own.items():
                ways[i][end] = ways[i].get(end, 0) + into * p / leaving
                leading[end].add(i)
        kept.append((k, leaving, before))
    leaving, out = _leaving(start, ways[start], whole)
    visits = {start: 1 / leaving}
    for k, away, before in reversed(kept):
        visits[k] = sum(visits[i] * p for i, p in before.items()) / away
    return {end: p / leaving for end, p in out.items()}, visits


def _leaving(k: int, ways: NextStates, whole: bool) -> tuple[gmpy2.mpfr, NextStates]:
    """The weight of all ways from a state that lead elsewhere, and these ways."""
    away = {end: p for end, p in ways.items() if end != k}
    leaving = sum(away.values()) if whole else 1 - ways.get(k, 0)
    if not away or leaving <= 0 or not math.isfinite(1 / leaving):
        raise BudgetExceeded("a loop of the mechanism may go on for ever")
    return leaving, away
