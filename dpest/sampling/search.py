"""The search of an audit: race for the pair and the event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpest.inputs.pairs import Pair
from dpest.results import Direction
from dpest.run.streams import stream
from dpest.sampling.bounds.dependence import BlockHits, Echo, Unit, echo, look, repeated, worst_echo
from dpest.sampling.bounds.repeats import MOST_ROWS
from dpest.sampling.bounds.statement import Statement
from dpest.sampling.race import Lap, Runner, Standing, race
from dpest.sampling.runs.outcomes import row_keys
from dpest.sampling.runs.outputs import Batch, Keys
from dpest.sampling.scores.choose import Goal, ScoreLaws, score_laws
from dpest.sampling.scores.event import Event
from dpest.sampling.scores.sniper import snipe
from dpest.sampling.scores.statdp import statdp
from dpest.sampling.settings import Settings
from dpest.sampling.supply import Stage, Supply

_CURVE_ROWS = 200_000  # for a picture of the trade-off


@dataclass(frozen=True)
class FoundEvent:
    """An event to be bounded, and how it was found."""

    pair: Pair
    statement: Statement
    event: Event
    attack: str
    standings: tuple[Standing, ...]
    scores: tuple[Any, Any]
    laws: ScoreLaws
    runner: Runner
    trace: BlockHits  # hits in the samples that chose the event


def search(supply: Supply, runners: Sequence[Runner], settings: Settings) -> FoundEvent:
    """Race with the chosen attack's features; DP-Sniper and StatDP take the winning pair."""
    features = settings.features
    goal = _goal(settings, supply.block)
    lap, standings = race(supply, runners, settings.training, goal, features)
    train, choose = _samples(supply, lap, settings.training)
    width = max(b.width for b in (*train, *choose))
    direction, name = lap.cut.direction, f"counting ({lap.features})" if lap.features == "table" else f"features: {lap.features}"
    event = Event(lap.attack, lap.cut.threshold, direction is Direction.LEFT, width)
    match settings.attack:
        case "sniper":
            event, direction = snipe(train, choose, settings.classifier, settings.size or 0.01, width)
            kind = settings.classifier if isinstance(settings.classifier, str) else type(settings.classifier).__name__
            name = f"DP-Sniper ({kind})"
        case "statdp":
            event, direction = statdp(train, goal, width)
            name = "StatDP"
    few = (Batch(b.values[:_CURVE_ROWS], b.names, b.single) for b in choose)
    left, right = (event.attack.score(b.resized(width)) for b in few)
    stake, given_total = (lap.cut.stake, lap.cut.given_total) if settings.attack == "auto" else (None, True)
    looks = settings.claim is not None
    statement = Statement(direction, settings.alpha, settings.delta, stake, looks=looks, given_total=given_total)
    laws = score_laws(left, right, event.threshold, event.above)
    columns = supply.sampler.columns
    event = replace(event, columns=None if columns is None else tuple(columns.tolist())).simplified()
    trace = _trace(event, train, choose, supply)
    return FoundEvent(lap.runner.pair, statement, event, name, standings, (left, right), laws, lap.runner, trace)


def _trace(event: Event, train: Sequence[Batch], choose: Sequence[Batch], supply: Supply) -> BlockHits:
    """The hits of an event block by block, and whether outputs come again."""
    block, ties = supply.block, stream(supply.seed, int(Stage.TIES), 2)
    whole = len(choose[0]) // block
    left, right = (event.contains(b, ties)[: whole * block].reshape(whole, block).sum(axis=1) for b in choose)
    first, second = (_keys(stage) for stage in (train, choose))
    found = BlockHits(block, left, right, worst_echo(echo(keys, block) for keys in second), (first, second))
    unit = Unit.BLOCKS if supply.sampler.fresh or look(found).clumped else Unit.RUNS
    again = repeated(replace(found, outputs=(first,)), found, unit)
    return replace(found, echo=Echo.AGAIN) if again else found


def _keys(samples: Sequence[Batch]) -> tuple[Keys, Keys]:
    left, right = (row_keys(Batch(b.values[:MOST_ROWS])) for b in samples)
    return left, right


def _samples(supply: Supply, lap: Lap, count: int) -> tuple[list[Batch], list[Batch]]:
    places = lap.runner.places
    return [supply.get(p, Stage.TRAIN, count) for p in places], [supply.get(p, Stage.CHOOSE, count) for p in places]


def _goal(settings: Settings, block: int) -> Goal:
    """What the event is chosen for; the published attacks are bounded on independent samples, as published."""
    common = settings.attack == "auto"
    return Goal(settings.samples, settings.alpha, settings.delta, settings.claim, settings.size, block, common)
