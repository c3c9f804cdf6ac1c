from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import cloudpickle
import numpy as np
import pytest

import dpest
from dpest.errors import MechanismError, NotReplayable, UnsupportedOperation
from dpest.lang.dist import RUN
from dpest.run.streams import stream
from dpest.sampling.runs.sources import TracedSampler
from dpest.trace.columns import HOLE, Columns

SIZE = 20_000


def sample(mechanism: Any, data: Any = 0.0, size: int = SIZE, **params: Any) -> Columns:
    return TracedSampler(mechanism, params).groups(data, size, stream(3))


def only(columns: Columns) -> tuple[Any, ...]:
    (group,) = columns.groups
    assert group.rows == SIZE
    return group.values


def frequencies(columns: Columns) -> dict[Any, float]:
    counts: Counter[Any] = Counter()
    for group in columns.groups:
        counts[group.shape.leaves] += group.rows
    return {leaves: count / columns.rows for leaves, count in counts.items()}


def near(frequency: float, probability: float) -> bool:
    return abs(frequency - probability) <= 5 * math.sqrt(probability * (1 - probability) / SIZE)


def test_every_operation_agrees_with_numpy() -> None:
    def everything(_: Any) -> Any:
        x, y, z = dpest.laplace(1.0, size=3)
        sums = dpest.cumsum([x, y, z])
        parts = [dpest.max(x, y, z), dpest.argmin([x, y, z]), round(x), math.floor(y), math.ceil(z), x * y, x / y, abs(x)]
        truths = [x >= y, ~(x > 1), (x > 0) & (y > 0), (x > 0) | (y > 0), 2 - 3 * x + y > z]
        return [x, y, z, *sums, *parts, *truths, dpest.where(x > y, z, 7.0), dpest.clip(x, -1, 1), dpest.apply(np.exp, x)]

    x, y, z, *found = only(sample(everything))
    each = np.stack([x, y, z])
    expected = [x, x + y, x + y + z, each.max(0), each.argmin(0), np.rint(x), np.floor(y), np.ceil(z), x * y, x / y, abs(x)]
    expected += [x >= y, x <= 1, (x > 0) & (y > 0), (x > 0) | (y > 0), 2 - 3 * x + y > z]
    expected += [np.where(x > y, z, 7.0), np.clip(x, -1, 1), np.exp(x)]
    for mine, numpys in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, numpys, rtol=1e-12, atol=1e-12)
    assert abs(x.std() - math.sqrt(2)) < 0.05


def test_if_goes_both_ways_with_the_right_frequencies() -> None:
    def above_threshold(queries: list[float]) -> Any:
        threshold = dpest.uniform(0, 1)
        for i, q in enumerate(queries):
            if q >= threshold:
                return i
        return None

    found = frequencies(sample(above_threshold, [0.25, 0.5, 0.25, 0.75]))
    assert set(found) == {(0.0,), (1.0,), (3.0,), (None,)}
    assert all(near(f, 0.25) for f in found.values())


def test_a_draw_keeps_its_value_across_a_fork() -> None:
    def released(_: Any) -> Any:
        x = dpest.laplace(1.0)
        return ("high", x) if x > 1 else ("low", x)

    for group in sample(released).groups:
        values = group.values[0]
        assert (values > 1).all() if group.shape.leaves[0] == "high" else (values <= 1).all()
        assert group.shape.leaves[1] is HOLE


def test_a_draw_first_needed_after_a_fork_is_fresh_on_both_sides() -> None:
    def later(_: Any) -> Any:
        x, coin = dpest.laplace(1.0), dpest.bernoulli(0.5)
        return (1, x) if coin else (0, x)

    first, second = (group.values[0] for group in sample(later).groups)
    assert len(first) + len(second) == SIZE
    assert not set(first) & set(second)


def test_loops_end_when_no_row_is_left() -> None:
    def coins(_: Any) -> int:
        k = 0
        while dpest.bernoulli(0.5):
            k += 1
        return k

    found = frequencies(sample(coins))
    assert all(near(found[(float(k),)], 0.5 ** (k + 1)) for k in range(5))
    assert sum(found.values()) == pytest.approx(1.0)


def test_none_and_strings_inside_where_are_values_of_their_own() -> None:
    def gated(_: Any) -> Any:
        x = dpest.laplace(1.0)
        return dpest.where(x > 0, x, None), dpest.where(x > 1, "big", dpest.where(x > 0, "small", 2.0))

    found = frequencies(sample(gated))
    assert set(found) == {(HOLE, "big"), (HOLE, "small"), (None, 2.0)}
    assert near(found[(None, 2.0)], 0.5)


def test_nan_inside_where_is_a_number_like_any_other() -> None:
    (values,) = only(sample(lambda _: dpest.where(dpest.bernoulli(0.25) > 0, math.nan, 2.0)))
    assert near(np.isnan(values).mean(), 0.25)


def test_the_function_runs_once_for_each_way() -> None:
    runs = []

    def counted(_: Any) -> int:
        runs.append(1)
        return 1 if dpest.laplace(1.0) > 0 else 0

    sampler = TracedSampler(counted)
    for i in range(5):
        sampler.draw(None, 1000, stream(i))
    assert len(runs) == 2


def test_the_same_stream_gives_the_same_rows_with_and_without_a_known_tree() -> None:
    def mechanism(data: float) -> Any:
        x = data + dpest.laplace(1.0)
        return (x, 1) if dpest.gaussian(1.0) > x else (0, x)

    known, data = TracedSampler(mechanism), 0.5
    known.draw(data, 5000, stream(1))
    sent = cloudpickle.loads(cloudpickle.dumps(known))
    for a, b in zip(known.groups(data, 5000, stream(2)).groups, sent.groups(data, 5000, stream(2)).groups, strict=True):
        assert a.shape == b.shape
        assert (a.values[0] == b.values[0]).all()


def test_hidden_randomness_is_refused() -> None:
    generators = (random.Random(1),)  # in a tuple no stand-in can take its place

    def hidden(data: float) -> Any:
        return data + dpest.laplace(1.0) + generators[0].random()

    with pytest.raises(NotReplayable, match=r"it draws from the random\.Random"):
        TracedSampler(hidden).check(0.0)


def test_apply_must_return_an_array_of_numbers() -> None:
    with pytest.raises(UnsupportedOperation, match=r"numpy\.vectorize"):
        sample(lambda _: dpest.apply(np.sum, dpest.laplace(1.0, size=2)[0]) + dpest.apply(lambda x: x[:3], dpest.laplace(1.0)))
    with pytest.raises(MechanismError, match="at once, raised TypeError"):
        sample(lambda _: dpest.apply(math.exp, dpest.laplace(1.0)))


def test_an_endless_loop_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: Any) -> int:
        k = 0
        while dpest.laplace(1.0) < 1e9:
            k += 1
        return k

    monkeypatch.setattr("dpest.sampling.runs.sources.MOST_DECISIONS", 50)
    with pytest.raises(MechanismError, match="does its loop end"):
        sample(endless)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: (x + dpest.geometric(1.0)) % 3,
        lambda x: (x + dpest.geometric(3.0)) // 7,
        lambda x: dpest.floor((x + dpest.geometric(3.0)) / 3),
        lambda x: (x + dpest.geometric(3.0)) / 10 <= 0.3,
        lambda x: 0.1 * (x + dpest.geometric(3.0)) <= 0.3,
        lambda x: round((x + dpest.geometric(3.0)) / 2),
        lambda x: (x + dpest.geometric(3.0)) / 10 - 0.1 == 0.2,
    ],
)
def test_whole_numbers_on_a_bound_are_decided_as_the_program_decides(mechanism: Any) -> None:
    """Oracle: the program itself on each whole number."""
    for data in (0, 1, 7):
        possible = {k: _on(mechanism, data, k) for k in range(-40, 41)}
        drawn = sample(mechanism, data, 4000)
        seen = {float(v) for group in drawn.groups for v in group.values[0]}
        assert seen <= {float(v) for v in possible.values()}


class _Always:
    """A run in which every draw is one number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def draw(self, law: Any) -> int:
        return self.number


def _on(mechanism: Any, data: Any, number: int) -> Any:
    token = RUN.set(_Always(number))  # type: ignore[arg-type]
    try:
        return mechanism(data)
    finally:
        RUN.reset(token)
