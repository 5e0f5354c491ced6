"""How good a released list is on people who were set aside."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import Noun
from dpcore.numerals import hundredths, percent
from dpcore.released.quality import baseline, confusion_table
from pages.components.families.shared import blocks, thresholds
from pages.components.kit import markup
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
        thresholds.thresholds(model, target, counted, key, chances=chances, typical=typical)
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
