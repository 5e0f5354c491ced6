"""Lesson 4: ask again and average; the average gets better, and the budget runs out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import streamlit as st

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import format_epsilon
from pages.components.kit import figure, markup, slot
from pages.components.kit.texts import text
from pages.components.lessons import parts as lesson

STOPS = ("0.05", "0.1", "0.2", "0.5", "1")
CAP = Decimal(2)
_MOST_QUESTIONS = 50
_KEY = "lesson-budget"


@st.fragment
def show() -> None:
    """The lesson."""
    from dpcore.lessons import averages
    from dpcore.plots.lessons import averages_alt, averages_figure

    lesson.begin("Composition and the budget", text("lesson_budget"))
    left, right = st.columns(2)
    with left:
        questions = st.slider("Ask this often", 1, _MOST_QUESTIONS, 10, key=f"{_KEY}-questions")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.1", "ε of each answer")
    lesson.again("Start again with other noise", _KEY)
    budget, refusal = ask_often(questions, epsilon, lesson.draw(_KEY))
    toy_meter("lesson 4", budget)
    with slot.kept():
        if refusal:
            st.warning(markup.plain(refusal), title="The toy budget is empty", icon=":material/block:")
    found = averages([answer.noisy for answer in budget.answers], epsilon)
    truth = budget.answers[0].asked.people
    shown = (truth, found, epsilon, CAP, questions)
    figure.show(averages_figure(*shown), key=f"{_KEY}-chart", alt=averages_alt(*shown))
    st.caption(text("lesson_budget_gaussian"))
    with st.expander("The same as a table"):
        _table(found, epsilon, questions)
    lesson.question(text("lesson_budget_question"))


def ask_often(questions: int, epsilon: Decimal, draw: int) -> tuple[Any, str]:
    """A toy budget after so many questions, and the sentence of its refusal if it refused."""
    from dpcore.lessons import COUNTS, ToyBudget

    budget = ToyBudget(CAP)
    for number in range(questions):
        try:
            budget = budget.ask(COUNTS[2], epsilon, 100 * draw + number)
        except BudgetError:
            return budget, (
                f"{number} of {questions} questions were answered. Question {number + 1} is "
                f"refused: it costs ε {format_epsilon(epsilon)}, but ε "
                f"{format_epsilon(budget.left, up=False)} is left."
            )
    return budget, ""


def toy_meter(name: str, budget: Any) -> None:
    """A meter that looks like the one of a data set, and says that it is a toy."""
    parts = {
        "Spent": ("fg-spent", f"ε {format_epsilon(budget.spent)}"),
        "Left": ("fg-left", f"ε {format_epsilon(budget.left, up=False)}"),
    }
    words = "; ".join(f"{label} {shown}" for label, (_, shown) in parts.items())
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{shown}</b></li>'
        for label, (style, shown) in parts.items()
    )
    share = min(100.0, float(100 * budget.spent / budget.cap))
    cap = f"{name.capitalize()}: ε {format_epsilon(budget.cap)} in total"
    st.html(
        f'<section class="fg-meter" aria-label="Toy budget of {name}"><h3>Toy budget</h3>'
        f'<div class="name">{cap}, without any effect on real budgets</div>'
        f'<div class="fg-bar" role="img" aria-label="{words}">'
        f'<span class="fg-spent" style="width:{share:.3f}%"></span></div>'
        f'<ul class="fg-legend">{legend}</ul></section>'
    )


def _table(found: Any, epsilon: Decimal, questions: int) -> None:
    from dpcore.lessons import gaussian_cost

    rows = []
    for asked in range(1, questions + 1):
        bought = asked <= len(found.means)
        average = f"{found.means[asked - 1]:,.1f}" if bought else "refused"
        reach = f"±{found.margins[asked - 1]:,.1f}" if bought else ""
        costs = [format_epsilon(epsilon * asked), f"{gaussian_cost(epsilon, asked):.2f}"]
        rows.append(markup.row([str(asked), average, reach, *costs]))
    header = ("Questions", "Average", "95% margin", "ε, added up", "ε with Gaussian noise")
    markup.table("After each question", header, rows)
