"""The table behind a picture: it holds all the mass, and its largest log ratio is the loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.algorithms import find
from dpest.report.data import OutputTable
from dpest.report.outputs import output_table


def outputs(mechanism: Any, pair: Any) -> tuple[OutputTable, float]:
    result = dpest.estimate(mechanism, pair)
    found = output_table(result)
    assert found is not None
    return found, result.epsilon


@pytest.mark.parametrize("name", ["ReportNoisyMax1", "SVT1", "SVT5", "SVT6", "TruncatedGeometric"])
def test_masses_add_up_and_show_the_loss(name: str) -> None:
    algorithm = find(name)
    table, epsilon = outputs(algorithm.function, algorithm.pairs()[-1])
    left, right = np.array(table.log_left), np.array(table.log_right)
    assert np.exp(left).sum() == pytest.approx(1, abs=1e-9)
    assert np.exp(right).sum() == pytest.approx(1, abs=1e-9)
    ratios = [abs(p - q) if p != q else 0.0 for p, q in zip(table.log_left, table.log_right, strict=True)]
    assert max(ratios) == pytest.approx(epsilon, rel=1e-9)


def test_density_is_that_of_the_noise() -> None:
    table, epsilon = outputs(lambda x: x + dpest.laplace(2), (0.0, 1.0))
    y = np.array(table.y)
    assert np.allclose(table.log_density_left, -np.abs(y) / 2 - math.log(4))
    assert np.abs(np.array(table.log_density_left) - np.array(table.log_density_right)).max() == pytest.approx(epsilon)


def test_independent_coordinates_are_drawn_one_at_a_time() -> None:
    table, _ = outputs(lambda x: [v + dpest.laplace(1) for v in x], ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    assert table.axis == "output[1]"
    assert table.parts == 3


def test_joint_density_is_drawn_along_a_line() -> None:
    def dependent(x: float) -> Any:
        v = dpest.laplace(1)
        return x + v + dpest.laplace(1), v + dpest.laplace(1)

    table, _ = outputs(dependent, (0.0, 1.0))
    assert table.slice
    assert len(table.y) > 100


def test_released_numbers_are_stars_in_a_table_of_masses() -> None:
    table, _ = outputs(find("NumericalSVT").function, find("NumericalSVT").pairs(n=3)[-1])
    assert any("*" in label for label in table.labels)
    assert np.exp(table.log_left).sum() == pytest.approx(1, abs=1e-3)


def test_sampled_result_has_no_table() -> None:
    result = dpest.estimate(lambda x: dpest.bernoulli(0.5 + x / 4), (0, 1), method="sampling", samples=1000, seed=1)
    assert output_table(result) is None


def test_the_place_of_the_witness_is_what_its_text_says() -> None:
    result = dpest.estimate(lambda x: x + dpest.laplace(2), (0.0, 1.0))
    table = output_table(result)
    assert table is not None
    assert result.witness is not None
    assert result.witness.event in ("output <= 0", "output >= 1")
    assert (table.place, table.ray) == {"output <= 0": (0.0, -1), "output >= 1": (1.0, 1)}[result.witness.event]
    assert table.sign == (1 if result.witness.direction.value == "D over D'" else -1)


def test_the_row_of_the_witness_is_the_event_of_its_text() -> None:
    algorithm = find("SVT1")
    result = dpest.estimate(algorithm.function, algorithm.pairs()[-1])
    table = output_table(result)
    assert table is not None
    assert table.marked is not None
    assert result.witness is not None
    assert result.witness.event == f"output == {table.labels[table.marked]}"


def test_numbers_are_in_order_and_none_and_nan_at_the_end() -> None:
    def mixed(x: int) -> Any:
        if dpest.bernoulli(0.2 + 0.1 * x):
            return None
        if dpest.bernoulli(0.3):
            return math.nan
        return "seven" if dpest.bernoulli(0.1) else dpest.integers(-1, 10)

    table, _ = outputs(mixed, (0, 1))
    assert table.labels == (*map(str, range(-1, 11)), "'seven'", "None", "nan")


def test_a_vector_is_drawn_along_the_coordinate_that_carries_the_loss() -> None:
    def dependent(x: float) -> Any:
        v = dpest.laplace(1)
        return v + dpest.laplace(1), x + v + dpest.laplace(0.1)

    table, epsilon = outputs(dependent, (0.0, 1.0))
    assert table.slice
    ratios = np.array(table.log_density_left) - np.array(table.log_density_right)
    assert np.abs(ratios).max() > 0.9 * epsilon


def test_a_witness_that_is_rare_is_drawn_and_marked() -> None:
    def above_threshold(queries: list[float]) -> Any:
        t = 0.5 + dpest.laplace(2.0)
        for i, q in enumerate(queries):
            if q + dpest.laplace(4.0) >= t:
                return i
        return None

    result = dpest.estimate(above_threshold, ([160, 160, -160], [161, 161, -161]))
    assert result.witness is not None
    assert result.witness.event == "output == 2"
    found = output_table(result)
    assert found is not None
    assert found.labels == ("0", "1", "2", "None")
    assert found.marked == 2
    assert found.log_left[2] - found.log_right[2] == pytest.approx(0.75, abs=1e-9)
    top = result.plot().axes[0]
    assert top.get_yscale() == "log"
