"""How far a released model is off when it predicts a number, on people who were set aside."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.numerals import measured
from dpcore.released.quality import errors_table, verdict
from dpcore.released.regression_evaluation import error_told, hides_much, noise_told
from pages.components.families.shared import blocks
from pages.components.families.shared.evaluation import DROWNED
from pages.components.kit import markup
from pages.components.kit.markup import text


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
