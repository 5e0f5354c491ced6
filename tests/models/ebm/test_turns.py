"""Columns that take their turn together: tables that several share, and what is read off them."""

import numpy as np

from dpcore.models.ebm.learning.boosting import FeatureTables, apart, summed
from dpcore.models.ebm.learning.records import Binning, Layout, cell_codes, layout_codes
from tests.support.learning import ebm_cases as cases
from tests.support.rows import for_each

SIZES = [33, 2, 3, 9, 40, 1100, 7]


@for_each("rate", [0.01, 0.05, 0.1, 0.5, 1.0])
def test_every_feature_has_one_turn_and_one_table(rate):
    feature_tables = FeatureTables.together(SIZES, rate)
    assert sorted(
        feature for turn in range(len(feature_tables.turns)) for feature in feature_tables.features(turn)
    ) == list(range(7))
    assert sorted(table for turn in feature_tables.turns for table in turn) == list(range(len(feature_tables.tables)))
    assert all(
        len(feature_tables.features(turn)) * rate <= max(0.25, rate) for turn in range(len(feature_tables.turns))
    )
    for members in feature_tables.tables:
        assert len(members) == 1 or np.prod([SIZES[feature] for feature in members]) <= 1024


@for_each("sizes", [(4,), (2, 3), (3, 1, 5), (2, 3, 2, 2)])
def test_joint_bins_come_apart_as_records_were_added_up(sizes):
    """Sums of shapes at the joint bin of every record, and sums over each column's own bins."""
    draw = np.random.default_rng(1)
    bins = [draw.integers(0, size, 200) for size in sizes]
    joint, values = np.ravel_multi_index(bins, sizes), draw.integers(-9, 9, (3, 200, 2))
    sums = np.zeros((3, int(np.prod(sizes)), 2), dtype=np.int64)
    np.add.at(sums, (slice(None), joint), values)
    shapes = [draw.normal(size=(3, size, 2)) for size in sizes]
    together = summed(shapes)
    np.testing.assert_allclose(
        together[:, joint], sum(own[:, place] for own, place in zip(shapes, bins, strict=True)), atol=1e-12
    )
    for found, place, size in zip(apart(sums, sizes), bins, sizes, strict=True):
        expected = np.zeros((3, size, 2), dtype=np.int64)
        np.add.at(expected, (slice(None), place), values)
        np.testing.assert_array_equal(found, expected)


@for_each("columns", [(0,), (1, 0), (0, 1, 2)])
def test_the_code_of_several_columns_is_their_joint_bin(columns):
    table = cases.table(cases.frame(60), cases.schema(target="ill", max_rows=60))
    (own,) = table.partitions
    cells = cell_codes(own, "ill")
    binning = Binning.of(*((column, np.arange(int(cells[column].max()) + 1) // 3) for column in columns))
    (codes,) = layout_codes(own, Layout("ill", "all", (binning,)))
    bins = [groups[cells[column]] for column, groups in zip(binning.columns, binning.groups, strict=True)]
    found = binning.of_codes[codes]
    np.testing.assert_array_equal(found, np.ravel_multi_index([own.astype(int) for own in bins], binning.sizes))
