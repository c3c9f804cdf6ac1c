"""Mechanisms with text, state or randomness of their own: refused, or right."""

from __future__ import annotations

import bisect
import itertools
import random
import secrets
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests.regressions.case import Case, Refusal
from tests.regressions.discrete import formula

MAY = Refusal.ALLOWED


def cases() -> Iterator[Case]:
    """All of them."""
    yield from texts()
    yield from states()
    yield from coins()


def texts() -> Iterator[Case]:
    one = mpf(1)
    yield formula("f-string of a noisy value", lambda x, d: f"{x + d.laplace(1)}", (0, 1), one, refusal=MAY)
    yield formula("f-string with a format", lambda x, d: f"{x + d.laplace(2):.3f}", (0, 2), one, refusal=MAY, narrow=None)
    yield formula("format() of a noisy value", lambda x, d: format(x + d.laplace(1)), (0, 1), one, refusal=MAY)
    yield formula("% of a noisy value", lambda x, d: "%s" % (x + d.laplace(1)), (0, 1), one, refusal=MAY)
    yield formula("repr of a noisy value", lambda x, d: repr(x + d.laplace(1)), (0, 1), one, refusal=MAY)
    yield formula("str of a comparison", lambda x, d: str(d.laplace(1) > x), (0, 1), one, refusal=MAY)
    yield formula("str of a comparison, tenths", lambda x, d: str(d.laplace(0.1) >= x), (0, 0.1), _above(0.1), refusal=MAY)
    yield formula("join of texts", lambda x, d: ",".join([str(x + d.laplace(1)), "a"]), (0, 1), one, refusal=MAY)
    yield formula("a text as a key", lambda x, d: {"True": 1}.get(str(d.laplace(1) > x), 0), (0, 1), one, refusal=MAY)


def _above(step: float) -> Any:
    """The loss of laplace(step) >= 0 against laplace(step) >= step: the true side has the ratio e."""
    return mpf(step) / mpf(step)


class Counting:
    """A mechanism whose noise doubles from its third run on."""

    def __init__(self, runs: int) -> None:
        self.n, self.runs = 0, runs

    def __call__(self, x: Any, d: Any) -> Any:
        self.n += 1
        return x + d.laplace(1 if self.n < self.runs else 2)


class Remembering:
    """A mechanism that returns the number of its run."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, x: Any, d: Any) -> Any:
        self.seen.append(x)
        return d.laplace(1) > x, len(self.seen)


class Alternating:
    """A mechanism that adds the input every other run."""

    def __init__(self) -> None:
        self.turn = itertools.cycle([0, 1])

    def __call__(self, x: Any, d: Any) -> Any:
        return d.laplace(1) + x * next(self.turn)


class Late:
    """A mechanism that leaks after many runs."""

    def __init__(self, after: int) -> None:
        self.n, self.after = 0, after

    def __call__(self, x: Any, d: Any) -> Any:
        self.n += 1
        return x if self.n > self.after else d.bernoulli(0.5)


def states() -> Iterator[Case]:
    must = Refusal.REQUIRED
    for runs in (2, 3, 4, 5):
        yield formula(f"noise that doubles from run {runs} on", Counting(runs), (0, 1), 0, refusal=must)
    yield formula("returns the number of its run", Remembering(), (0, 1), 0, refusal=must)
    yield formula("adds the input every other run", Alternating(), (0, 1), 0, refusal=must)
    for after in (2, 6):
        yield formula(f"leaks after {after} runs", Late(after), (0, 1), 0, refusal=must)


def _response(coin: Any, x: Any, d: Any) -> Any:
    return x if coin() else 1 - x


def _first_coin(x: Any, d: Any) -> Any:
    if secrets.randbelow(2):
        return x
    return secrets.randbelow(2)


def _two_coins(x: Any, d: Any) -> Any:
    if random.random() < 0.5:
        return x
    return int(random.random() < 0.5)


def _bisected(x: Any, d: Any) -> Any:
    k = bisect.bisect([0.25, 0.5], random.random())
    return x if k == 2 or k == 1 else 1 - x


def _noisy_and_coin(x: Any, d: Any) -> Any:
    return d.laplace(1) > x, random.random() < 0.5


def _numpy_coin(x: Any, d: Any) -> Any:
    return x if np.random.random() < 0.75 else 1 - x  # noqa: NPY002


def _choice(x: Any, d: Any) -> Any:
    return random.choice([x, x, x, 1 - x])


def coins() -> Iterator[Case]:
    three = mp.log(3)
    rounds = 6  # what goes unnoticed in one run is noticed in another: each is asked several times
    for again in range(rounds):
        yield formula(
            f"randomised response with random.random, {again}",
            partial(_response, lambda: random.random() < 0.75),
            (0, 1),
            three,
            refusal=MAY,
        )
        yield formula(
            f"randomised response with secrets, {again}",
            partial(_response, lambda: secrets.randbelow(4) > 0),
            (0, 1),
            three,
            refusal=MAY,
        )
        yield formula(f"two coins of secrets, {again}", _first_coin, (0, 1), three, refusal=MAY)
        yield formula(f"two coins of random, {again}", _two_coins, (0, 1), three, refusal=MAY)
        yield formula(f"bisect on a random number, {again}", _bisected, (0, 1), three, refusal=MAY)
        yield formula(f"random.choice, {again}", _choice, (0, 1), three, refusal=MAY)
        yield formula(f"numpy.random.random, {again}", _numpy_coin, (0, 1), three, refusal=MAY)
        yield formula(f"a coin beside noise, {again}", _noisy_and_coin, (0, 1), mpf(1), refusal=MAY)
