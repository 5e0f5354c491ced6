"""How good a released list is on people who were set aside."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import Noun
from dpcore.numerals import hundredths, measured, percent, percents
from dpcore.plots.quality import calibration_alt, calibration_figure, roc_alt, roc_figure
from dpcore.released.quality import (
    FLAGGED,
    NEGATIVE_VALUE,
    POSITIVE_VALUE,
    SENSITIVITY,
    SPECIFICITY,
    baseline,
    confusion_table,
    errors_table,
    group_shares,
    operating_points,
    verdict,
)
from dpcore.released.regression_evaluation import error_told, hides_much, noise_told
from pages.components.families.shared import blocks
from pages.components.kit import figure, markup
from pages.components.kit.markup import text

DROWNED = "The noise is larger than the counts: no figure can be given. Use a larger ε."


def render(model: Any, target: str, counted: Noun, key: str, *, chances: bool = True, typical: bool = False) -> None:
    """Noisy accuracy and AUC, what a threshold does, how far chances hold, and the confusion table.

    ``chances``: whether the estimates of the model are chances, and not shares of votes. ``typical``: whether
    people of one group are told different chances, of which the estimate is a typical one.
    """
    evaluation = model.evaluation
    if evaluation is None:
        st.info(text("evaluation_missing"))
        return
    st.markdown(text("evaluation"))
    left, right = st.columns(2)
    with left:
        _metric("Noisy accuracy", evaluation.accuracy, percent)
        st.caption(markup.plain(_baseline(evaluation, model.classes)))
    if evaluation.has_auc:
        with right:
            _metric("Noisy AUC", evaluation.auc, hundredths)
            st.caption(markup.plain(_auc_words(target, model.classes)))
    if evaluation.group_counts and evaluation.accuracy is not None:
        thresholds(model, target, counted, key, chances=chances, typical=typical)
    blocks.render(confusion_table(model, target))


def _auc_words(target: str, classes: tuple[str, ...]) -> str:
    one = f"{target} = {classes[1]}" if len(classes) == 2 else f"one value of {target}"
    mean = "" if len(classes) == 2 else "The mean over all values. "
    return (
        f"How often a record with {one} gets a higher estimate of it than a record without. "
        f"{mean}0.5 is no better than tossing a coin, 1 is perfect."
    )


def _metric(title: str, figure: Any, shown: Any) -> None:
    if figure is None:
        st.metric(title, "not known")
        st.caption(DROWNED)
        return
    low, high = max(0.0, figure.value - figure.noise_margin), figure.value + figure.noise_margin
    both = (figure.noise_margin**2 + figure.sampling_margin**2) ** 0.5
    widest = (max(0.0, figure.value - both), min(1.0, figure.value + both))
    st.metric(title, shown(figure.value))
    st.caption(
        f"Noise alone: {shown(low)} to {shown(min(1.0, high))} (95%). With chance in who was set "
        f"aside: {shown(widest[0])} to {shown(widest[1])}."
    )


def _baseline(evaluation: Any, classes: tuple[str, ...]) -> str:
    if (common := baseline(evaluation)) is None:
        return ""
    label, share = classes[common[0]], percent(common[1])
    return f"For comparison: always saying '{label}' would be right for {share} (noisy)."


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


def number_check(model: Any, target: str, unit: str) -> None:
    """Noisy error beside that of a constant guess, and noisy counts of errors by size."""
    check = model.evaluation
    if check is None:
        st.info(text("evaluation_missing"))
        return
    st.markdown(text("evaluation"))
    left, right = st.columns(2)
    with left:
        _error_metric("Noisy typical error (RMSE)", check.rmse, unit)
    with right:
        _error_metric("The same number for everyone", check.constant_rmse, unit)
    st.markdown(markup.plain(verdict(check, target, ()).sentence))
    with st.expander("How large the errors are"):
        blocks.render(errors_table(check, target, unit))


def error_words(figure: Any) -> str:
    """An error with what the noise alone does to it."""
    if figure is None:
        return "not known"
    return f"{error_told(figure)} (noise alone {noise_told(figure)})"


def _error_metric(title: str, figure: Any, unit: str) -> None:
    if figure is None:
        st.metric(title, "not known")
        st.caption(DROWNED)
        return
    below, above = ((margin**2 + figure.sampling_margin**2) ** 0.5 for margin in (figure.noise_margin, figure.above))
    low, least = (max(0.0, figure.value - reach) for reach in (figure.noise_margin, below))
    high, most = figure.value + figure.above, figure.value + above
    st.metric(title, error_told(figure, unit))
    st.caption(
        f"Noise alone: {measured(low)} to {measured(high)} (95%). With chance in who was "
        f"set aside: {measured(least)} to {measured(most)}."
        f"{' The noise may hide huge errors of a few people.' if hides_much(figure) else ''}"
    )
