"""Public cells, private bins: partitions of the domain, whatever the noise."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.domain.columns import COLUMN_ADAPTER, IntegerColumn, NumericColumn
from dpcore.models.ebm.learning.grid import Bins, FineCells, feature_cells
from tests.oracles import ebm_oracle as oracle
from tests.support.rows import for_each
from tests.support.strategies import columns
from tests.support.tables.small_tables import schema_of, table_of


def column_of(**content):
    return COLUMN_ADAPTER.validate_python({"name": "x", **content})


REAL = column_of(type="real", lower=0, upper=10, edges=[2.5, 7])
HARD = [
    REAL,
    column_of(type="real", lower=0, upper=1, bins=1),
    column_of(type="real", lower=0, upper=1, bins=256),
    column_of(type="real", lower=-1e-3, upper=1e-3, edges=[-1e-3, 0]),
    column_of(type="real", lower=0, upper=10, edges=[5.12345678901234]),
    column_of(type="real", lower=1e6, upper=1e6 + 1e-7, bins=1),
    column_of(type="real", lower=-1e300, upper=7e307, bins=3),
    column_of(type="integer", lower=0, upper=1, bins=2),
    column_of(type="integer", lower=0, upper=1, bins=1),
    column_of(type="integer", lower=-3, upper=400, bins=7),
    column_of(type="integer", lower=0, upper=2**53, edges=[4503599627370497]),
    column_of(type="boolean"),
    column_of(type="ordinal", categories=["low", "high"]),
    column_of(type="categorical", categories=[f"c{i}" for i in range(1000)]),
]
any_column = columns("x").map(COLUMN_ADAPTER.validate_python)


def check_cells(column):
    cells = FineCells.of(column)
    if not isinstance(column, NumericColumn):
        assert cells.edges is None
        assert len(cells) == len(column.cells)
        return
    edges = cells.edges
    assert len(cells) == len(edges) + 2
    assert all(a < b for a, b in pairwise(edges))
    assert all(column.lower <= edge < column.upper for edge in edges)
    whole = np.floor if isinstance(column, IntegerColumn) else np.asarray
    assert set(whole(column.inner_edges)) <= set(edges)
    assert len(cells) <= max(242, len(column.inner_edges) + 2)
    if isinstance(column, IntegerColumn):
        assert all(edge == int(edge) for edge in edges)


@for_each("column", HARD)
def test_fine_cells_of_hard_columns(column):
    check_cells(column)


@given(any_column)
def test_fine_cells_are_public_and_inside_the_bounds(column):
    check_cells(column)
    assert FineCells.of(column).edges is None or len(FineCells.of(column)) >= 2


noises = st.integers(0, 2**32 - 1)


def bins_of(column, seed, most=16, least=1.0, size=20.0):
    cells = FineCells.of(column)
    draw = np.random.default_rng(seed)
    noisy = draw.normal(draw.choice([-5.0, 0.0, 10.0]), size, len(cells))
    return cells, noisy, Bins.merge(cells, noisy, 3.0, most, least)


def check_bins(cells, noisy, bins, most):
    """Groups run from the first bin to the last, and counts and errors are those of the cells."""
    assert len(bins.groups) == len(cells)
    assert sorted(set(bins.groups)) == list(range(len(bins.axis)))
    for group in range(len(bins.axis)):
        members = noisy[bins.groups == group]
        assert bins.noisy_counts[group] == pytest.approx(math.fsum(members))
        assert bins.errors[group] == pytest.approx(3.0 * math.sqrt(len(members)))
    column = cells.column
    if cells.edges is None:
        assert bins.groups.tolist() == list(range(len(cells)))
        assert bins.ordered == (len(column.classes) if column.ordered else 0)
        return
    assert np.all(np.diff(bins.groups) >= 0)
    assert len(bins.axis) <= most + 1
    assert bins.ordered == len(bins.axis) - 1
    assert set(bins.axis.edges) <= set(cells.edges.tolist())
    assert bins.axis.bounds == (column.lower, column.upper)
    assert np.count_nonzero(bins.groups == bins.groups[-1]) == 1, "missing values stay alone"


@given(any_column, noises, st.integers(2, 128), st.floats(0, 1e6))
def test_bins_partition_the_domain_whatever_the_noise(column, seed, most, least):
    cells, noisy, bins = bins_of(column, seed, most, least)
    check_bins(cells, noisy, bins, most)


@for_each("column", HARD)
def test_bins_of_hard_columns(column):
    for seed in range(4):
        for most in (2, 128):
            check_bins(*bins_of(column, seed, most), most)


def test_bins_have_about_equal_counts_and_heavy_cells_stay_alone():
    cells = FineCells.of(REAL)
    even = np.ones(len(cells)) * 100
    bins = Bins.merge(cells, even, 1.0, 32, 4.0)
    counts = bins.noisy_counts[:-1]
    assert len(counts) == 32
    assert counts.max() <= 2 * counts.min()
    spike = even.copy()
    spike[50] = 1e6
    bins = Bins.merge(cells, spike, 1.0, 32, 4.0)
    assert np.count_nonzero(bins.groups == bins.groups[50]) == 1


def test_no_bin_is_split_below_twice_the_least_count():
    """Undo any one cut: a bin of at least twice the least count must have been there."""
    cells = FineCells.of(REAL)
    for least in (10.0, 100.0, 1000.0):
        bins = Bins.merge(cells, np.full(len(cells), 10.0), 1.0, 128, least)
        joined = bins.noisy_counts[:-2] + bins.noisy_counts[1:-1]
        assert joined.min(initial=np.inf) >= 2 * least
    assert len(bins.axis) == 3, "2400 records make one cut into 1000 or more each"


@given(any_column, noises)
def test_codes_of_raw_values_are_those_of_the_oracle(column, seed):
    _, _, bins = bins_of(column, seed)
    if bins.axis.edges is None:
        return
    draw = np.random.default_rng(seed)
    values = np.concatenate(
        [
            draw.uniform(column.lower, column.upper, 20),
            bins.axis.edges,
            np.nextafter(bins.axis.edges, np.inf),
            [column.lower, column.upper, column.lower - 1, column.upper + 1, np.nan, np.inf],
        ]
    )
    if isinstance(column, IntegerColumn):
        values = np.round(values)
    clamped = np.clip(values, column.lower, column.upper)
    expected = [oracle.axis_code(bins.axis.edges, value) for value in clamped.tolist()]
    assert bins.axis.codes(column, pd.Series(values)).tolist() == expected


def test_fine_codes_then_groups_are_the_bins_of_the_raw_values():
    """The two ways to a bin, of the learner and of the reader, agree on every edge."""
    for seed in range(10):
        cells, _, bins = bins_of(REAL, seed)
        values = np.concatenate([cells.edges, np.nextafter(cells.edges, 11), [0.0, 10.0, np.nan]])
        fine = np.searchsorted(cells.edges, values, side="left")
        fine[np.isnan(values)] = len(cells) - 1
        expected = bins.axis.codes(REAL, pd.Series(values))
        np.testing.assert_array_equal(bins.groups[fine], expected)


def test_codes_of_a_table():
    schema = schema_of(
        [
            {"name": "c", "type": "categorical", "categories": ["a", "b"]},
            {"name": "n", "type": "integer", "lower": 0, "upper": 9, "bins": 2},
            {"name": "r", "type": "real", "lower": 0, "upper": 9, "bins": 2},
            {"name": "y", "type": "boolean"},
        ]
    )
    (table,) = table_of(schema, [(1, 0, 0, 1), (3, 0, 0, 0)]).partitions
    table.numbers[0, :2] = 4, np.nan
    table.numbers[1, :2] = 9, 0
    first, second, third = feature_cells(schema, "y")
    assert first.codes(table)[:2].tolist() == [1, 3]
    assert second.codes(table)[:2].tolist() == [4, len(second) - 1]
    assert second.edges.tolist() == list(range(9))
    assert third.codes(table)[:2].tolist() == [len(third) - 2, 0]
    assert [cell.column.name for cell in feature_cells(schema, "n")] == ["c", "r", "y"]
    np.testing.assert_array_equal(table.numbers_of("r"), table.numbers[1])


def test_cells_are_merged_by_runs_and_missing_values_stay_apart():
    cells = FineCells.of(REAL)
    few, runs = cells.merged(64)
    assert len(few) - 1 <= 64
    assert set(few.edges) <= set(cells.edges)
    assert len(runs) == len(cells)
    assert runs[-1] == len(few) - 1 == runs[-2] + 1
    numbers = np.random.default_rng(0).uniform(REAL.lower, REAL.upper, 500)
    fine = np.searchsorted(cells.edges, numbers, side="left")
    np.testing.assert_array_equal(runs[fine], np.searchsorted(few.edges, numbers, side="left"))
    same, kept = cells.merged(1000)
    assert same is cells
    assert kept.tolist() == list(range(len(cells)))


def test_bins_of_even_width_if_all_records_count_as_spread_evenly():
    cells = FineCells.of(REAL)
    noisy = np.zeros(len(cells))
    noisy[0] = 1000.0
    even = Bins.merge(cells, noisy, 0.1, 8, 1.0, 1.0).axis
    widths = np.diff(even.points)
    assert len(widths) == 8
    assert widths.max() < 2 * widths.min()
