"""Cells are looked up and counted as numpy does, for any numbers of places."""

from __future__ import annotations

import numpy as np

from dpcore.data import counting
from dpcore.data.counting import cells_between, count_codes, count_held, count_pairs, counts_between
from tests.support.rows import for_each

EDGES = np.array([0.0, 1.0, 1.0, 2.5])
PLACES = [0, 1, 7, 8, 9, 500]


@for_each("places", PLACES)
@for_each("at_once", [counting._AT_ONCE, 16])
def test_pairs_of_codes_are_counted(places, at_once, monkeypatch):
    monkeypatch.setattr(counting, "_AT_ONCE", at_once)
    draw = np.random.default_rng(places)
    first, second = draw.integers(5, size=places).astype(np.uint8), draw.integers(3, size=places).astype(np.uint32)
    counts = np.ones(15, dtype=np.int64)
    counter = count_pairs.py_func if at_once == 16 else count_pairs
    counter(first, second, 3, counts)
    assert (counts - 1).tolist() == np.bincount(3 * first.astype(int) + second, minlength=15).tolist()
    assert count_codes(first, 6).tolist() == np.bincount(first, minlength=6).tolist()
    held = draw.random(places) < 0.5
    assert count_held(first, held, 6).tolist() == np.bincount(first[held], minlength=6).tolist()


def test_more_places_than_a_lane_can_count_are_counted():
    many = 2**20 + 3
    assert count_codes(np.full(many, 2, dtype=np.uint8), 4).tolist() == [0, 0, many, 0]


@for_each("side", ["left", "right"])
@for_each("edges", range(len(EDGES) + 1))
def test_a_search_finds_the_cell_that_numpy_finds(edges, side):
    values = np.array([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 2.5, 9.0, np.inf])
    found = cells_between(EDGES[:edges], values, side)
    assert found.tolist() == np.searchsorted(EDGES[:edges], values, side=side).tolist()
    assert cells_between(EDGES[:edges], np.array([np.nan]), side).tolist() == [0]


@for_each("side", ["left", "right"])
@for_each("edges", [EDGES, EDGES[:0]])
@for_each("share", [0.0, 0.3, 1.0])
def test_held_values_alone_are_counted(edges, side, share):
    draw = np.random.default_rng(1)
    values, held = draw.choice([-1.0, 0.0, 0.5, 1.0, 2.5, 9.0], 500), draw.random(500) < share
    told = counts_between(edges, np.where(held, values, np.nan), held, side)
    cells = np.searchsorted(edges, values[held], side=side)
    assert told.tolist() == np.bincount(cells, minlength=len(edges) + 1).tolist()
