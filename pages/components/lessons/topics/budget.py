"""Ask again and average; what the answers take of a budget; the budget's end."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import COUNTS, Averages, Shares, answered, averages, shares, toy_cap
from dpcore.plots.lessons.lessons import averages_alt, averages_figure
from dpcore.privacy.budgets import delta_sentence, percent
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import Loss
from dpcore.report import spending
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
CAP, EPSILON = toy_cap(Decimal(5)), "0.5"
_MOST_QUESTIONS = 100
_KEY = "lesson-budget"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Composition and the budget", text("lesson_budget"))
    if not guess.number("budget", answered(CAP, Decimal(EPSILON)), (1, _MOST_QUESTIONS), form="%d questions"):
        return
    left, right = st.columns(2)
    with left:
        questions = st.slider("Ask this often", 1, _MOST_QUESTIONS, 50, key=f"{_KEY}-questions")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, EPSILON, "ε of one question")
    lesson.again("Start again with other noise", _KEY)
    found = averages(COUNTS[2], CAP, epsilon, questions, lesson.draw(_KEY))
    taken, asked = shares(CAP, epsilon, _MOST_QUESTIONS), len(found.means)
    spent = f"{asked} answers take <b>{percent(taken.composed[asked - 1])}</b> of the budget"
    st.html(f'<p class="fg-noise">{spent}; added, they would take <b>{percent(taken.added[asked - 1])}</b>.</p>')
    with drawing.placeholder():
        if asked < questions:
            st.warning(f"Question {asked + 1} does not fit.", title="The toy budget refuses", icon=":material/block:")
    shown = (COUNTS[2].people, found, taken)
    figure.render(averages_figure(*shown), key=f"{_KEY}-chart", alt=averages_alt(*shown))
    st.markdown(text("lesson_budget_costs"))
    st.markdown(f"**What δ means here.** {delta_sentence(CAP.delta)}")
    with st.expander("The same as a table"):
        _table(found, taken, questions)
    lesson.question(text("lesson_budget_question"))


def toy_meter(name: str, cap: PrivacyFilter, total: Loss) -> None:
    """A meter that looks like the one of a data set, and says that it is a toy."""
    used = cap.share(total)
    parts = {"Spent": ("fg-spent", percent(used)), "Left": ("fg-left", percent(1 - used, up=False))}
    words = "; ".join(f"{label} {shown}" for label, (_, shown) in parts.items())
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{shown}</b></li>'
        for label, (style, shown) in parts.items()
    )
    whole = f"{name[0].upper()}{name[1:]}: {spending.whole_budget(cap)}"
    st.html(
        f'<section class="fg-meter" aria-label="Toy budget of {name}"><h3>Toy budget</h3>'
        f'<div class="name">{whole}, without any effect on real budgets</div>'
        f'<div class="fg-bar" role="img" aria-label="{words}">'
        f'<span class="fg-spent" style="width:{float(100 * used):.3f}%"></span></div>'
        f'<ul class="fg-legend">{legend}</ul></section>'
    )


def _table(found: Averages, taken: Shares, questions: int) -> None:
    rows = []
    for asked, (added, composed) in enumerate(zip(taken.added, taken.composed, strict=True), start=1):
        if asked <= len(found.means):
            learned = [f"{found.means[asked - 1]:,.1f}", f"±{found.margins[asked - 1]:,.1f}"]
        else:
            learned = ["refused" if asked <= questions else "not asked", ""]
        rows.append(markup.row([str(asked), *learned, percent(added), percent(composed)]))
    header = ("Questions", "Average", "95% margin", "If ε were added", "As it is counted")
    markup.table("After each question", header, rows)
