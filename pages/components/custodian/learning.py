"""In the form for a new data set: what may be spent to learn facts of its schema privately."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.domain.schemas.origins import LEARNED
from dpcore.errors import FrostglassError
from dpcore.privacy.budgets import parse_epsilon, percent
from pages.components.custodian.intake.intake_tables import KEEP, remembered
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import access

if TYPE_CHECKING:
    from pages.components.custodian.intake.answers import Answers

LEARN = "ε for learning, once"
#: A mark in a text, outside of remarks.
_MARK = re.compile(r"""^[^#\n]*\blearn["']?\s*:""", re.MULTILINE)
_LEARNED = re.compile(r"""^\s*["']?learned["']?\s*:""", re.MULTILINE)
_LIMIT = re.compile(r"""["']?max_rows["']?\s*:\s*(\d+)""")


def ask(answers: Answers) -> None:
    """Ask for the epsilon if some column is marked, and say what it costs, or what was learned before."""
    columns = answers.content.get("columns", ())
    marked = [column for column in columns if column.get("learn")]
    with drawing.placeholder():
        before = any(column.get("origin") == LEARNED and column not in marked for column in columns)
        if before or _LEARNED.search(answers.schema_text or ""):
            st.info(text("learned_before"))
    with drawing.placeholder():
        if not (marked or _MARK.search(answers.schema_text or "")):
            return
        named = ", ".join(f"'{plain(column['name'])}'" for column in marked) or "the columns marked 'learn'"
        st.markdown(text("learning").format(columns=named))
        entry = st.text_input(LEARN, key=remembered("intake-learn", "0.5"), **KEEP).strip()
        try:
            answers.learn = parse_epsilon(entry)
            _tell_cost(answers, any(column["type"] == "categorical" for column in marked) or not marked)
        except FrostglassError as mistake:
            answers.faults.append(f"{LEARN}: {mistake}")


def _tell_cost(answers: Answers, listed: bool) -> None:
    found = _LIMIT.search(answers.schema_text or "")
    limit = answers.content.get("max_rows") or (found and int(found[1]))
    if not limit or answers.learn is None or not (answers.kin or answers.budget):
        return
    adds, left = access.service().learning_cost(
        answers.learn,
        listed=listed,
        max_rows=limit,
        budget=answers.budget,
        delta=answers.delta,
        same_people_as=answers.kin.id if answers.kin else None,
    )
    told = f"It would take {percent(adds)} of the budget, of which {percent(left, up=False)} is left."
    (st.info if adds <= left else st.warning)(told)
