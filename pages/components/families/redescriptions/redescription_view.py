"""Redescriptions as points with a threshold, and one of them in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.conditions import pretty
from dpcore.domain.counted import Noun
from dpcore.models.redescriptions.released import reading as told
from dpcore.models.redescriptions.released.duplicates import in_full
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import (
    agreement_margins,
    alike_words,
    alternatives,
    how_many,
    interval_words,
    p_words,
)
from dpcore.numerals import hundredths, whole
from dpcore.plots.redescriptions.redescription_points import support_steps
from dpcore.plots.redescriptions.redescriptions_agreement import agreement_alt, agreement_figure
from dpcore.plots.redescriptions.redescriptions_moved import moved_alt, moved_figure, reading_styles, threshold_styles
from dpcore.plots.redescriptions.redescriptions_truth import truth_alt, truth_figure, truth_histogram
from dpcore.plots.style import shorten
from dpcore.released.blocks import Figure
from pages.components.families.redescriptions.redescription_state import (
    GAIN,
    JACCARD,
    Reading,
    choose,
    forget_row,
    identity,
    order_key,
)
from pages.components.families.shared import blocks
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import distinct_labels, text

_P_VALUES = (1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 1.0)
#: Most entries of the selection box; the table holds more.
_MOST_OFFERED = 200


def constraints(key: str) -> Any:
    """What a redescription must satisfy, as the visitor wants it: free."""
    start = Constraints()
    with st.expander("What counts as a redescription (free to change)", icon=":material/tune:"):
        one, two, three, four = st.columns(4)
        jaccard = one.slider(
            "Least noisy Jaccard index", 0.1, 0.95, start.min_jaccard, 0.05, key=f"{key}-jaccard", help=text("jaccard")
        )
        p_value = two.select_slider(
            "Largest p-value",
            _P_VALUES,
            start.max_p,
            format_func=lambda p: f"{p:g}",
            key=f"{key}-p",
            help=text("p_value"),
        )
        disjuncts = three.slider(
            "Most groups joined by OR", 1, 4, start.disjuncts, key=f"{key}-or", help=text("disjuncts")
        )
        chance = four.slider(
            "Least gain over chance",
            0.0,
            0.5,
            start.min_above_chance,
            0.05,
            key=f"{key}-chance",
            help=text("above_chance"),
        )
    return Constraints(min_jaccard=jaccard, max_p=p_value, disjuncts=disjuncts, min_above_chance=chance)


def points(reading: Reading) -> None:
    """All of them as points; those below the threshold apart."""
    key, found = reading.key, reading.found
    st.markdown(f"**{markup.plain(how_many(found, len(reading.kept)))}**")
    with st.container(horizontal=True):
        aside = st.toggle("Show what is set aside", value=True, key=f"{key}-aside")
        st.toggle("Show all intervals", key=f"{key}-intervals")
    figure.render(
        moved_figure(found, aside=aside),
        key=_points_key(key),
        alt=moved_alt(found),
        selection_mode="points",
        on_select=_clicked(reading),
    )
    css = threshold_styles(found, _points_key(key), _slider_key(key), partial(_step, found.counted), aside=aside)
    st.html(f"<style>{css}</style>")
    st.caption(text("points"))


def ring(reading: Reading, place: Any) -> None:
    """Mark the one that is read, before anything else is drawn: the figure itself stays as it is."""
    intervals = bool(st.session_state.get(f"{reading.key}-intervals"))
    key, clicked = _points_key(reading.key), _marked(reading)
    css = reading_styles(reading.found, reading.chosen, key, clicked=clicked, intervals=intervals)
    place.html(f"<style>{css}</style>")


def _slider_key(key: str) -> str:
    return f"{key}-support"


def _step(counted: Noun, step: int) -> str:
    return counted.number(step) if step else "keep all"


def threshold(found: Any, key: str) -> float:
    """Noisy support from which redescriptions are kept; the suggested one to begin with."""
    suggested, slider = found.suggested_support, _slider_key(key)
    chosen = st.select_slider(
        "Set aside what has a noisy support below (free to move)",
        support_steps(found),
        suggested,
        format_func=partial(_step, found.counted),
        key=slider,
        help=text("pruning"),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        words = f"Suggested from the noise alone: {found.counted.number(suggested)}."
        st.caption(words if chosen != suggested else f"{words} This is where it stands.")
        if chosen != suggested:
            st.button("Back to the suggested", key=f"{key}-suggested", on_click=_move, args=(slider, suggested))
    return float(chosen)


def _move(slider: str, value: int) -> None:
    st.session_state[slider] = value


def all_aside(reading: Reading) -> str:
    """What to do if nothing is kept."""
    return (
        f"{told.all_aside(reading.found, reading.threshold)} Move the threshold down to read "
        f"{'it' if len(reading.found.found) == 1 else 'them'}, with care: the "
        f"fewer {reading.found.counted.several}, the more of it may be noise."
    )


def picture(found: Any, threshold: float, key: str) -> None:
    """The points as a figure that nothing moves."""
    blocks.render(
        Figure("redescriptions", "Noisy support and noisy Jaccard index", (found, threshold)), _points_key(key)
    )


def _points_key(key: str) -> str:
    return f"{key}-points"


def _clicked(reading: Reading) -> Callable[[], None]:
    """What to do with a click on a point: read it."""
    before = _marked(reading)

    def read() -> None:
        # A second click on a point takes its mark away; it is still the point that was clicked.
        item = _marked(reading) or before
        if item is not None:
            choose(item, reading.key)
            forget_row(reading.key)

    return read


def _marked(reading: Reading) -> Any | None:
    """The one whose point the browser marks since it was clicked."""
    shown = st.session_state.get(_points_key(reading.key), {})
    places = [point.get("customdata") for point in shown.get("selection", {}).get("points", [])]
    if places and isinstance(places[0], int) and places[0] < len(reading.found.found):
        return reading.found.found[places[0]]
    return None


def one(reading: Reading) -> None:
    """A box to choose from, and the one that is read in full."""
    chosen = reading.chosen
    with drawing.placeholder():
        if chosen is None:
            st.info(all_aside(reading))
            return
        st.segmented_control(
            "Best first by",
            [GAIN, JACCARD],
            default=GAIN,
            required=True,
            key=order_key(reading.key),
            help=text("order"),
        )
        with st.container(border=True, key=f"card-{reading.key}-read"):
            _choose(reading, chosen)
            _in_full(reading, chosen)


def _choose(reading: Reading, chosen: Any) -> None:
    offered = [identity(item) for item in reading.kept[:_MOST_OFFERED]]
    if identity(chosen) not in offered:
        offered.append(identity(chosen))
    items, places, box = reading.found.found, reading.places, f"{reading.key}-one"
    labels = distinct_labels({who: _label(items[places[who]], reading.found.counted) for who in offered})
    st.session_state[box] = identity(chosen)
    st.selectbox(
        "Read this one (or click a point, or a row of the table)",
        offered,
        format_func=labels.__getitem__,
        key=box,
        on_change=_selected,
        args=(reading, box),
    )


def _selected(reading: Reading, box: str) -> None:
    place = reading.places.get(st.session_state[box])
    if place is not None:  # What was chosen may be gone, if a slider was moved meanwhile.
        choose(reading.found.found[place], reading.key)
        forget_row(reading.key)


def _label(item: Any, counted: Noun) -> str:
    numbers = f"{hundredths(item.jaccard)} · {counted.number(item.support)}"
    return f"{numbers} · {shorten(item.left)} ⇔ {shorten(item.right)}"


def _in_full(reading: Reading, item: Any) -> None:
    pair, schema, counted = reading.model.pairs[item.pair], reading.release.domain, reading.found.counted
    parts, queries = alternatives(item, pair, schema), (item.left_query, item.right_query)
    left, right = map(_side, ("Left", "Right"), parts, queries)
    alike = alike_words(item.interval[0], counted)
    st.html(f'<div class="fg-sides">{left}<div class="fg-alike">{alike}</div>{right}</div>')
    if item.whole_support < reading.threshold:
        words = f"it holds for so few {counted.several} that much of it may be noise."
        markup.notice("amber", "Set aside by your threshold:", words)
    if item.missing:
        markup.notice("amber", "Missing values:", in_full(item.missing, counted))
    exact = reading.exact_of(item)
    markup.facts(_facts(item, counted, exact))
    margins = agreement_margins(item, pair, schema)
    shown = item, margins, counted, exact
    figure.render(agreement_figure(*shown), key=f"{reading.key}-agreement", alt=agreement_alt(*shown))
    st.caption(text("agreement"))


def _side(name: str, parts: Sequence[str], query: str) -> str:
    """Conditions in words, one line for each that suffices, and formally."""
    if len(parts) == 1:
        words = f"<b>{escape(parts[0])}</b>"
    else:
        items = "".join(f"<li>{escape(part)}</li>" for part in parts)
        words = f"<b>any of these:</b><ul>{items}</ul>"
    return f'<div class="fg-side"><small>{name}</small>{words}<code>{escape(pretty(query))}</code></div>'


def _facts(item: Any, counted: Noun, exact: Any | None) -> dict[str, str]:
    facts = {
        "Noisy Jaccard index": f"{hundredths(item.jaccard)} ({interval_words(item)})",
        "Chance alone would give": hundredths(item.chance),
        "p-value": p_words(item.p_value).removeprefix("p ").removeprefix("= "),
        "Noisy support": f"{whole(item.support)} ±{whole(item.support_margin)} {counted.several}",
        "Similar ones merged": whole(item.similar) if item.similar else "none",
    }
    if exact is not None:
        facts["◇ True Jaccard index"] = hundredths(exact.jaccard)
        facts["◇ True p-value"] = p_words(exact.p_value).removeprefix("p ").removeprefix("= ")
        facts["◇ True support"] = counted.number(exact.support)
    return facts


def against_truth(reading: Reading, exact: Sequence[Any]) -> None:
    """Noisy and true Jaccard index of all of them; public data only."""
    drawn = reading.found.found, exact, reading.threshold
    alt = truth_alt(*drawn)
    st.subheader("Noisy against true (public data only)", anchor=False)
    left, right = st.columns(2)
    for place, drawn_now, name in (
        (left, truth_figure(*drawn), "truth-points"),
        (right, truth_histogram(*drawn), "truth-bars"),
    ):
        with place:
            figure.render(drawn_now, key=f"{reading.key}-{name}", alt=alt)
    st.caption(text("pairs_true"))
