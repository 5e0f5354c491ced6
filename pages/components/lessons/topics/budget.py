"""Ask again and average; what the answers cost, added and composed; the budget's end."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import streamlit as st

from dpcore.errors import BudgetError
from dpcore.lessons import COUNTS, ToyBudget, averages, costs, toy_cap
from dpcore.numerals import small
from dpcore.plots.lessons.lessons import averages_alt, averages_figure
from dpcore.privacy.budgets import alike, delta_sentence, format_epsilon
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
CAP = Decimal(5)
_MOST_QUESTIONS = 100
_KEY = "lesson-budget"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Composition and the budget", text("lesson_budget"))
    if not guess.number("budget", _most(), (1, _MOST_QUESTIONS), form="%d questions"):
        return
    left, right = st.columns(2)
    with left:
        questions = st.slider("Ask this often", 1, _MOST_QUESTIONS, 50, key=f"{_KEY}-questions")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.1", "ε of one question")
    lesson.again("Start again with other noise", _KEY)
    budget, refusal = ask_often(questions, epsilon, lesson.draw(_KEY))
    toy_meter("this lesson", budget)
    with drawing.placeholder():
        if refusal:
            st.warning(markup.plain(refusal), title="The toy budget refuses", icon=":material/block:")
    found = averages([answer.noisy for answer in budget.answers], epsilon)
    counted = costs(budget.cap, epsilon, _MOST_QUESTIONS)
    _told(counted, len(found.means))
    shown = (budget.answers[0].asked.people, found, counted, CAP)
    figure.render(averages_figure(*shown), key=f"{_KEY}-chart", alt=averages_alt(*shown))
    st.markdown(text("lesson_budget_costs"))
    st.markdown(f"**What δ means here.** {delta_sentence(budget.cap.delta)}")
    with st.expander("The same as a table"):
        _table(found, counted, questions)
    lesson.question(text("lesson_budget_question"))


def _told(counted: Any, answered: int) -> None:
    added, composed, spent = (
        format_epsilon(amounts[answered - 1]) for amounts in (counted.added, counted.composed, counted.spent)
    )
    st.html(
        f'<p class="fg-noise">{answered} answers: ε <b>{added}</b> added, ε <b>{composed}</b> '
        f"composed. The smaller counts: ε <b>{spent}</b>.</p>"
    )


@cache
def _most() -> int:
    """How many questions are answered before the toy budget refuses, at an epsilon of 0.1."""
    return len(ask_often(_MOST_QUESTIONS, Decimal("0.1"), 1)[0].answers)


def ask_often(questions: int, epsilon: Decimal, draw: int) -> tuple[Any, str]:
    """A toy budget after so many questions, and the sentence of its refusal if it refused."""
    budget = ToyBudget(toy_cap(CAP))
    for number in range(questions):
        try:
            budget = budget.ask(COUNTS[2], epsilon, 100 * draw + number)
        except BudgetError:
            return budget, (
                f"{number} of {questions} questions were answered. Question {number + 1} is "
                f"refused: it costs ε {format_epsilon(epsilon)}, but ε "
                f"{format_epsilon(budget.left, up=False)} is left for one question."
            )
    return budget, ""


def toy_meter(name: str, budget: Any) -> None:
    """A meter that looks like the one of a data set, and says that it is a toy."""
    spent, left = alike([f"ε {format_epsilon(budget.spent)}", f"ε {format_epsilon(budget.left, up=False)}"])
    parts = {"Spent": ("fg-spent", spent), "Left for one question": ("fg-left", left)}
    words = "; ".join(f"{label} {shown}" for label, (_, shown) in parts.items())
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{shown}</b></li>'
        for label, (style, shown) in parts.items()
    )
    total = budget.cap.epsilon
    share = min(100.0, float(100 * budget.spent / total))
    cap = f"{name[0].upper()}{name[1:]}: ε {format_epsilon(total)} in total, at δ = {small(budget.cap.delta)}"
    st.html(
        f'<section class="fg-meter" aria-label="Toy budget of {name}"><h3>Toy budget</h3>'
        f'<div class="name">{cap}, without any effect on real budgets</div>'
        f'<div class="fg-bar" role="img" aria-label="{words}">'
        f'<span class="fg-spent" style="width:{share:.3f}%"></span></div>'
        f'<ul class="fg-legend">{legend}</ul></section>'
    )


def _table(found: Any, counted: Any, questions: int) -> None:
    rows = []
    added, composed = (alike(map(format_epsilon, column)) for column in (counted.added, counted.composed))
    for asked, both in enumerate(zip(added, composed, strict=True), start=1):
        if asked <= len(found.means):
            learned = [f"{found.means[asked - 1]:,.1f}", f"±{found.margins[asked - 1]:,.1f}"]
        else:
            learned = ["refused" if asked <= questions else "not asked", ""]
        rows.append(markup.row([str(asked), *learned, *both]))
    header = ("Questions", "Average", "95% margin", "ε, added", "ε, composed")
    markup.table("After each question", header, rows)
