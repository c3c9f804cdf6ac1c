"""How far a program is followed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much of a program is explored before exact inference gives up."""

    paths: int = 20_000
    decisions: int = 100_000
    # A path is left unexplored only after this many forks, and only when it weighs less than this: 64 forks are more than
    # programs without loops make on single draws, and e^-45 is far below what a bracket shows.
    forks: int = 64
    # Forks in the first so many runs: a loop that ends after some tries is followed to its end, where it may return what nothing
    # else does. A hundred tries are what people write; each of them takes a run.
    tries: int = 112
    log_mass: float = -45.0
    depth: int = 5_000  # forks on one path: what a fork copies grows with their number
    # Decisions of all replays together. From a tenth of that on the heaviest branches go first; at the end what is left
    # counts as unexplored, if it weighs less than `log_rest`: a bracket that is wider than that says nothing. A thousand
    # queries, each of which may end the run, take half of it.
    work: int = 1_000_000
    log_rest: float = -5.0


LIMITS = Limits()
