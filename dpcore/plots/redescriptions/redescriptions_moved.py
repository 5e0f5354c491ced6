"""Redescriptions as points that a browser marks by itself: one figure, and a style sheet for each position.

The figure is the same for every threshold and whichever redescription is read, so it is sent and drawn
once. Every point is in it as kept and as set aside, and a style sheet hides one of the two. Beneath them it has
a ring, which is what the pointer meets; plotly shows the ring of the point that was clicked.

Points that every position treats alike are a part of their own, a trace of the figure. Style sheets hide traces:
rules for each position and point would take a browser seconds where there are a thousand points.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.numerals import whole
from dpcore.plots.redescriptions.redescription_points import (
    beside_largest,
    frame_points,
    points_trace,
    spread_of,
    support_steps,
    upright,
)
from dpcore.plots.style import INK, SOFT

#: Opacity of a ring that was clicked, of all others then, and of each while none is: style sheets know them by that.
_SEEN, _UNSEEN_BESIDE, _UNSEEN_ALONE = 0.95, 0, 0.001
_UNSEEN = "rgba(0,0,0,0)"


def moved_figure(found: RedescriptionSet, *, aside: bool = True) -> go.Figure:
    """All redescriptions, once as set aside and once as kept, and a line to be moved.

    Rings come first, part by part, then what is set aside, then what is kept; a style sheet can tell parts
    and their points apart by their numbers.

    Parameters
    ----------
    aside : bool
        Also show what is not kept.
    """
    parts = _parts(found)
    figure = go.Figure()
    figure.add_traces([_rings(found, part) for part in parts])
    if aside:
        # Last in the legend, from where a style sheet takes it without a gap.
        put_down = [points_trace(found.found, part, "set aside", kept=False).update(legendrank=1001) for part in parts]
        _add(figure, put_down)
    _add(figure, [points_trace(found.found, part, "kept", kept=True, intervals=True) for part in parts])
    spread = spread_of(found)
    bottom = frame_points(figure, found.found, spread, found.counted)
    if found.suggested_support > 0:
        name = f"suggested: {whole(found.suggested_support)}"
        figure.add_trace(upright(name, found.suggested_support, "dot", SOFT, bottom))
    whole_plot = {"type": "rect", "x0": spread[0], "x1": spread[1], "y0": bottom - 1, "y1": 3}
    # Only its left edge is seen: the others lie outside of what is drawn, as does the line that stands for it in the
    # legend.
    figure.add_shape(**whole_plot, line={"width": 2, "color": INK}, name="threshold")
    figure.add_trace(upright("kept from here on", 10 * spread[1], "solid", INK, bottom))
    if not aside:
        figure.add_shape(**whole_plot, line={"width": 0}, fillcolor=_UNSEEN, name="cover")
    return figure


def _add(figure: go.Figure, traces: list[go.Scatter]) -> None:
    """Add the parts of what is kept, or of what is not, with one entry of the legend."""
    figure.add_traces([_unmet(trace).update(showlegend=number == 0) for number, trace in enumerate(traces)])


def _rings(found: RedescriptionSet, part: list[int]) -> go.Scatter:
    """A ring for every point, seen once it is clicked."""
    rings = points_trace(found.found, part, "ring", kept=True)
    marker = {"symbol": "circle", "size": 17, "color": _UNSEEN, "opacity": _UNSEEN_ALONE}
    rings.update(marker={**marker, "line": {"width": 2.5, "color": INK}}, showlegend=False, overwrite=True)
    beside = {"marker": {"opacity": _UNSEEN_BESIDE}}
    rings.update(selected={"marker": {"opacity": _SEEN}}, unselected=beside, overwrite=True)
    return rings


def _unmet(points: go.Scatter) -> go.Scatter:
    """Points that are seen, but that the pointer does not meet."""
    points.update(text=None, customdata=None, hovertemplate=None, hoverinfo="skip", overwrite=True)
    points.update(selected={"marker": {"opacity": points.marker.opacity}}, overwrite=True)
    return points


def _parts(found: RedescriptionSet) -> list[list[int]]:
    """Places of the redescriptions in the order of their support, apart where a step of the slider parts them."""
    items = found.found
    order = sorted(range(len(items)), key=lambda place: (items[place].support, place))
    below = np.searchsorted([items[place].whole_support for place in order], support_steps(found))
    ends = sorted({0, len(order), *map(int, below)})
    return [order[start:end] for start, end in pairwise(ends)]


def threshold_styles(
    found: RedescriptionSet, points: str, slider: str, named: Callable[[int], str], *, aside: bool = True
) -> str:
    """A style sheet that hides, for each position of the slider, what is set aside there.

    Parameters
    ----------
    points, slider : str
        Keys of the figure and of the slider on the page, which stands before it in the same container.
    named : callable
        What the slider says at each of its steps.
    aside : bool
        Whether the figure shows what is set aside. If not, the pointer does not meet it either.

    Returns
    -------
    str
        CSS without the tags around it.
    """
    highest = [found.found[part[-1]].whole_support for part in _parts(found)]
    count = len(highest)
    kept = 2 * count if aside else count  # Traces before those of what is kept.
    low, high = map(math.log10, spread_of(found))
    here = f".{_name(points)}"
    rules = [f"{_line(here)}, {_cover(here)} {{ transform-box: fill-box; }}"]
    if not aside:
        rules.append(f"{_cover(here)} {{ pointer-events: all; }}")
    for step in support_steps(found):
        moved = f'.{_name(slider)}:has(input[aria-valuetext="{named(step)}"]) ~ {here}'
        below = sum(support < step for support in highest)
        hidden = [
            f"{moved} {_traces(kept, kept + below)}",
            f"{moved} {_traces(count + below, 2 * count) if aside else _traces(0, below)}",
        ]
        if aside and not below:
            hidden.append(f"{moved} .legend .traces:last-child")  # Nothing is set aside.
        rules.append(f"{', '.join(hidden)} {{ visibility: hidden; }}")
        along = 100 * (math.log10(max(step, 10**low)) - low) / (high - low)
        seen = "" if along else " visibility: hidden;"  # Further left, nobody would see the line.
        rules.append(f"{_line(moved)} {{ transform: translateX({along:.3f}%);{seen} }}")
        if not aside:
            rules.append(f"{_cover(moved)} {{ transform: translateX({along - 100:.3f}%); }}")
    return "\n".join(rules)


def _traces(start: int, end: int) -> str:
    """Traces from one, counted from 0, up to another, which is left out."""
    return f".trace:nth-child(n+{start + 1}):nth-child(-n+{end})"


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
    one has been chosen since by other means, and holds its own back if yet another point is clicked. What depends on
    that is told to a part of the figure, not to its points: a browser works it out anew for all that it may be told to,
    whatever changes in the figure.

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
    ring = _ring(found, chosen)
    rules = []
    if not intervals:
        rules.append(f"{here} .errorbar:not({_interval(found, chosen)}) {{ visibility: hidden; }}")
    if chosen is not None and (clicked is None or clicked is chosen):
        rules.append(f"{here} {ring}{_with(_UNSEEN_ALONE)} {{ opacity: {_SEEN} !important; }}")
    elif chosen is not None:
        left, (part, _) = _ring(found, clicked), _numbers(found, chosen)
        rules.append(f"{here} {left} {{ opacity: 0 !important; }}")
        rules.append(f"{here}:not(:has({left}{_with(_UNSEEN_BESIDE)})) .trace:nth-child({part}) {{ --ring: {_SEEN}; }}")
        rules.append(f"{here} {ring}:not({_with(_SEEN)}) {{ opacity: var(--ring, 0) !important; }}")
    return "\n".join(rules)


def _with(opacity: float) -> str:
    """Selector of points to which plotly has given an opacity: it writes that first."""
    return f'[style^="opacity: {opacity};"]'


def _ring(found: RedescriptionSet, item: Redescription | None) -> str:
    """Selector of the ring of one of them; nothing without any."""
    if item is None:
        return ""
    part, number = _numbers(found, item)
    return f".trace:nth-child({part}) .point:nth-child({number})"


def _interval(found: RedescriptionSet, item: Redescription | None) -> str:
    """Selector of the interval of one of them, or of none; what is kept comes last but for both thresholds."""
    if item is None:
        return ":not(*)"
    part, number = _numbers(found, item)
    from_end = len(_parts(found)) - part + (3 if found.suggested_support > 0 else 2)
    return f".trace:nth-last-child({from_end}) .errorbar:nth-child({number})"


def _numbers(found: RedescriptionSet, item: Redescription) -> tuple[int, int]:
    """Which part of the figure one of them is in, and which point of it, from 1."""
    for number, part in enumerate(_parts(found), 1):
        for place, index in enumerate(part, 1):
            if found.found[index] is item:
                return number, place
    raise ValueError("this redescription is not among those that were found")


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
