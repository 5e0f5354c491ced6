"""Records of a run: labels, histograms, bins and pairs."""

import numpy as np
import pandas as pd
import pytest

from dpcore.models.ebm.learning.grid import Bins, feature_cells
from dpcore.models.ebm.learning.kernels import ABSENT
from dpcore.models.ebm.learning.queries import COUNT_STEPS, histogram_sensitivity
from dpcore.models.ebm.learning.records import TARGET_CELLS, BinnedRecords
from tests.oracles import ebm_oracle as oracle
from tests.support import ebm_cases, toy_people

TARGETS = ["ill", "stage", "age"]
SCHEMA = toy_people.schema(max_rows=700)
FRAME = toy_people.frame(600)
TABLE = toy_people.table(SCHEMA, FRAME)
WIDE = [
    *toy_people.COLUMNS,
    {"name": "town", "type": "categorical", "categories": [f"t{i}" for i in range(1000)]},
]


def records(target, part="all", table=TABLE):
    cells = feature_cells(table.schema, target)
    return BinnedRecords(table, target, part, cells), cells


def bins_of(own, cells, seed=0):
    draw = np.random.default_rng(seed)
    return [
        Bins.merge(cell, counts + draw.normal(0, 5, len(cell)), 5.0, 12, 5.0)
        for cell, counts in zip(cells, own.histograms(), strict=False)
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("part", ["all", "train", "holdout"])
def test_histograms_agree_with_the_oracle(target, part):
    own, cells = records(target, part)
    *features, of_target = own.histograms()
    for codes, cell, counts in zip(own.codes, cells, features, strict=True):
        assert counts.tolist() == oracle.counts(codes, own.labels, len(cell))
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
        assert of_target[: len(expected)].tolist() == expected
        assert not of_target[len(expected) :].any()
    assert {int(counts.sum()) for counts in (*features, of_target)} == {len(known)}


@pytest.mark.parametrize("target", TARGETS)
def test_one_row_changes_histograms_by_their_sensitivity_at_most(target):
    """Every row of a small table is taken out in turn; all but one histogram lose it."""

    def flat(content):
        own, _ = records(target, table=toy_people.table(SCHEMA, content))
        return np.concatenate(own.histograms()) * COUNT_STEPS

    content = FRAME.iloc[:25].reset_index(drop=True)
    whole, largest = flat(content), 0.0
    for row in range(25):
        change = (whole - flat(content.drop(row))).astype(float)
        largest = max(largest, float(np.linalg.norm(change)))
    assert largest <= histogram_sensitivity(len(SCHEMA.columns))
    assert largest > histogram_sensitivity(len(SCHEMA.columns)) * 0.999, "it is attained"


@pytest.mark.parametrize("target", TARGETS)
def test_places_without_a_record_or_a_target_have_no_label(target):
    own, _ = records(target)
    present = ~np.isnan(own.labels) if target == "age" else own.labels != ABSENT
    assert len(own.labels) == SCHEMA.max_rows
    assert not present[600:].any()
    if target != "age":
        known = FRAME[target].isin(SCHEMA.column(target).classes).to_numpy()
        assert present.sum() == known.sum()
        assert not known.all()


def test_labels_of_numbers_are_shares_of_the_public_range():
    schema = ebm_cases.schema(0, 10, target="stay")
    data = pd.DataFrame({"person": range(5), "c": "a", "stay": [-99, -10, 10, 30, None]})
    own, _ = records("stay", table=ebm_cases.table(data, schema))
    assert own.labels.dtype == np.float32
    kept = own.labels[~np.isnan(own.labels)]
    assert sorted(kept.tolist()) == [0, 0, 0.5, 1]
    assert own.histograms()[-1][[0, 64, 127]].tolist() == [2, 1, 1]


@pytest.mark.parametrize("target", TARGETS)
def test_bins_of_records_are_the_bins_of_their_raw_values(target):
    """The learner's way from a value to a bin is the reader's way."""
    own, cells = records(target)
    bins = bins_of(own, cells)
    own.merge(bins)
    people = TABLE.public_frame("all")
    for codes, mine in zip(own.codes, bins, strict=True):
        column = SCHEMA.column(mine.axis.column)
        expected = mine.axis.codes(column, people[mine.axis.column])
        np.testing.assert_array_equal(codes[:600], expected)


def test_a_thousand_categories_need_wider_codes():
    schema = toy_people.schema(columns=WIDE, max_rows=700)
    content = FRAME.assign(town=[f"t{i % 1000}" for i in range(299, 899)])
    own, cells = records("ill", table=toy_people.table(schema, content))
    assert all(codes.dtype == np.uint16 for codes in own.codes)
    bins = bins_of(own, cells)
    own.merge(bins)
    assert sorted(own.codes[-1][:600].tolist()) == list(range(299, 899))
    narrow, _ = records("ill")
    assert all(codes.dtype == np.uint8 for codes in narrow.codes)


def test_cells_of_a_pair():
    own, cells = records("ill")
    bins = bins_of(own, cells)
    own.merge(bins)
    firsts = np.arange(len(bins[0].axis)) % 8
    seconds = np.arange(len(bins[1].axis)) % 4
    codes = own.pair(0, 1, firsts, seconds, 4)
    np.testing.assert_array_equal(codes, 4 * firsts[own.codes[0]] + seconds[own.codes[1]])
    assert own.count(codes, 32).tolist() == oracle.counts(codes, own.labels, 32)
