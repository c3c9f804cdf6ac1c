"""DD-Search: race the pairs on few samples, give the rest to the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpest.inputs.pairs import Pair
from dpest.sampling.runs.outputs import Batch
from dpest.sampling.scores.attacks import Attack, feature_names, merit, trials
from dpest.sampling.scores.choose import Cut, Goal
from dpest.sampling.supply import Stage, Supply, training_block

_ROUNDS = (1 << 16, 5 << 16)  # whole numbers of blocks
_LATE_FEATURES = 2
_FAR_BEHIND = 0.4  # of the promise of the best features
_LATE_PAIRS = 5
_LAST_PAIRS = 3  # that get all samples of the search
_EARLY_CAUTION = 0.5  # few samples must not favour the pair with the largest event


@dataclass(frozen=True)
class Runner:
    """A pair in the race: the places of its inputs, and the features that are still tried on it."""

    pair: Pair
    places: tuple[int, int]
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lap:
    """How a pair did with one kind of features: the attack and the bound that it promises."""

    runner: Runner
    features: str
    attack: Attack
    cut: Cut


@dataclass(frozen=True)
class Standing:
    """Where a pair stood when it left the race."""

    pair: Pair
    features: str
    promise: float
    samples: int


def rounds(samples: int, runners: int) -> list[tuple[int, int]]:
    """(samples per input, pairs that take part) for each round; the last has few pairs and all samples."""
    alone = runners == 1
    early = [
        (n, min(runners, _LATE_PAIRS) if k else runners) for k, n in enumerate(_ROUNDS) if (4 if alone else 2) * n <= samples
    ]
    if not early:
        return [(samples, runners)]
    return [*(early[:1] if alone else early), (samples, min(runners, _LAST_PAIRS))]


def race(
    supply: Supply,
    runners: Sequence[Runner],
    samples: int,
    goal: Goal,
    features: Sequence[str] | None,
) -> tuple[Lap, tuple[Standing, ...]]:
    """The best pair and attack, and where the others stood."""
    left = [Runner(r.pair, r.places, tuple(features or ())) for r in runners]
    standings: dict[int, Standing] = {}
    best: list[Lap] = []
    for count, places in rounds(samples, len(left)):
        left = _still_running(best, left, places)
        if count < samples and len(left) == 1 and len(_names(supply, left[0], count)) == 1:
            continue  # nothing to decide yet
        aim = replace(goal, caution=goal.caution if count == samples else _EARLY_CAUTION)
        best = []
        for runner in left:
            laps = sorted(_laps(supply, runner, count, aim), key=_merit, reverse=True)
            best.append(replace(laps[0], runner=Runner(runner.pair, runner.places, _still_tried(laps))))
            standings[id(runner.pair)] = Standing(runner.pair, laps[0].features, laps[0].cut.promise, count)
        best.sort(key=lambda lap: -lap.cut.promise)
    ordered = sorted(standings.values(), key=lambda s: (-s.samples, -s.promise))
    return best[0], tuple(ordered)


def _merit(lap: Lap) -> float:
    return merit(lap.features, lap.cut)


def _still_tried(laps: Sequence[Lap]) -> tuple[str, ...]:
    """The features that did best and those not far behind."""
    far = _merit(laps[0]) - _FAR_BEHIND * abs(_merit(laps[0]))
    near = [lap.features for lap in laps if _merit(lap) >= far]
    return tuple(name for place, name in enumerate(near) if place < _LATE_FEATURES or name == "half-lines")


def _still_running(best: list[Lap], left: list[Runner], places: int) -> list[Runner]:
    return [lap.runner for lap in best[:places]] if best else left


def _names(supply: Supply, runner: Runner, count: int) -> tuple[str, ...]:
    """The kinds of features to try on a pair."""
    if runner.features:
        return runner.features
    train = [supply.get(place, Stage.TRAIN, count) for place in runner.places]
    width = max(b.width for b in train)
    # Runs of one copy may repeat what it keeps: one run of each says whether outputs repeat.
    stride = training_block(supply.sampler) if supply.sampler.fresh else 1
    return feature_names(*(Batch(b.values[::stride], b.names, b.single).resized(width) for b in train))


def _laps(supply: Supply, runner: Runner, count: int, goal: Goal) -> list[Lap]:
    """Train on one sample, choose the cut on another, for each kind of features."""
    train = [supply.get(place, Stage.TRAIN, count) for place in runner.places]
    choose = [supply.get(place, Stage.CHOOSE, count) for place in runner.places]
    width = max(b.width for b in (*train, *choose))
    train, choose = [b.resized(width) for b in train], [b.resized(width) for b in choose]
    found = trials(_names(supply, runner, count), (train[0], train[1]), (choose[0], choose[1]), goal)
    return [Lap(runner, name, attack, cut) for name, attack, cut in found]
