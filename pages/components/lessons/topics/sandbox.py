"""The teacher's sandbox: a toy budget to spend, to exhaust and to reset."""

from __future__ import annotations

from decimal import Decimal
from html import escape
from typing import Any

import streamlit as st

from dpcore.errors import BudgetError
from dpcore.lessons import COUNTS, ToyBudget, toy_cap
from dpcore.numerals import whole
from dpcore.privacy.budgets import format_epsilon
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.lessons import parts as lesson
from pages.components.lessons.topics.budget import toy_meter

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
CAPS = ("0.5", "1", "2", "5")
_KEY = "lesson-sandbox"
_BUDGET, _REFUSAL = f"{_KEY}-budget", f"{_KEY}-refusal"


@st.fragment
def render() -> None:
    """The sandbox."""
    lesson.begin("Teacher's sandbox", text("lesson_sandbox"))
    left, right = st.columns(2)
    with left:
        st.selectbox(
            "How many patients are there …", COUNTS, key=f"{_KEY}-count", format_func=lambda count: count.question
        )
        cap = st.segmented_control(
            "Toy budget in total (choosing one starts again)",
            CAPS,
            default="1",
            required=True,
            key=f"{_KEY}-cap",
            format_func=lambda value: f"ε {value}",
            on_change=_reset,
        )
    with right:
        lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.2", "ε of this question")
    budget = _budget(cap)
    with st.container(horizontal=True):
        st.button("Ask (toy budget)", key=f"{_KEY}-ask", on_click=_ask, type="primary")
        st.button("Reset the toy budget", key=f"{_KEY}-reset", on_click=_reset)
    toy_meter("the sandbox", budget.cap, budget.total)
    with drawing.placeholder():
        if refusal := st.session_state.get(_REFUSAL):
            st.warning(markup.plain(refusal), icon=":material/block:")
    with drawing.placeholder():
        _answers(budget)
    lesson.question(text("lesson_sandbox_question"))


def _budget(cap: str) -> Any:
    return st.session_state.setdefault(_BUDGET, ToyBudget(toy_cap(Decimal(cap))))


def _ask() -> None:
    budget, draw = st.session_state[_BUDGET], lesson.draw(_KEY)
    asked, epsilon = (st.session_state[f"{_KEY}-{name}"] for name in ("count", "epsilon"))
    st.session_state[_REFUSAL] = ""
    try:
        st.session_state[_BUDGET] = budget.ask(asked, epsilon, draw)
    except BudgetError as refusal:
        st.session_state[_REFUSAL] = str(refusal)
    st.session_state[f"{_KEY}-draw"] = draw + 1


def _reset() -> None:
    st.session_state.pop(_BUDGET, None)
    st.session_state.pop(_REFUSAL, None)


def _answers(budget: Any) -> None:
    if not budget.answers:
        markup.empty("Nothing asked yet", "Choose a question and an ε, then press Ask.")
        return
    open_truth = st.toggle("Show the true counts (public data)", key=f"{_KEY}-truth")
    header = ["Question", "Patients", "ε", "Noisy answer", *(["True count"] if open_truth else [])]
    rows = []
    epsilons = [format_epsilon(answer.epsilon) for answer in budget.answers]
    for number, (answer, epsilon) in enumerate(zip(budget.answers, epsilons, strict=True), start=1):
        noisy = f"{whole(answer.noisy)} ± {whole(answer.margin)}"
        cells = [str(number), escape(answer.asked.question), epsilon, noisy]
        rows.append(markup.row(cells + ([whole(answer.asked.people)] if open_truth else [])))
    markup.table("Noisy answers, each with its 95% margin", header, rows)
