"""Many columns of a first look on one sheet, for files and prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpcore.domain.columns import RESERVED
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.reading import ColumnReading
from dpcore.models.summaries.released.summary_words import cell_words, figure_words, share_words, unit_of
from dpcore.numerals import whole
from dpcore.plots.style import INK, colour, lay_out, safe, shorten

#: Columns on one sheet, and beside each other; bars of each, beside those for no value and for others.
_ACROSS, MOST_CELLS = 3, 40
_ROW = 190


def overview_figure(readings: Sequence[ColumnReading], schema: Schema) -> go.Figure:
    """Bars with 95 % whiskers for every column, in the order of the schema."""
    down = max(1, math.ceil(len(readings) / _ACROSS))
    height = 60 + _ROW * down
    figure = make_subplots(
        rows=down,
        cols=_ACROSS,
        subplot_titles=[_title(reading) for reading in readings],
        vertical_spacing=min(80 / height, 1 / max(1, down - 1) - 1e-6),
        horizontal_spacing=0.07,
    )
    axis = {"fixedrange": True, "tickfont": {"size": 11}}
    across, up = [axis] * (down * _ACROSS), [_share_axis(None)] * (down * _ACROSS)
    for place, reading in enumerate(readings):
        figure.add_trace(_bars(reading, schema), row=place // _ACROSS + 1, col=place % _ACROSS + 1)
        across[place], up[place] = {**_ticks(reading, schema), **axis}, {**_share_axis(reading), **axis}
    pairs = enumerate(zip(across[1:], up[1:], strict=True), 2)
    more = {f"{side}axis{n}": own for n, (x, y) in pairs for side, own in (("x", x), ("y", y))}
    margin = {"l": 10, "r": 10, "t": 40, "b": 40}
    lay_out(figure, across[0], up[0], height=height, showlegend=False, margin=margin, **more)
    figure.update_annotations(font={"size": 13, "color": INK})
    return figure


def _share_axis(reading: ColumnReading | None) -> dict[str, object]:
    """Shares of categories from 0 to 100 %; those of the many cells of a number as far as they go."""
    ends: dict[str, object] = (
        {"range": [0, 1]} if reading is not None and reading.ends is None else {"rangemode": "tozero"}
    )
    return {"tickformat": ".0%", "nticks": 4, **ends}


def _ticks(reading: ColumnReading, schema: Schema) -> dict[str, object]:
    """Names of a few bars, or of the first and the last."""
    words = cell_words(reading.axis, schema)
    names = [words[cell] for cell in _drawn(reading)]
    few = list(range(len(names))) if len(names) <= 4 else [0, len(names) - 1]
    return {"tickvals": few, "ticktext": [safe(shorten(names[own], 12)) for own in few], "tickangle": 0}


def _drawn(reading: ColumnReading) -> list[int]:
    """Cells that have a bar: the first ones, and always those for no value and for others."""
    ordinary = [cell for cell, name in enumerate(reading.cells) if name not in RESERVED]
    left_out = set(ordinary[MOST_CELLS:])
    return [cell for cell in range(len(reading.cells)) if cell not in left_out]


def _cut(reading: ColumnReading) -> str:
    """What is said of cells without a bar: ``first 40 of 57 groups``; empty if all have one."""
    every = sum(name not in RESERVED for name in reading.cells)
    return f"first {MOST_CELLS} of {whole(every)} groups" if every > MOST_CELLS else ""


def _title(reading: ColumnReading) -> str:
    name, cut = safe(shorten(reading.label, 28)), _cut(reading)
    return f"{name}<br>{cut}" if cut else name


def _bars(reading: ColumnReading, schema: Schema) -> go.Bar:
    shares, words, drawn = reading.shares, cell_words(reading.axis, schema), _drawn(reading)
    values = shares.values[drawn]
    return go.Bar(
        x=list(range(len(drawn))),
        y=values,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": (shares.high[drawn] - values).clip(min=0),
            "arrayminus": (values - shares.low[drawn]).clip(min=0),
            "thickness": 1,
            "width": 2,
            "color": INK,
        },
        marker={"color": colour(0), "line": {"color": INK, "width": 0.4}},
        hovertext=[f"{safe(words[cell])}: {share_words(shares.amount(cell))}" for cell in drawn],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def overview_alt(readings: Sequence[ColumnReading], schema: Schema) -> str:
    """The sheet in words: the middle of each number, the largest group of each other column."""
    each = [(most_of(reading, schema), _cut(reading)) for reading in readings]
    return "; ".join(f"{most} ({cut} drawn)" if cut else most for most, cut in each) + ". Bars show each column."


def most_of(reading: ColumnReading, schema: Schema) -> str:
    """One column in a few words."""
    if reading.quantiles and not reading.axis.rows:
        return f"{reading.label}: median {figure_words(reading.quantiles[0.5], unit_of(reading.axis, schema))}"
    names = cell_words(reading.axis, schema)
    largest = max(range(len(names)), key=lambda cell: reading.shares.values[cell])
    return f"{reading.label}: most often {names[largest]}, {share_words(reading.shares.amount(largest))}"
