"""All columns at a glance: a small picture of each, drawn by the browser from widths and heights."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from dpcore.domain.columns import RESERVED
from dpcore.domain.conditions import amount
from dpcore.models.summaries.released.summary_words import (
    cell_words,
    drawn_ends,
    figure_words,
    range_of_shares,
    strength_words,
    unit_of,
)
from dpcore.numerals import percent
from dpcore.plots.summaries.summaries_overview import most_of
from pages.components.families.summaries.summary_state import Look

#: Lines of a card; the large picture holds all.
_MOST_LINES = 5
#: A column with an order and more cells than this is a row of bars that stand.
_FEW = 6
#: Missing values are told on a card from this share on, if they stand out from the noise.
_MUCH_MISSING = 0.01


def render(look: Look) -> None:
    """Cards of all columns, in the chosen order."""
    told = look.readings
    cards = "".join(_card(look, place, told[place]) for place in look.order())
    st.html(f'<div class="fg-looks" role="list" aria-label="All columns">{cards}</div>')


def _card(look: Look, place: int, reading: Any) -> str:
    standing = reading.ends is not None or (_ordered(look, reading) and len(reading.cells) > _FEW + len(RESERVED))
    body = _histogram(look, reading) if standing else _lines(look, reading)
    marks = "".join(f"<li>{escape(mark)}</li>" for mark in _marks(look, place, reading, standing=standing))
    return (
        f'<div class="fg-look" role="listitem"><h4>{escape(reading.label)}</h4>{body}'
        f'<ul class="fg-look-marks">{marks}</ul></div>'
    )


def _ordered(look: Look, reading: Any) -> bool:
    return bool(reading.axis.rows or look.schema.column(reading.axis.column).ordered)


def _marks(look: Look, place: int, reading: Any, *, standing: bool) -> list[str]:
    """What a reader should not miss."""
    marks = []
    if reading.quantiles and not reading.axis.rows:
        marks.append(f"median {figure_words(reading.quantiles[0.5], unit_of(reading.axis, look.schema))}")
    if standing and reading.missing is not None and reading.missing.low > 0 and reading.missing.value >= _MUCH_MISSING:
        marks.append(f"{percent(reading.missing.value)} missing")
    if place in look.differences:
        marks.append(f"standardised difference {strength_words(look.differences[place])}")
    if place == look.model.by:
        marks.append("the groups that are compared")
    return marks


def _lines(look: Look, reading: Any) -> str:
    """A bar for each category: lying, from 0 to 100 % of its track, with the interval as a thin line."""
    names, shares = cell_words(reading.axis, look.schema), reading.shares
    kept = _largest(reading)
    rows = []
    for cell in kept:
        amount = shares.amount(cell)
        style = "none" if reading.cells[cell] in RESERVED else ""
        rows.append(
            f'<li title="{escape(names[cell])}: {range_of_shares(amount)}">'
            f'<span class="name">{escape(names[cell])}</span>'
            f'<span class="bar {style}"><i style="width:{100 * amount.value:.1f}%"></i>'
            f"{_interval(amount)}</span><b>{percent(amount.value)}</b></li>"
        )
    more = len([cell for cell in reading.cells if cell not in RESERVED]) - len(
        [cell for cell in kept if reading.cells[cell] not in RESERVED]
    )
    rest = f'<p class="rest">and {more} more</p>' if more > 0 else ""
    return f'<ul class="fg-look-lines">{"".join(rows)}</ul>{rest}'


def _interval(amount: Any) -> str:
    left, width = 100 * amount.low, 100 * (amount.high - amount.low)
    return f'<u style="left:{left:.1f}%;width:{width:.1f}%"></u>'


def _largest(reading: Any) -> list[int]:
    """Cells that have a line, in their own order; those for no value only if somebody is in them."""
    shares = reading.shares
    seen = [
        cell
        for cell, name in enumerate(reading.cells)
        if name not in RESERVED or (shares.low[cell] > 0 and shares.values[cell] >= _MUCH_MISSING)
    ]
    return sorted(sorted(seen, key=lambda cell: -shares.values[cell])[:_MOST_LINES])


def _histogram(look: Look, reading: Any) -> str:
    """A standing bar for each cell, with the interval as a band at its end."""
    known = [cell for cell, name in enumerate(reading.cells) if name not in RESERVED]
    widths = _widths(look, reading, known)
    heights = [_scaled(reading.shares, cell, width) for cell, width in zip(known, widths, strict=True)]
    highest = max((high for _, _, high in heights), default=1.0) or 1.0
    bars = "".join(
        f'<span style="flex-grow:{width:.4g}"><i style="height:{100 * value / highest:.1f}%"></i>'
        f'<u style="bottom:{100 * low / highest:.1f}%;height:{100 * (high - low) / highest:.1f}%"></u></span>'
        for width, (value, low, high) in zip(widths, heights, strict=True)
    )
    top = f'<div class="fg-look-top">{escape(_top(reading, known, widths))}</div>'
    names = cell_words(reading.axis, look.schema)
    first, last = _ends(look, reading) or (names[known[0]], names[known[-1]])
    alt = escape(most_of(reading, look.schema))
    return (
        f'{top}<div class="fg-look-bars" role="img" aria-label="{alt}">{bars}</div>'
        f'<div class="fg-look-ends"><span>{escape(first)}</span><span>{escape(last)}</span></div>'
    )


def _top(reading: Any, known: Sequence[int], widths: Sequence[float]) -> str:
    """The share of the highest bar, which gives the others their scale; nothing where bars differ in width."""
    if max(widths) > 1.01 * min(widths):
        return "bars of unequal width: area is the share"
    return f"highest bar {percent(float(max(reading.shares.values[cell] for cell in known)))}"


def _ends(look: Look, reading: Any) -> tuple[str, str] | None:
    """Both ends of an axis of numbers."""
    if reading.ends is None or reading.axis.rows:
        return None
    unit = unit_of(reading.axis, look.schema)
    return amount(reading.ends[0], unit), amount(reading.ends[-1], unit)


def _widths(look: Look, reading: Any, known: Sequence[int]) -> list[float]:
    """How wide the bars are: as the cells of a number, with the usual one as 1."""
    ends = drawn_ends(reading, look.schema)
    if ends is None:
        return [1.0] * len(known)
    raw = [high - low for low, high in pairwise(ends)]
    usual = sorted(raw)[len(raw) // 2]
    return [width / usual for width in raw]


def _scaled(shares: Any, cell: int, width: float) -> tuple[float, float, float]:
    return tuple(float(own[cell]) / width for own in (shares.values, shares.low, shares.high))  # type: ignore[return-value]
