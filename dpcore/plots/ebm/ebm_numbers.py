"""The shape of a numeric column: a step line with its noise, and where the records are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpcore.arrays import Array
from dpcore.domain.columns import Column, IntegerColumn
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.numerals import minus, whole
from dpcore.plots.ebm.ebm_details import axis_title, details, score_limits, score_ticks, title
from dpcore.plots.palette import faded
from dpcore.plots.style import DASHES, FAINT, GRID, INK, SOFT, SYMBOLS, colour, lay_out, safe
from dpcore.plots.ticks import nice_ticks
from dpcore.released.evaluation import Z95

_BAND = 0.18
_BARS, _BELOW, _TRUTH = "#8fc3d2", "#c9a0a0", "#c4622d"
#: A symbol on every bin would hide the lines where there are more.
_MARKED = 12
#: Share of the axis that a number needs.
_ROOM = 0.05


def spans(axis: Axis, column: Column) -> list[tuple[float, float]]:
    """Where each bin of numbers is drawn. Whole numbers get half a unit on either side."""
    points = list(axis.points)
    if isinstance(column, IntegerColumn):
        points = [points[0] - 0.5, *(math.floor(point) + 0.5 for point in points[1:])]
    thin = 0.004 * (points[-1] - points[0])
    return [(min(low, high - thin), high) for low, high in pairwise(points)]


def number_figure(words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None) -> go.Figure:
    """Step line over the true axis with a 95 % noise band; noisy records per unit below it."""
    return _Drawing(words, term, outputs, truth).figure()


class _Drawing:
    def __init__(self, words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None) -> None:
        self._words, self._term, self._outputs, self._truth = words, term, outputs, truth
        self._column = words.schema.column(term.axes[0].column)
        self._spans = spans(term.axes[0], self._column)
        self._start, self._end = self._spans[0][0], self._spans[-1][1]
        self._missing = self._end + 0.16 * (self._end - self._start)
        self._scores, self._errors = np.asarray(term.scores), np.asarray(term.errors)
        self._limits = score_limits(term, outputs)

    def figure(self) -> go.Figure:
        figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.06)
        for trace in self._upper():
            figure.add_trace(trace, row=1, col=1)
        for trace in self._lower():
            figure.add_trace(trace, row=2, col=1)
        marks, length = nice_ticks(self._start, self._end), self._end - self._start
        across = {
            "range": [self._start - 0.02 * length, self._missing + 0.1 * length],
            "tickvals": [*marks, self._missing],
            "ticktext": [minus(f"{mark:,g}") for mark in marks] + ["missing"],
            "gridcolor": "#e9eef0",
            "fixedrange": True,
            "zeroline": False,
            "tickangle": 0,
        }
        up = {"gridcolor": GRID, "zerolinecolor": SOFT, "zerolinewidth": 1.5, "automargin": True, "fixedrange": True}
        ticks = score_ticks(self._words, *self._limits)
        lay_out(
            figure,
            across,
            {"title": title(self._words, self._outputs), "range": list(self._limits), **ticks, **up},
            xaxis2={"title": axis_title(self._column), **across},
            yaxis2={"title": "noisy records<br>per unit", "nticks": 4, **up},
            height=520,
            dragmode=False,
            hovermode="closest",
            barmode="overlay",
            margin={"l": 10, "r": 20, "t": 40 if len(self._outputs) > 1 else 12, "b": 50},
            showlegend=len(self._outputs) > 1,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        )
        figure.add_vline((self._end + self._missing) / 2, line={"color": FAINT, "dash": "dot", "width": 1.5})
        return figure

    # Scores

    def _upper(self) -> Iterator[go.Scatter | go.Bar]:
        for output in self._outputs:
            yield self._band(output)
        for place, output in enumerate(self._outputs):
            yield self._line(output)
            if len(self._outputs) > 1:
                yield self._symbols(output)
            yield self._missing_mark(place, output)
        yield self._hover()

    def _steps(self, values: Iterable[float]) -> tuple[list[float], list[float]]:
        x = [end for span in self._spans for end in span]
        return x, [value for value in values for _ in range(2)]

    def _band(self, output: int) -> go.Scatter:
        scores, errors = self._scores[:-1, output], self._errors[:-1, output]
        x, high = self._steps(scores + Z95 * errors)
        _, low = self._steps(scores - Z95 * errors)
        return go.Scatter(
            name=f"noise of {safe(self._words.outcome(output))}",
            x=x + x[::-1],
            y=high + low[::-1],
            mode="lines",
            fill="toself",
            line={"width": 0},
            fillcolor=faded(colour(output), _BAND),
            hoverinfo="skip",
            showlegend=False,
        )

    def _line(self, output: int) -> go.Scatter:
        x, y = self._steps(self._scores[:-1, output])
        return go.Scatter(
            name=safe(self._words.outcome(output)),
            x=x,
            y=y,
            mode="lines",
            hoverinfo="skip",
            legendgroup=str(output),
            showlegend=len(self._outputs) == 1,
            line={"color": colour(output), "width": 2.5, "dash": DASHES[output % len(DASHES)]},
        )

    def _symbols(self, output: int) -> go.Scatter:
        """A symbol per class on some of the bins; the legend shows it with its line."""
        bins = range(0, len(self._spans), 1 + (len(self._spans) - 1) // _MARKED)
        return go.Scatter(
            name=safe(self._words.outcome(output)),
            mode="lines+markers",
            x=[x for code in bins for x in (sum(self._spans[code]) / 2, None)],
            y=[y for code in bins for y in (self._scores[code, output], None)],
            marker={"color": colour(output), "symbol": SYMBOLS[output % len(SYMBOLS)], "size": 9},
            line={"color": colour(output), "width": 2.5, "dash": DASHES[output % len(DASHES)]},
            hoverinfo="skip",
            legendgroup=str(output),
        )

    def _missing_mark(self, place: int, output: int) -> go.Scatter:
        shift = (place - (len(self._outputs) - 1) / 2) * 0.022 * (self._end - self._start)
        return go.Scatter(
            name="missing",
            x=[self._missing + shift],
            y=[self._scores[-1, output]],
            mode="markers",
            hoverinfo="skip",
            legendgroup=str(output),
            showlegend=False,
            marker={"color": colour(output), "symbol": SYMBOLS[output % len(SYMBOLS)], "size": 11},
            error_y={"type": "data", "array": [Z95 * self._errors[-1, output]], "width": 5, "thickness": 2},
        )

    def _hover(self) -> go.Bar:
        """Invisible bars over the whole height: whatever is pointed at tells its bin."""
        low, high = self._limits
        wide = 0.14 * (self._end - self._start)
        places = [*self._spans, (self._missing - wide / 2, self._missing + wide / 2)]
        return go.Bar(
            name="details",
            x=[(a + b) / 2 for a, b in places],
            width=[b - a for a, b in places],
            base=low,
            y=[high - low] * len(places),
            marker={"color": "rgba(0,0,0,0)"},
            hovertext=details(self._words, self._term, self._outputs, self._truth),
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )

    # Records

    def _lower(self) -> Iterator[go.Scatter | go.Bar]:
        widths = np.array([high - low for low, high in self._spans])
        counts = np.asarray(self._term.noisy_counts, dtype=float)
        density = counts[:-1] / widths
        margins = Z95 * np.asarray(self._term.count_errors)[:-1] / widths
        for name, wanted, shade, pattern in (
            ("noisy records", density >= 0, _BARS, ""),
            ("below 0", density < 0, _BELOW, "/"),
        ):
            if wanted.any():
                yield self._density(name, wanted, density, margins, shade, pattern)
        yield self._below(np.flatnonzero(density < 0))
        known = "" if self._truth is None else f"<br>(true {whole(self._truth[-1])})"
        yield go.Scatter(
            name="missing records",
            x=[self._missing],
            y=[0],
            mode="text",
            showlegend=False,
            text=[whole(self._term.noisy_counts[-1]) + known],
            textposition="top center",
            textfont={"size": 13, "color": INK},
            hoverinfo="skip",
            cliponaxis=False,
        )
        if self._truth is not None:
            yield self._true_density(np.asarray(self._truth, dtype=float)[:-1] / widths)

    def _density(self, name: str, wanted: Array, density: Array, margins: Array, shade: str, pattern: str) -> go.Bar:
        bins = np.flatnonzero(wanted)
        told = details(self._words, self._term, self._outputs, self._truth)
        return go.Bar(
            name=name,
            x=[sum(self._spans[code]) / 2 for code in bins],
            y=density[bins].tolist(),
            width=[self._spans[code][1] - self._spans[code][0] for code in bins],
            marker={
                "color": shade,
                "line": {"color": "#4b7f90", "width": 0.7},
                "pattern": {"shape": pattern, "fgcolor": INK},
            },
            error_y={"type": "data", "array": margins[bins].tolist(), "width": 2, "thickness": 1, "color": SOFT},
            hovertext=[told[code] for code in bins],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )

    def _below(self, bins: Array) -> go.Scatter:
        """Counts below zero in digits, or a sign where there is no room: bars may be too small."""
        room = _ROOM * (self._end - self._start)
        counts = [whole(self._term.noisy_counts[code]) for code in bins]
        wide = [self._spans[code][1] - self._spans[code][0] > room for code in bins]
        return go.Scatter(
            name="counts below 0",
            x=[sum(self._spans[code]) / 2 for code in bins],
            y=[0] * len(bins),
            mode="text",
            textposition="top center",
            showlegend=False,
            text=[count if fits else "▾" for count, fits in zip(counts, wide, strict=True)],
            textfont={"size": 12, "color": INK},
            hoverinfo="skip",
            cliponaxis=False,
        )

    def _true_density(self, density: Array) -> go.Scatter:
        return go.Scatter(
            name="true records",
            x=[sum(span) / 2 for span in self._spans],
            y=density.tolist(),
            mode="markers",
            showlegend=False,
            hoverinfo="skip",
            marker={"symbol": "diamond-open", "size": 8, "color": _TRUTH, "line": {"width": 2}},
        )
