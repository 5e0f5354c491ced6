"""Records of a run: labels, histograms, bins and pairs."""

import numpy as np

from dpcore.models.ebm.learning.grid import COUNT_STEPS, Bins, feature_cells, histogram_sensitivity
from dpcore.models.ebm.learning.kernels import ABSENT
from dpcore.models.ebm.learning.records import (
    TARGET_CELLS,
    Binning,
    Layout,
    bin_counts,
    cell_codes,
    histograms,
    labels_of,
    layout_codes,
)
from tests.oracles import ebm_oracle as oracle
from tests.support.learning.ebm_cases import WIDE
from tests.support.rows import for_each
from tests.support.tables import toy_people

TARGETS = ["ill", "stage", "age"]
SCHEMA = toy_people.schema(max_rows=700)
FRAME = toy_people.frame(600)
TABLE = toy_people.table(SCHEMA, FRAME)


def bins_of(target, table=TABLE, seed=0):
    draw = np.random.default_rng(seed)
    counts = table.total(histograms, target, "all")
    cells = feature_cells(table.schema, target)
    return [
        Bins.merge(cell, own + draw.normal(0, 5, len(cell)), 5.0, 12, 5.0)
        for cell, own in zip(cells, counts[:-1], strict=True)
    ]


@for_each("target", TARGETS)
@for_each("part", ["all", "train", "holdout"])
def test_histograms_agree_with_the_oracle(target, part):
    (own,), cells = TABLE.partitions, feature_cells(SCHEMA, target)
    *features, of_target = TABLE.total(histograms, target, part)
    for codes, cell, counts in zip(cell_codes(own, target), cells, features, strict=True):
        assert counts.tolist() == oracle.counts(codes, labels_of(own, target, part), len(cell))
    people = TABLE.public_frame(part)
    if target == "age":
        known = people["age"].dropna()
        assert len(of_target) == TARGET_CELLS
        expected = np.bincount(np.minimum((known / 100 * 128).astype(int), 127), minlength=128)
        assert np.abs(of_target - expected).sum() <= 4, "up to rounding on an edge"
    else:
        column = SCHEMA.column(target)
        known = people[target][people[target].isin(column.classes)]
        expected = [(known == label).sum() for label in column.classes]
        assert of_target.tolist() == expected
    assert {int(counts.sum()) for counts in (*features, of_target)} == {len(known)}


@for_each("target", TARGETS)
def test_one_row_changes_histograms_by_their_sensitivity_at_most(target):
    """Every row of a small table is taken out in turn; all but one histogram lose it."""

    def flat(content):
        return np.concatenate(toy_people.table(SCHEMA, content).total(histograms, target, "all")) * COUNT_STEPS

    content = FRAME.iloc[:25].reset_index(drop=True)
    whole, largest = flat(content), 0.0
    for row in range(25):
        change = (whole - flat(content.drop(row))).astype(float)
        largest = max(largest, float(np.linalg.norm(change)))
    assert largest <= histogram_sensitivity(len(SCHEMA.columns))
    assert largest > histogram_sensitivity(len(SCHEMA.columns)) * 0.999, "it is attained"


@for_each("target", TARGETS)
def test_places_without_a_record_or_a_target_have_no_label(target):
    (own,) = TABLE.partitions
    labels = labels_of(own, target, "all")
    assert len(labels) == own.rows
    assert np.all(labels[600:] == ABSENT)
    assert labels.min() == ABSENT
    if target != "age":
        known = FRAME[target].isin(SCHEMA.column(target).classes).to_numpy()
        assert (labels != ABSENT).sum() == known.sum()
        assert not known.all()


@for_each("target", TARGETS)
def test_bins_of_records_are_the_bins_of_their_raw_values(target):
    """The learner's way from a value to a bin is the reader's way."""
    bins, people = bins_of(target), TABLE.public_frame("all")
    for codes, mine in zip(cell_codes(TABLE.partitions[0], target), bins, strict=True):
        column = SCHEMA.column(mine.axis.column)
        expected = mine.axis.codes(column, people[mine.axis.column])
        np.testing.assert_array_equal(mine.groups[codes[:600]], expected)


def test_a_thousand_categories_need_wider_codes():
    schema = toy_people.schema(columns=WIDE, max_rows=700)
    content = FRAME.assign(town=[f"t{i % 1000}" for i in range(299, 899)])
    table = toy_people.table(schema, content)
    town = cell_codes(table.partitions[0], "ill")[-1]
    assert town.dtype == np.uint16
    assert sorted(town[:600].tolist()) == list(range(299, 899))
    binning = Binning.of((4, np.arange(1002)))
    (counts,) = table.total(bin_counts, Layout("ill", "all", (binning,)))
    assert counts.tolist() == oracle.counts(town, labels_of(table.partitions[0], "ill", "all"), 1002)


def test_cells_of_a_pair():
    bins, (own,) = bins_of("ill"), TABLE.partitions
    firsts, seconds = (np.arange(len(one.axis)) % most for one, most in zip(bins, (8, 4), strict=False))
    sides = [(0, firsts[bins[0].groups]), (1, seconds[bins[1].groups])]
    layout = Layout("ill", "all", (Binning.of(*sides), Binning.of((1, bins[1].groups))))
    cells, size = cell_codes(own, "ill"), int(seconds.max()) + 1
    expected = size * sides[0][1][cells[0]] + sides[1][1][cells[1]]
    codes, _ = layout_codes(own, layout)
    np.testing.assert_array_equal(codes, expected)
    of_pair, of_column = TABLE.total(bin_counts, layout)
    labels = labels_of(own, "ill", "all")
    assert of_pair.tolist() == oracle.counts(expected, labels, len(layout.binnings[0]))
    assert of_column.tolist() == oracle.counts(bins[1].groups[cells[1]], labels, len(layout.binnings[1]))
