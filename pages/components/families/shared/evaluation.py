"""How good a released list is on people who were set aside."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.counted import Noun
from dpcore.numerals import hundredths, percent, whole
from dpcore.released.evaluation import confusion_margins
from dpcore.released.verdict import baseline
from pages.components.families.shared import cells, thresholds
from pages.components.kit import markup
from pages.components.kit.texts import text

DROWNED = "The noise is larger than the counts: no figure can be given. Use a larger ε."


def show(model: Any, target: str, counted: Noun, key: str, *, chances: bool = True, typical: bool = False) -> None:
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
        _figure("Noisy accuracy", evaluation.accuracy, percent)
        st.caption(markup.plain(_baseline(evaluation, model.classes)))
    if evaluation.has_auc:
        with right:
            _figure("Noisy AUC", evaluation.auc, hundredths)
            st.caption(markup.plain(_auc_words(target, model.classes)))
    if evaluation.group_counts and evaluation.accuracy is not None:
        thresholds.show(model, target, counted, key, chances=chances, typical=typical)
    _confusion(model, target)


def _auc_words(target: str, classes: tuple[str, ...]) -> str:
    one = f"{target} = {classes[1]}" if len(classes) == 2 else f"one value of {target}"
    mean = "" if len(classes) == 2 else "The mean over all values. "
    return (
        f"How often a record with {one} gets a higher estimate of it than a record without. "
        f"{mean}0.5 is no better than tossing a coin, 1 is perfect."
    )


def _figure(title: str, figure: Any, shown: Any) -> None:
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


def _confusion(model: Any, target: str) -> None:
    """Noisy counts by true and predicted class, each with the noise that it carries, if the release tells it."""
    evaluation, classes = model.evaluation, model.classes
    header = [f"True {target}", *(f"Predicted {label}" for label in classes)]
    margins = confusion_margins(model)
    told = [""] * len(classes) if margins is None else [f" ±{whole(margin)}" for margin in margins]
    rows = [
        markup.row([escape(label), *(_count_cell(*cell) for cell in zip(counts, told, strict=True))])
        for label, counts in zip(classes, evaluation.noisy_confusion, strict=True)
    ]
    markup.table(_confusion_caption(evaluation, margins), header, rows)
    if any(count < 0 for counts in evaluation.noisy_confusion for count in counts):
        st.caption(text("negative_counts"))


def _count_cell(count: int, margin: str) -> str:
    return f'<div class="fg-counts">{cells.count(count, margin)}</div>'


def _confusion_caption(evaluation: Any, margins: tuple[int, ...] | None) -> str:
    opening = "Noisy counts of records that were set aside. Each adds up the counts of"
    if margins is None:
        each = f"and each of those carries noise of ±{whole(evaluation.count_margin)}, 95%."
        return f"{opening} several groups, {each}"
    never = " ±0: no group is predicted so." if 0 in margins and evaluation.count_margin else ""
    return f"{opening} all groups that are predicted so; ± is the noise on all of them together, 95%.{never}"
