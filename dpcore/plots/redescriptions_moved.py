"""Redescriptions as points that a browser marks by itself: one figure, and a style sheet for each position.

The figure is the same for every threshold and whichever redescription is read, so it is sent and drawn
once. Every point is in it as kept and as set aside, and a style sheet hides one of the two. Beneath them it has
a ring, which is what the pointer meets; plotly shows the ring of the point that was clicked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.numerals import whole
from dpcore.plots.redescriptions import beside_largest, frame_points, points_trace, spread_of, support_steps, upright
from dpcore.plots.style import INK, SOFT

#: Opacity of a ring that is seen. No other opacity of the figure is the same, so that style sheets know it by that.
_SEEN = 0.95
_UNSEEN = "rgba(0,0,0,0)"
_RINGS = ".trace:first-child .point"


def moved_figure(found: RedescriptionSet, *, aside: bool = True) -> go.Figure:
    """All redescriptions, once as set aside and once as kept, and a line to be moved.

    Points stand in the order of their support, so that a style sheet can tell them apart by their number.

    Parameters
    ----------
    aside : bool
        Also show what is not kept.
    """
    order = _order(found)
    figure = go.Figure(_rings(found, order))
    if aside:
        figure.add_trace(_unmet(points_trace(found.found, order, "set aside", kept=False)))
    figure.add_trace(_unmet(points_trace(found.found, order, "kept", kept=True, intervals=True)))
    spread = spread_of(found)
    bottom = frame_points(figure, [found.found[place] for place in order], spread)
    if found.suggested_support > 0:
        name = f"suggested: {whole(found.suggested_support)}"
        figure.add_trace(upright(name, found.suggested_support, "dot", SOFT, bottom))
    whole_plot = {"type": "rect", "x0": spread[0], "x1": spread[1], "y0": bottom - 1, "y1": 3}
    # Only its left edge is seen: the others lie outside of what is drawn.
    figure.add_shape(**whole_plot, line={"width": 2, "color": INK}, name="kept from here on", showlegend=True)
    if not aside:
        figure.add_shape(**whole_plot, line={"width": 0}, fillcolor=_UNSEEN, name="cover")
    return figure


def _rings(found: RedescriptionSet, order: list[int]) -> go.Scatter:
    """A ring for every point, seen once it is clicked."""
    rings = points_trace(found.found, order, "ring", kept=True)
    marker = {"symbol": "circle", "size": 17, "color": _UNSEEN, "opacity": 0}
    rings.update(marker={**marker, "line": {"width": 2.5, "color": INK}}, showlegend=False, overwrite=True)
    rings.update(selected={"marker": {"opacity": _SEEN}}, unselected={"marker": {"opacity": 0}}, overwrite=True)
    return rings


def _unmet(points: go.Scatter) -> go.Scatter:
    """Points that are seen, but that the pointer does not meet."""
    points.update(text=None, customdata=None, hovertemplate=None, hoverinfo="skip", overwrite=True)
    points.update(selected={"marker": {"opacity": points.marker.opacity}}, overwrite=True)
    return points


def _order(found: RedescriptionSet) -> list[int]:
    items = found.found
    return sorted(range(len(items)), key=lambda place: (items[place].support, place))


def threshold_styles(
    found: RedescriptionSet, points: str, slider: str, named: Callable[[int], str], *, aside: bool = True
) -> str:
    """A style sheet that hides, for each position of the slider, what is set aside there.

    Parameters
    ----------
    points, slider : str
        Keys of the figure and of the slider on the page.
    named : callable
        What the slider says at each of its steps.
    aside : bool
        Whether the figure shows what is set aside. If not, the pointer does not meet it either.

    Returns
    -------
    str
        CSS without the tags around it.
    """
    supports = np.sort([item.support for item in found.found])
    low, high = map(math.log10, spread_of(found))
    here = f".{_name(points)}"
    last = 2 if found.suggested_support > 0 else 1  # Place of what is kept, from the end.
    rules = [f"{_line(here)}, {_cover(here)} {{ transform-box: fill-box; }}"]
    if not aside:
        rules.append(f"{_cover(here)} {{ pointer-events: all; }}")
    for step in support_steps(found):
        moved = f':root:has(.{_name(slider)} input[aria-valuetext="{named(step)}"]) {here}'
        below = int(np.searchsorted(supports, step))
        hidden = [
            f"{moved} .trace:nth-last-child({last}) :is(.point, .errorbar):nth-child(-n+{below})",
            f"{moved} .trace:nth-last-child({last + 1}) .point:nth-child(n+{below + 1})"
            if aside
            else f"{moved} {_RINGS}:nth-child(-n+{below})",
        ]
        rules.append(f"{', '.join(hidden)} {{ visibility: hidden; }}")
        along = 100 * (math.log10(max(step, 10**low)) - low) / (high - low)
        seen = "" if along else " visibility: hidden;"  # Further left, nobody would see the line.
        rules.append(f"{_line(moved)} {{ transform: translateX({along:.3f}%);{seen} }}")
        if not aside:
            rules.append(f"{_cover(moved)} {{ transform: translateX({along - 100:.3f}%); }}")
    return "\n".join(rules)


def _line(where: str) -> str:
    return f'{where} .shapelayer path[data-index="0"]'


def _cover(where: str) -> str:
    return f'{where} .shapelayer path[data-index="1"]'


def reading_styles(
    found: RedescriptionSet,
    chosen: Redescription | None,
    points: str,
    *,
    clicked: Redescription | None = None,
    intervals: bool,
) -> str:
    """A style sheet that rings the one that is read, and shows its interval or those of all.

    A point that is clicked has its ring from plotly at once. The style sheet takes that ring away if another
    one has been chosen since by other means, and holds its own back if yet another point is clicked.

    Parameters
    ----------
    clicked : Redescription or None
        Whose point was clicked last.

    Returns
    -------
    str
        CSS without the tags around it.
    """
    here = f".{_name(points)}"
    number = _number(found, chosen)
    left = 0 if clicked is chosen else _number(found, clicked)
    rules = []
    if not intervals:
        rules.append(f"{here} .errorbar:not(:nth-child({number})) {{ visibility: hidden; }}")
    if left:
        rules.append(f"{here} {_RINGS}:nth-child({left}) {{ opacity: 0 !important; }}")
    if number:
        anew = f'{_RINGS}[style*="opacity: {_SEEN}"]:not(:nth-child({left}))'
        rules.append(f"{here}:not(:has({anew})) {_RINGS}:nth-child({number}) {{ opacity: {_SEEN} !important; }}")
    return "\n".join(rules)


def _number(found: RedescriptionSet, item: Redescription | None) -> int:
    """Which point of the figure it is, from 1; 0 without any."""
    return 0 if item is None else 1 + next(n for n, place in enumerate(_order(found)) if found.found[place] is item)


def _name(key: str) -> str:
    """The class that Streamlit gives to what has a key."""
    return "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip())


def moved_alt(found: RedescriptionSet) -> str:
    """The figure in words, wherever the threshold stands; the table holds the rest."""
    total = len(found.found)
    counted = (
        f"Of {whole(total)} redescriptions, {whole(len(found.pruned(found.suggested_support)))} have a noisy support "
        f"of the suggested threshold, {whole(found.suggested_support)}, or more."
    )
    best = max(found.found, key=lambda item: item.jaccard)
    return f"The highest {beside_largest(best, found.found)} {counted}"
