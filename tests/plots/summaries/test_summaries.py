"""Figures of first looks: every column, groups, pairs, and what they say without being seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from dpcore.domain.columns import RESERVED
from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.association import Association, associations
from dpcore.models.summaries.released.crosstab import crosstab
from dpcore.models.summaries.released.intervals import Amount, Cells
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_reading import table_one_table
from dpcore.models.summaries.released.summary_words import cell_words, drawn_ends, figure_words, share_words
from dpcore.models.summaries.released.table_one import table_one
from dpcore.plots.summaries.summaries import by_group, column_alt, column_figure, everybody
from dpcore.plots.summaries.summaries_overview import MOST_CELLS, overview_alt, overview_figure
from dpcore.plots.summaries.summaries_pairs import pairs_alt, pairs_figure
from dpcore.rehearsal import rehearse
from dpcore.report.table_one import table_one_document, table_one_rows
from dpcore.spreadsheets import frame_csv
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 4, "unit": "years"},
    {"name": "dose", "type": "real", "lower": 0, "upper": 5, "edges": [0.5, 2.5]},
    {"name": "grade", "type": "ordinal", "categories": ["low", "middle", "high"]},
    {"name": "ward", "type": "categorical", "categories": ["=A1", "<b>b</b>", "c"]},
    {"name": "died", "type": "boolean"},
    max_rows=3000,
)
CHOSEN = {"by": "died", "crosstabs": ["ward by grade"], "pairs": 1}


@cache
def made():
    """A first look at invented people, its model and what is told of each column."""
    learner = LEARNERS["summaries"]
    release = rehearse(learner, SCHEMA, learner.plan(SCHEMA, "", Decimal(4), CHOSEN))
    model = parse_model(release)
    return release, model, readings(model, SCHEMA)


@for_each("place", range(len(SCHEMA.columns)))
def test_every_column_has_a_figure_that_is_told_too(place: int) -> None:
    _, model, told = made()
    column = everybody(SCHEMA, told[place])
    drawn = column_figure(column)
    assert drawn.data
    alt = column_alt(column)
    assert alt.startswith(f"Distribution of {told[place].label}.")
    assert column.names[0] in alt
    if place != model.by:
        grouped = by_group(model, SCHEMA, told[place])
        assert [series.name for series in grouped.series] == ["no", "yes"]
        assert "yes: " in column_alt(grouped)
        named = {trace.name for trace in column_figure(grouped).data if trace.showlegend is not False}
        assert named == {"no", "yes"}


def test_steps_of_uneven_ranges_have_areas_in_proportion_to_shares() -> None:
    _, _, told = made()
    reading = told[1]
    column = everybody(SCHEMA, reading)
    figure = column_figure(column)
    [line] = [trace for trace in figure.data if trace.line.width == 2.5]
    widths = np.diff(column.ends)
    areas = np.asarray(line.y[:-1]) * widths
    shares = reading.shares.values[: len(widths)]
    np.testing.assert_allclose(areas / areas.sum(), shares / shares.sum())
    assert "for every" in figure.layout.yaxis.title.text


def test_texts_of_a_schema_are_no_markup_in_a_figure() -> None:
    _, _, told = made()
    assert "<b>b</b>" not in column_figure(everybody(SCHEMA, told[3])).to_json().replace("\\u003c", "<")


def test_the_sheet_of_all_columns_has_a_place_for_each() -> None:
    _, _, told = made()
    assert len(overview_figure(told, SCHEMA).data) == len(told)
    assert "age: median" in overview_alt(told, SCHEMA)


def test_a_column_of_many_groups_says_how_many_are_drawn_and_keeps_those_without_a_value() -> None:
    _, _, told = made()
    columns = [column.model_dump(mode="json", exclude_none=True) for column in SCHEMA.columns]
    columns[3]["categories"] = [f"c{number}" for number in range(57)]
    wide = Schema.model_validate(SCHEMA.model_dump(mode="json") | {"columns": columns})
    cells = (*columns[3]["categories"], *RESERVED)
    shares = np.arange(1.0, len(cells) + 1) / 1770
    reading = replace(told[3], cells=cells, shares=Cells(shares, shares, shares))
    figure = overview_figure([reading, told[0]], wide)
    bars, few = figure.data
    np.testing.assert_array_equal(bars.y, [*shares[:MOST_CELLS], *shares[-2:]])
    assert [text.partition(":")[0] for text in bars.hovertext[-3:]] == ["c39", "other", "missing"]
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["ward<br>first 40 of 57 groups", "age"]
    assert "(first 40 of 57 groups drawn)" in overview_alt([reading], wide)
    assert "drawn" not in overview_alt(told, SCHEMA)
    assert len(few.y) == len(told[0].cells)


def test_the_map_of_pairs_has_a_field_for_each() -> None:
    _, model, told = made()
    found, labels = associations(model), [one.label for one in told]
    figure = pairs_figure(found, labels)
    filled = sum(value is not None for row in figure.data[0].z for value in row)
    assert filled == 2 * len(found) == 2 * len(model.pairs)
    assert labels[found[0].axes[0]] in pairs_alt(found, labels)


@for_each(("strongest", "end"), [(0.0, 0.25), (0.2, 0.25), (0.26, 0.5), (0.7, 1.0), (1.1, 1.0)])
def test_the_colours_of_the_map_reach_as_far_as_the_strongest_pair(strongest, end) -> None:
    pair = Association((0, 1), Amount(strongest, 0.0, 1.0))
    [cells] = pairs_figure([pair], ["one", "two"]).data
    assert (cells.zmin, cells.zmax) == (0.0, end)


@for_each("axes", [(0, 4), (4, 0)])
def test_shares_of_a_crosstab_are_within_rows_and_in_their_intervals(axes: tuple[int, int]) -> None:
    _, model, _ = made()
    table = crosstab(model, SCHEMA, *axes)
    assert table.shares.values.shape == (len(table.row_cells), len(table.column_cells))
    sums = table.shares.values.sum(axis=1)
    np.testing.assert_allclose(sums[table.sizes.values > 0], 1.0, atol=0.01)
    for cells in (table.shares, table.counts):
        assert (cells.low <= cells.values).all()
        assert (cells.values <= cells.high).all()


def test_table_one_can_be_opened_by_spreadsheets_and_word_processors() -> None:
    release, model, _ = made()
    table = table_one_table(model, SCHEMA, table_one(model, SCHEMA))
    assert table.head[1:3] == ("no", "yes")
    csv = frame_csv(table_one_rows(table))
    assert "'=A1" in csv
    assert ",=A1" not in csv
    document = table_one_document(release, table)
    assert "&lt;b&gt;b&lt;/b&gt;" in document
    assert "<b>b</b>" not in document
    assert "Not private." in document  # It is a rehearsal.
    assert document.count("<tr>") == len(table.rows) + 1


@for_each(
    ("amount", "unit", "told"),
    [
        (Amount(45.234, 44.48, 46.02), "years", "45.2 years (44.5 to 46.0)"),
        (Amount(12345.6, 12100.0, 12600.0), "$", "$12,300 (12,100 to 12,600)"),
        (Amount(-3.0, -12.0, 6.0), "", "−3 (−12 to 6)"),
        (Amount(0.0, 0.0, 0.0), "", "0 (0 to 0)"),
    ],
)
def test_figures_have_the_digits_that_noise_leaves(amount: Amount, unit: str, told: str) -> None:
    assert figure_words(amount, unit) == told


def test_shares_have_more_digits_where_noise_is_small() -> None:
    assert share_words(Amount(0.5, 0.45, 0.55)) == "50% (45% to 55%)"
    assert share_words(Amount(0.5, 0.495, 0.505)) == "50.0% (49.5% to 50.5%)"


def test_no_share_of_somebody_is_told_as_none_or_all() -> None:
    assert share_words(Amount(0.0002, 0.0001, 0.0003)) == "below 0.1% (below 0.1% to below 0.1%)"
    assert share_words(Amount(0.9998, 0.9997, 1.0)) == "above 99.9% (above 99.9% to 100.0%)"
    assert share_words(Amount(0.0002, 0.0, 0.0012)) == "below 0.1% (0.0% to 0.1%)"


def test_cells_are_called_as_people_say_them() -> None:
    _, model, _ = made()
    assert cell_words(model.axes[0], SCHEMA)[:2] == ("20 to 40", "41 to 60")
    assert cell_words(model.axes[1], SCHEMA) == ("0 to 0.5", "over 0.5 to 2.5", "over 2.5 to 5", "missing")


@pytest.mark.parametrize(
    ("kind", "edges", "ends"),
    [
        ("integer", [0, 4], (-0.5, 0.5, 4.5, 9.5)),
        ("real", [0, 4], (-2.25, 0.0, 4.0, 9.0)),
        ("real", [3, 6], (0.0, 3.0, 6.0, 9.0)),
    ],
)
def test_a_cell_of_a_single_number_has_a_width_in_a_picture(
    kind: str, edges: list[int], ends: tuple[float, ...]
) -> None:
    column = {"name": "n", "type": kind, "lower": 0, "upper": 9, "edges": edges}
    schema = Schema.from_mapping({"name": "one", "max_rows": 100, "columns": [column]})
    learner = LEARNERS["summaries"]
    model = parse_model(rehearse(learner, schema, learner.plan(schema, "", Decimal(4), {})))
    [reading] = readings(model, schema)
    assert drawn_ends(reading, schema) == ends
    assert column_figure(everybody(schema, reading)).data


def bars_of(figure: go.Figure) -> Iterator[tuple[go.Bar, tuple[float, float]]]:
    """Bars of shares with the ends of the axis that they are drawn along."""
    for trace in figure.data:
        if trace.type == "bar":
            name = trace.xaxis if trace.orientation == "h" else trace.yaxis
            side = "x" if trace.orientation == "h" else "y"
            axis = figure.layout[f"{side}axis{(name or side)[1:]}"]
            yield trace, axis.range


def test_bars_of_categories_run_from_nothing_to_everybody() -> None:
    """A share of 34 % fills about a third, whatever the largest one is."""
    _, model, told = made()
    named = [reading for reading in told if reading.ends is None]
    columns = [everybody(SCHEMA, reading) for reading in named]
    columns += [by_group(model, SCHEMA, reading) for reading in named if reading.label != "died"]
    drawn = [ends for column in columns for _, ends in bars_of(column_figure(column))]
    sheet = zip(bars_of(overview_figure(told, SCHEMA)), told, strict=True)
    drawn += [ends for (_, ends), reading in sheet if reading.ends is None]
    assert len(drawn) > 2 * len(named)
    assert set(drawn) == {(0, 1)}
