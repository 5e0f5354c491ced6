"""Redescriptions as points that a browser marks by itself: one figure, and a style sheet for each position.

The figure is the same for every threshold and whichever redescription is read, so it is sent and drawn
once. Every point is in it twice, as kept and as set aside, and a style sheet hides one of the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.plots.redescriptions import frame_points, points_trace, spread_of, support_steps, upright
from dpcore.plots.style import INK, SOFT


def moved_figure(found: RedescriptionSet, *, aside: bool = True) -> go.Figure:
    """All redescriptions, once as set aside and once as kept, and a line to be moved.

    Points stand in the order of their support, so that a style sheet can tell them apart by their number.

    Parameters
    ----------
    aside : bool
        Also show what is not kept.
    """
    order = _order(found)
    figure = go.Figure()
    if aside:
        figure.add_trace(points_trace(found.found, order, "set aside", kept=False))
    figure.add_trace(points_trace(found.found, order, "kept", kept=True, intervals=True))
    figure.update_traces(selected={"marker": {"opacity": 0.8}})
    spread = spread_of(found)
    bottom = frame_points(figure, [found.found[place] for place in order], spread)
    if found.suggested_support > 0:
        name = f"suggested: {found.suggested_support:,}"
        figure.add_trace(upright(name, found.suggested_support, "dot", SOFT, bottom))
    # Only its left edge is seen: the others lie outside of what is drawn.
    figure.add_shape(
        type="rect",
        x0=spread[0],
        x1=spread[1],
        y0=bottom - 1,
        y1=3,
        line={"width": 2, "color": INK},
        name="kept from here on",
        showlegend=True,
    )
    return figure


def _order(found: RedescriptionSet) -> list[int]:
    items = found.found
    return sorted(range(len(items)), key=lambda place: (items[place].support, place))


def threshold_styles(found: RedescriptionSet, points: str, slider: str, named: Callable[[int], str]) -> str:
    """A style sheet that hides, for each position of the slider, what is set aside there.

    Parameters
    ----------
    points, slider : str
        Keys of the figure and of the slider on the page.
    named : callable
        What the slider says at each of its steps.

    Returns
    -------
    str
        CSS without the tags around it.
    """
    supports = np.sort([item.support for item in found.found])
    low, high = map(math.log10, spread_of(found))
    here = f".{_name(points)}"
    last = 2 if found.suggested_support > 0 else 1  # Place of what is kept, from the end.
    rules = []
    for step in support_steps(found):
        moved = f':root:has(.{_name(slider)} input[aria-valuetext="{named(step)}"]) {here}'
        below = int(np.searchsorted(supports, step))
        hidden = [
            f"{moved} .trace:nth-last-child({last}) :is(.point, .errorbar):nth-child(-n+{below})",
            f"{moved} .trace:nth-last-child({last + 1}) .point:nth-child(n+{below + 1})",
        ]
        rules.append(f"{', '.join(hidden)} {{ visibility: hidden; }}")
        line = f"{moved} .shapelayer path"
        if step > 10**low:  # Further left, nobody would see the line.
            along = (math.log10(step) - low) / (high - low)
            rules.append(f"{line} {{ transform-box: fill-box; transform: translateX({100 * along:.3f}%); }}")
        else:
            rules.append(f"{line} {{ visibility: hidden; }}")
    return "\n".join(rules)


def reading_styles(found: RedescriptionSet, chosen: Redescription | None, points: str, *, intervals: bool) -> str:
    """A style sheet that rings the one that is read, and shows its interval or those of all.

    Returns
    -------
    str
        CSS without the tags around it.
    """
    here = f".{_name(points)}"
    number = 0
    if chosen is not None:
        number = 1 + next(n for n, place in enumerate(_order(found)) if found.found[place] is chosen)
    rules = []
    if not intervals:
        rules.append(f"{here} .errorbar:not(:nth-child({number})) {{ visibility: hidden; }}")
    if number:
        rules.append(
            f"{here} .point:nth-child({number}) {{ stroke: var(--ink) !important; stroke-width: 5px !important; "
            "opacity: 1 !important; paint-order: stroke; }"
        )
    return "\n".join(rules)


def _name(key: str) -> str:
    """The class that Streamlit gives to what has a key."""
    return "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip())


def moved_alt(found: RedescriptionSet) -> str:
    """The figure in words, wherever the threshold stands; the table holds the rest."""
    total = len(found.found)
    counted = (
        f"Of {total:,} redescriptions, {len(found.pruned(found.suggested_support)):,} have a noisy support of the "
        f"suggested threshold, {found.suggested_support:,}, or more."
    )
    best = max(found.found, key=lambda item: item.jaccard)
    largest = max(found.found, key=lambda item: item.support)
    return (
        f"The highest noisy Jaccard index is {best.jaccard:.2f}, with a noisy support of {best.support:,.0f}; the "
        f"largest support is {largest.support:,.0f}, with a Jaccard index of {largest.jaccard:.2f}. {counted}"
    )
