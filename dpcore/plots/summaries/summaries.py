"""One column of a first look in large: bars or steps with noise, for everybody or group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import plotly.graph_objects as go

from dpcore.arrays import Floats
from dpcore.domain.columns import RESERVED
from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.crosstab import crosstab
from dpcore.models.summaries.released.intervals import Cells
from dpcore.models.summaries.released.reading import ColumnReading
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import (
    cell_words,
    drawn_ends,
    figure_words,
    range_of_shares,
    share_alone,
    share_words,
    unit_of,
)
from dpcore.plots.palette import faded
from dpcore.plots.style import DASHES, INK, NAMES_DOWN, colour, lay_out, safe, shorten

#: Most bars, and most groups, of one figure; the table holds the rest.
MOST_BARS, MOST_GROUPS = 40, 5
_PATTERNS = ("", "/", "x", "-", "\\")
#: An axis of shares for bars, and for lines over many cells, each of which may hold little.
_WHOLE: Final = {"tickformat": ".0%", "range": [0, 1], "nticks": 6}
_SHARES: Final = {"tickformat": ".0%", "rangemode": "tozero", "nticks": 6}
_TRUTH, _PALE = "#c4622d", "#c3ccd0"
_BAND = 0.22
#: Periods that are named below a line over time.
_PERIODS_NAMED = 6
#: An alternative text tells every cell of a short column, and the largest of a long one.
_TOLD = 12


@dataclass(frozen=True)
class Series:
    """Shares of the cells of a column, of everybody or of one group."""

    name: str
    """Of the group; empty of everybody."""
    shares: Cells


@dataclass(frozen=True)
class Column:
    """What a figure of one column is made of."""

    reading: ColumnReading
    names: tuple[str, ...]
    """Of all cells, for people."""
    unit: str
    who: str
    series: tuple[Series, ...]
    ends: tuple[float, ...] | None
    """Where the cells of a number begin and end in the picture."""
    truth: Floats | None = None
    """True shares; for public records only."""

    @property
    def steps(self) -> bool:
        """Whether it is drawn along an axis of numbers."""
        return self.ends is not None

    @property
    def time(self) -> bool:
        """Whether its cells follow each other in time."""
        return self.reading.axis.time


def everybody(schema: Schema, reading: ColumnReading, counts: Floats | None = None) -> Column:
    """A column of all together; ``counts`` are true ones, of public records."""
    truth = None if counts is None else counts / max(float(counts.sum()), 1.0)
    return _column(schema, reading, (Series("", reading.shares),), truth)


def by_group(model: SummaryModel, schema: Schema, reading: ColumnReading) -> Column:
    """A column within each group, the largest groups if there are many; in their own order.

    A group whose number of people noise may well halve has intervals that would hide all others.
    """
    assert model.by is not None
    table = crosstab(model, schema, model.by, model.axes.index(reading.axis))
    largest = sorted(range(len(table.row_cells)), key=lambda row: -table.sizes.values[row])
    clear = [row for row in largest[:MOST_GROUPS] if table.sizes.low[row] > table.sizes.values[row] / 2]
    shown = sorted(clear) or largest[:1]
    made = (Cells(table.shares.values[row], table.shares.low[row], table.shares.high[row]) for row in shown)
    series = tuple(Series(table.row_cells[row], own) for row, own in zip(shown, made, strict=True))
    return _column(schema, reading, series, None)


def _column(schema: Schema, reading: ColumnReading, series: tuple[Series, ...], truth: Floats | None) -> Column:
    axis = reading.axis
    ends = drawn_ends(reading, schema)
    people = counted(schema).several
    return Column(reading, cell_words(axis, schema), unit_of(axis, schema), people, series, ends, truth)


def column_figure(column: Column) -> go.Figure:
    """The distribution of one column, with 95 % intervals for the noise."""
    if column.steps:
        return _number_figure(column)
    return _time_figure(column) if column.time else _category_figure(column)


def _lay_out(
    figure: go.Figure, column: Column, x: Mapping[str, object], y: Mapping[str, object], **more: object
) -> None:
    many, axis = len(column.series) > 1, {"fixedrange": True, "automargin": True}
    lay_out(
        figure,
        {**axis, **x},
        {**axis, **y},
        dragmode=False,
        margin={"l": 10, "r": 30, "t": 44 if many else 12, "b": 60},
        showlegend=many or column.truth is not None,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        **more,
    )


def column_alt(column: Column) -> str:
    """The same in words."""
    reading = column.reading
    start = f"Distribution of {reading.label}."
    if reading.mean is not None and not reading.axis.rows:
        median = figure_words(reading.quantiles[0.5], column.unit)
        start += f" Mean {figure_words(reading.mean, column.unit)}, median {median}."
    parts = [_series_words(column, series) for series in column.series]
    return " ".join([start, *parts, "The table below holds every group."])


def _series_words(column: Column, series: Series) -> str:
    order = sorted(range(len(column.names)), key=lambda place: -series.shares.values[place])
    told = ", ".join(f"{column.names[place]} {share_words(series.shares.amount(place))}" for place in order[:_TOLD])
    return f"{series.name}: {told}." if series.name else f"{told}."


# Categories


def shown_cells(column: Column) -> list[int]:
    """Cells that have a bar, in the order of the schema: the largest if there are many.

    Those for no value have one only if somebody seems to be in them.
    """
    shares, cells = column.reading.shares, column.reading.cells
    kept = [place for place, cell in enumerate(cells) if cell not in RESERVED or shares.low[place] > 0]
    return sorted(sorted(kept, key=lambda place: -shares.values[place])[:MOST_BARS])


def _category_figure(column: Column) -> go.Figure:
    shown = shown_cells(column)
    rows = list(range(len(shown)))
    figure = go.Figure()
    for code, series in enumerate(column.series):
        values = series.shares.values[shown]
        figure.add_trace(
            go.Bar(
                name=safe(series.name or f"share of {column.who}"),
                orientation="h",
                y=rows,
                x=values,
                error_x=_whiskers(series.shares, shown),
                marker={
                    "color": [_bar_colour(column, place, code) for place in shown],
                    "line": {"color": INK, "width": 0.7},
                    "pattern": {"shape": _PATTERNS[code % len(_PATTERNS)]},
                },
                hovertext=[_hover(column, series, place) for place in shown],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    if column.truth is not None:
        figure.add_trace(_true_points(column.truth[shown], rows))
    labels = [safe(shorten(column.names[place], 32)) for place in shown]
    _lay_out(
        figure,
        column,
        {"title": {"text": _share_title(column)}, **_WHOLE},
        {**NAMES_DOWN, "tickvals": rows, "ticktext": labels},
        height=110 + len(shown) * (20 + 16 * len(column.series)),
        barmode="group",
        bargap=0.3,
    )
    return figure


def _bar_colour(column: Column, place: int, code: int) -> str:
    if len(column.series) == 1 and column.reading.cells[place] in RESERVED:
        return _PALE
    return colour(code)


def _whiskers(shares: Cells, shown: Sequence[int]) -> dict[str, object]:
    values = shares.values[shown]
    return {
        "type": "data",
        "symmetric": False,
        "array": np.maximum(shares.high[shown] - values, 0.0),
        "arrayminus": np.maximum(values - shares.low[shown], 0.0),
        "thickness": 2,
        "width": 5,
        "color": INK,
    }


def _true_points(shares: Floats, rows: Sequence[int]) -> go.Scatter:
    return go.Scatter(
        name="true share",
        mode="markers",
        x=shares,
        y=list(rows),
        marker={"symbol": "diamond-open", "size": 10, "color": _TRUTH, "line": {"width": 2}},
        hoverinfo="skip",
    )


def _share_title(column: Column) -> str:
    return f"share of {column.who}" if len(column.series) < 2 else f"share of {column.who} in each group"


def _hover(column: Column, series: Series, place: int) -> str:
    of = f"{safe(series.name)}<br>" if series.name else ""
    amount = series.shares.amount(place)
    return f"{of}{safe(column.names[place])}: {share_alone(amount)}<br>noise alone: {range_of_shares(amount)}"


# Over time


def _time_figure(column: Column) -> go.Figure:
    """From the first period in which somebody seems to be to the last: a line with its band."""
    shown = shown_periods(column)
    places = list(range(len(shown)))
    figure = go.Figure()
    for code, series in enumerate(column.series):
        shade = colour(code)
        hidden = {"mode": "lines", "x": places, "hoverinfo": "skip", "showlegend": False, "legendgroup": str(code)}
        thin = {"width": 0}
        figure.add_trace(go.Scatter(name="lower end", y=series.shares.low[shown], line=thin, **hidden))
        band = {"fill": "tonexty", "fillcolor": faded(shade, _BAND)}
        figure.add_trace(go.Scatter(name="noise", y=series.shares.high[shown], line=thin, **band, **hidden))
        figure.add_trace(
            go.Scatter(
                name=safe(series.name or f"share of {column.who}"),
                mode="lines+markers",
                x=places,
                y=series.shares.values[shown],
                line={"color": shade, "width": 2.5, "dash": DASHES[code % len(DASHES)]},
                marker={"size": 6, "color": shade},
                hovertext=[_hover(column, series, place) for place in shown],
                hovertemplate="%{hovertext}<extra></extra>",
                legendgroup=str(code),
            )
        )
    if column.truth is not None:
        points = _true_points(np.asarray(places), [])
        points.update(x=places, y=column.truth[shown])
        figure.add_trace(points)
    every = max(1, -(-len(shown) // _PERIODS_NAMED))
    labels = [safe(shorten(column.names[place], 16)) for place in shown[::every]]
    name = {"text": safe(shorten(column.reading.label))}
    _lay_out(
        figure,
        column,
        {"title": name, "tickvals": places[::every], "ticktext": labels, "tickangle": 0},
        {"title": {"text": _share_title(column)}, **_SHARES},
        height=360,
        hovermode="closest",
    )
    return figure


def shown_periods(column: Column) -> list[int]:
    """Cells of time from the first to the last in which somebody seems to be; all, if there is none."""
    cells = [place for place, cell in enumerate(column.reading.cells) if cell not in RESERVED]
    seen = [place for place in cells if any(series.shares.low[place] > 0 for series in column.series)]
    return cells if not seen else [place for place in cells if seen[0] <= place <= seen[-1]]


# Numbers


def _number_figure(column: Column) -> go.Figure:
    ends = column.ends
    assert ends is not None
    widths = np.diff(ends)
    unit_width = float(np.median(widths))
    figure = go.Figure()
    for code, series in enumerate(column.series):
        shares = series.shares
        scaled = [own[: len(widths)] / widths * unit_width for own in (shares.values, shares.low, shares.high)]
        _steps(figure, column, series, code, scaled)
    if column.truth is not None:
        middles = [(low + high) / 2 for low, high in pairwise(ends)]
        points = _true_points(np.asarray(middles), [])
        points.update(x=middles, y=column.truth[: len(widths)] / widths * unit_width)
        figure.add_trace(points)
    even = bool(np.allclose(widths, unit_width))
    each = "" if even else f"<br>for every {unit_width:,.4g} {safe(column.unit)}".rstrip()
    label = column.reading.label
    of = f" ({column.unit})" if column.unit and not label.endswith(f"({column.unit})") else ""
    _lay_out(
        figure,
        column,
        {"title": {"text": safe(shorten(f"{label}{of}"))}, "range": [ends[0], ends[-1]], "nticks": 8},
        {"title": {"text": _share_title(column) + each}, **_SHARES},
        height=360,
        hovermode="closest",
    )
    return figure


def _steps(figure: go.Figure, column: Column, series: Series, code: int, scaled: Sequence[Floats]) -> None:
    """The line of one series over its band."""
    ends = column.ends
    assert ends is not None
    value, low, high = ([*own, own[-1]] for own in scaled)
    shade = colour(code)
    hidden = {"mode": "lines", "x": ends, "hoverinfo": "skip", "showlegend": False, "legendgroup": str(code)}
    thin = {"width": 0, "shape": "hv"}
    figure.add_trace(go.Scatter(name="lower end", y=low, line=thin, **hidden))
    figure.add_trace(
        go.Scatter(name="noise", y=high, line=thin, fill="tonexty", fillcolor=faded(shade, _BAND), **hidden)
    )
    figure.add_trace(
        go.Scatter(
            name=safe(series.name or f"share of {column.who}"),
            mode="lines",
            x=ends,
            y=value,
            line={"color": shade, "width": 2.5, "shape": "hv", "dash": DASHES[code % len(DASHES)]},
            hoverinfo="skip",
            legendgroup=str(code),
        )
    )
    figure.add_trace(
        go.Scatter(
            name="cells",
            mode="markers",
            x=[(a + b) / 2 for a, b in pairwise(ends)],
            y=scaled[0],
            marker={"size": 9, "color": shade, "opacity": 0},
            hovertext=[_hover(column, series, place) for place in range(len(ends) - 1)],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )
