"""Cells: atoms alone, symbols by name, the rest in bins."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpest.sampling.runs.outputs import encode_array, encode_rows
from dpest.sampling.scores.cells import Cells, Column, Reading, learn_cells, place_among

RNG = np.random.default_rng(5)


@given(st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=40, unique=True), st.integers(0, 2**32 - 1))
def test_the_grid_places_every_value_as_a_search_does(breaks: list[float], seed: int) -> None:
    edges = np.sort(np.array(breaks, dtype=np.float64))
    with np.errstate(over="ignore"):
        near = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    values = np.concatenate([near, np.random.default_rng(seed).normal(size=5000)])
    with np.errstate(over="ignore"):
        assert np.array_equal(place_among(edges, values), np.searchsorted(edges, values, side="right"))


def test_a_value_that_repeats_gets_a_cell_of_its_own() -> None:
    values = RNG.normal(size=20_000)
    values[:40] = 0.25
    batch = encode_array(values, len(values))
    cells = learn_cells(Column(0), batch, batch, 16)
    code = cells.codes(encode_array(np.array([0.25, np.nextafter(0.25, 1), np.nextafter(0.25, 0)]), 3))
    assert len(set(code.tolist())) == 3
    assert cells.bounds(int(code[0])) == (0.25, np.nextafter(0.25, 1))


def test_symbols_have_cells_and_unseen_ones_share_the_last() -> None:
    batch = encode_rows([None, "a", math.nan, 1.0] * 10)
    cells = learn_cells(Column(0), batch, batch, 4)
    codes = cells.codes(encode_rows([None, "a", math.nan, "never seen"]))
    assert len(set(codes.tolist())) == 4
    assert codes[3] == cells.size - 1
    assert [cells.symbol_name(int(c)) for c in codes] == ["None", "'a'", "nan", "anything else"]


def test_small_integers_are_categories() -> None:
    batch = encode_array(np.arange(5).repeat(50), 250)
    cells = learn_cells(Column(0), batch, batch, 16)
    assert len({int(c) for c in cells.codes(batch)}) == 5


def test_differences_read_neighbours() -> None:
    batch = encode_array(np.array([[1.0, 4.0], [2.0, 2.5]]), 2)
    assert Column(1, Reading.DIFFERENCE).read(batch).tolist() == [3.0, 0.5]


def test_cells_survive_json() -> None:
    batch = encode_rows([None, 1.5, -2.0, "a"] * 10)
    cells = learn_cells(Column(0), batch, batch, 4)
    again = Cells.from_dict(cells.to_dict())
    assert np.array_equal(cells.codes(batch), again.codes(batch))
