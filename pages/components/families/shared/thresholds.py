"""Where to draw the line: what follows if people from some chance on are flagged."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import Noun
from dpcore.numerals import percent, percents
from dpcore.plots.quality import calibration_alt, calibration_figure, roc_alt, roc_figure
from dpcore.released.quality import (
    FLAGGED,
    NEGATIVE_VALUE,
    POSITIVE_VALUE,
    SENSITIVITY,
    SPECIFICITY,
    group_shares,
    operating_points,
)
from pages.components.families.shared import blocks
from pages.components.kit import figure, markup
from pages.components.kit.markup import text


@st.fragment
def thresholds(model: Any, target: str, counted: Noun, key: str, *, chances: bool, typical: bool = False) -> None:
    """A threshold to move, its noisy figures, the ROC curve, and chances as told and as seen."""
    st.markdown("#### Where to draw the line")
    shown = blocks.choose_class(model, target, f"{key}-threshold")
    label = f"{target} = {model.classes[shown]}"
    points = operating_points(model.evaluation, shown)
    if len(points) < 2:
        st.info("Everyone gets the same estimate, so there is no line to draw.")
        return
    st.markdown(text("thresholds"))
    unit = "chance" if chances else "share of the votes"
    asked, reach = f"Flag {counted.several} whose {unit} of {label} is at least", "From {} on"
    if model.evaluation.group_limits and shown == 1:
        asked, reach = f"Flag {counted.several} whose {unit} of {label} is above", "Above {}"
    elif typical:
        asked = f"Flag the groups of {counted.several} whose typical {unit} of {label} is at least"
        reach = "Groups with a typical chance of {} or more"
    chosen, threshold = _choose(points, asked, key)
    # One below the other on a narrow screen.
    with st.container(key=f"line-{key}"):
        left, right = st.columns(2)
    with left:
        _table(chosen, reach.format(threshold), label, counted)
    with right:
        figure.render(roc_figure(points, chosen), key=f"{key}-roc", alt=roc_alt(points, label))
    if chances:
        _calibration(model, shown, label, counted, key, typical=typical)


def _choose(points: Any, asked: str, key: str) -> tuple[Any, str]:
    """One of the points, and its threshold in words; the one nearest to an even trade is chosen first."""
    rising = points[::-1]
    labels = percents([point.threshold for point in rising])  # The browser knows a place by its label.
    place = st.select_slider(
        markup.plain(asked),
        range(len(rising)),
        value=max(range(len(rising)), key=lambda n: _gain(rising[n])),
        format_func=labels.__getitem__,
        key=f"{key}-threshold-{len(rising)}",
    )
    return rising[place], labels[place]


def _gain(point: Any) -> float:
    """Youden's index: sensitivity + specificity - 1."""
    both = [point.figures[measure] for measure in (SENSITIVITY, SPECIFICITY)]
    return -1.0 if None in both else sum(item.value for item in both) - 1


def _table(point: Any, reach: str, label: str, counted: Noun) -> None:
    people = counted.several
    meaning = {
        FLAGGED: f"share of all {people}",
        SENSITIVITY: f"flagged among those with {label}",
        SPECIFICITY: "not flagged among the others",
        POSITIVE_VALUE: f"those with {label} among the flagged",
        NEGATIVE_VALUE: f"those without it among the {people} not flagged",
    }
    rows = {f"{name.capitalize()}: {what}": _told(point.figures[name]) for name, what in meaning.items()}
    needed = point.number_needed_to_examine
    rows[f"Number needed to examine: flagged {people} for each one found"] = (
        "too few to tell" if needed is None else f"{needed[0]:.1f} ({needed[1]:.1f} to {needed[2]:.1f})"
    )
    caption = f"{reach}, among the {people} set aside"
    together = {measure: figure.replace(" to ", "\u00a0to\u00a0") for measure, figure in rows.items()}
    markup.pairs_table(caption, ("Measure", "Noisy (noise alone)"), together)


def _told(item: Any) -> str:
    if item is None:
        return "too few to tell"
    low, high = max(0.0, item.value - item.noise_margin), min(1.0, item.value + item.noise_margin)
    return f"{percent(item.value)} ({percent(low)} to {percent(high)})"


def _calibration(model: Any, shown: int, label: str, counted: Noun, key: str, *, typical: bool) -> None:
    groups = group_shares(model.evaluation, shown)
    if not groups:
        return
    with st.expander("Do the chances hold?", key=f"{key}-chances", on_change="rerun") as part:
        if not part.open:  # Only then is it drawn.
            return
        st.markdown(text("calibration"))
        if typical:
            st.markdown(text("calibration_typical"))
        drawn, alt = calibration_figure(groups, counted), calibration_alt(groups, label, counted)
        figure.render(drawn, key=f"{key}-calibration", alt=alt)
