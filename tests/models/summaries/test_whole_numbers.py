"""Means and quantiles of whole numbers: of columns, and of rows of further tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.finer import FinerTable, finer_ends
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import ColumnReading, readings
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import axes_of, middles
from dpcore.models.summaries.released.summary_reading import columns_table, number_frame, table_one_frame
from dpcore.models.summaries.released.summary_words import cell_words, column_sentences
from dpcore.models.summaries.released.synthesis import invented
from dpcore.models.summaries.released.table_one import differences, table_one
from tests.support.results.first_looks import look_at
from tests.support.tables.small_tables import ward

QUARTERS = (0.25, 0.5, 0.75)
TRAINS = ward(
    {"name": "east", "type": "boolean"},
    name="trains",
    max_rows=2000,
    privacy_unit={"column": "train", "max_rows_per_person": 1},
    children=[{"name": "cars", "max_rows_per_person": 20, "columns": [{"name": "long", "type": "boolean"}]}],
)
STROKE = ward(
    {"name": "died", "type": "boolean"},
    {"name": "nihss", "type": "integer", "lower": 0, "upper": 20, "edges": [0, 4, 15]},
    name="stroke",
    max_rows=2000,
)


def look(schema: Schema, *people: tuple[int, int, int], deviation: float = 1e-3) -> SummaryModel:
    """A first look at a yes/no column and an axis of numbers, compared by the column, almost without noise.

    Each of ``people`` is a cell of the column, one of the other axis, and how many are in both.
    """
    axes = axes_of(schema, None)
    counts = np.zeros([axis.size(schema) for axis in axes])
    for group, cell, number in people:
        counts[group, cell] = number
    return look_at(axes, counts, deviation, by=0)


def scores(lower: float, upper: float, edges: Sequence[float]) -> Schema:
    """A yes/no column and one of whole numbers."""
    column = {"name": "score", "type": "integer", "lower": lower, "upper": upper, "edges": edges}
    return Schema.from_mapping(
        {"name": "scores", "max_rows": 2000, "columns": [{"name": "died", "type": "boolean"}, column]}
    )


def number(model: SummaryModel, schema: Schema) -> ColumnReading:
    return readings(model, schema)[1]


def of_groups(model: SummaryModel, schema: Schema, kind: str) -> Sequence[Amount]:
    return next(line.groups for line in table_one(model, schema).lines if line.kind == kind)


def test_as_many_rows_as_were_counted_are_told_everywhere() -> None:
    model = look(TRAINS, (0, 3, 500), (1, 3, 400))
    told = number(model, TRAINS)
    assert told.mean is not None
    assert told.mean.value == pytest.approx(3)
    assert {amount.value for amount in told.quantiles.values()} == {3}
    assert [own.value for own in of_groups(model, TRAINS, "mean")] == pytest.approx([3, 3])
    assert [own.value for own in of_groups(model, TRAINS, "median")] == [3, 3]
    assert number_frame(model, TRAINS)["value"].tolist() == pytest.approx([3] * 6)
    mean = table_one_frame(model, TRAINS).query("figure == 'mean'")
    assert mean[["value of no", "value of yes"]].to_numpy().ravel() == pytest.approx([3, 3])
    sentences = column_sentences(told, TRAINS)
    assert sentences[0].endswith("median 3 (3 to 3).")
    assert columns_table([told], TRAINS).rows[0][1] == " ".join(sentences)


def test_nobody_has_fewer_rows_than_none() -> None:
    model = look(TRAINS, (0, 0, 450), (1, 0, 450), (0, 5, 50), (1, 5, 50), deviation=8.0)
    told = number(model, TRAINS)
    assert told.mean is not None
    assert told.mean.value == pytest.approx(0.5, abs=0.1)
    figures = [told.mean, *told.quantiles.values()]
    figures += [*of_groups(model, TRAINS, "mean"), *of_groups(model, TRAINS, "median")]
    assert min(amount.low for amount in figures) >= 0
    assert told.quantiles[0.5].value == 0
    assert "median 0 (0 to 0)" in column_sentences(told, TRAINS)[0]


def test_rows_of_wide_cells_stand_in_their_middle() -> None:
    ends = axes_of(TRAINS, None)[1].ends(TRAINS)
    assert ends is not None
    assert middles(ends, whole=True).tolist() == [*range(9), 12.5, 18.5]
    told = number(look(TRAINS, (0, 9, 800)), TRAINS)
    assert [told.quantiles[share].value for share in QUARTERS] == [10, 12, 14]
    assert (told.quantiles[0.5].low, told.quantiles[0.5].high) == (9, 16)


def test_whole_numbers_lie_evenly_on_those_of_their_range() -> None:
    assert middles((0, 0, 4, 15, 20), whole=True).tolist() == [0, 2.5, 10, 18]
    assert middles((0, 0, 4, 15, 20), whole=False).tolist() == [0, 2, 9.5, 17.5]
    model = look(STROKE, (0, 1, 500), (1, 1, 400))
    told = number(model, STROKE)
    assert told.mean is not None
    assert told.mean.value == pytest.approx(2.5)
    assert [told.quantiles[share].value for share in QUARTERS] == [1, 2, 3]
    assert [own.value for own in of_groups(model, STROKE, "mean")] == pytest.approx([2.5, 2.5])
    assert [own.value for own in of_groups(model, STROKE, "median")] == [2, 2]


def test_cut_points_between_whole_numbers_are_none_of_them() -> None:
    schema = scores(0, 9, [3.5, 7.5])
    assert middles((0, 3.5, 7.5, 9), whole=True).tolist() == [1.5, 5.5, 8.5]
    model = look(schema, (0, 1, 500), (1, 1, 500))
    told = number(model, schema)
    assert told.mean is not None
    assert told.mean.value == pytest.approx(5.5)
    assert (told.quantiles[0.5].value, told.quantiles[0.5].low, told.quantiles[0.5].high) == (5, 4, 7)
    assert cell_words(told.axis, schema)[:3] == ("0 to 3", "4 to 7", "8 to 9")
    empty = scores(0, 9, [3.2, 3.7])
    assert cell_words(axes_of(empty, None)[1], empty)[:3] == ("0 to 3", "over 3.2 to 3.7", "4 to 9")


def test_groups_differ_by_the_numbers_that_they_hold() -> None:
    """Half of the first group have 0 and half 1 to 4, so 1.25 on average; all of the second have 5 to 15, so 10."""
    [gap] = differences(look(STROKE, (0, 0, 400), (0, 1, 400), (1, 2, 800)), STROKE).values()
    assert gap.value == pytest.approx(8.75 / (1.25**2 / 2) ** 0.5, abs=0.01)


def test_finer_cells_and_groups_tell_the_same_mean() -> None:
    schema = scores(18, 100, [45, 55])
    ends, cells = finer_ends(schema.column("score"))
    counts = tuple(500 / cells.count(1) if cell == 1 else 0.0 for cell in cells)
    finer = FinerTable(axis=1, ends=ends, cells=cells, counts=counts, deviation=1e-3)
    model = look(schema, (0, 1, 250), (1, 1, 250)).model_copy(update={"finer": (finer,)})
    told = number(model, schema)
    assert told.mean is not None
    assert told.mean.value == pytest.approx(50.5)
    assert [own.value for own in of_groups(model, schema, "mean")] == pytest.approx([50.5, 50.5])


def test_invented_records_have_the_numbers_of_their_range() -> None:
    model = look(STROKE, (0, 1, 500), (1, 1, 400))
    numbers = invented(model, STROKE, 4000, seed=1)[STROKE.entity]["nihss"]
    assert set(numbers) == {1, 2, 3, 4}
    assert numbers.mean() == pytest.approx(2.5, abs=0.1)
