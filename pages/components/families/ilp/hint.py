"""What a run of relational rules chooses from, and how many people that takes; free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpcore.domain.schemas.protected import shared_things
from dpcore.models.ilp.language.hypotheses import hypotheses
from dpcore.models.ilp.released.ilp_words import rows_in_words
from dpcore.numerals import whole
from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.ledger.requests import Quote
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.domain.schemas.schema import Schema
    from dpcore.models.ilp.language.hypotheses import Hypotheses

_WORDS = {
    "counts": "how many there are",
    "order": "what comes first, last or later",
    "alike": "that two have the same value",
    "within": "what belongs to them",
}


def render(quote: Quote) -> None:
    """Size of the hypothesis space, both bounds, and the bottom clause."""
    space, schema = hypotheses(quote.plan), quote.plan.schema
    style = "amber" if space.people < max(space.needed, space.choice_margin or 0) else "plain"
    markup.notice(
        style,
        f"{_size(space)} {_said(quote.plan.parameters.quantifiers, schema)}".strip(),
        f"{_needed(space, plain_epsilon(quote.plan.epsilon), schema)} {_enough(space, schema)}",
    )
    with drawing.placeholder():
        if shared := shared_things(schema):
            st.warning(markup.plain(shared))
    with st.expander("What these numbers rest on, and the bottom clause in Prolog"):
        st.markdown(text("ilp_bounds"))
        st.markdown(text("ilp_bottom"))
        st.code(space.bottom, language="prolog")


def _size(space: Hypotheses) -> str:
    makes = "1 condition makes" if space.conditions == 1 else f"{space.conditions} conditions make"
    return f"{makes} {whole(space.clauses)} possible clauses."


def _said(quantifiers: Sequence[str] | None, schema: Schema) -> str:
    """What clauses say of rows."""
    said = [words for name, words in _WORDS.items() if name in (quantifiers or ())]
    if not schema.children:
        return ""
    if not said:
        return "About rows, they say that there is one."
    listed = ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]
    return f"About rows, they may also say {listed}."


def _needed(space: Hypotheses, epsilon: str, schema: Schema) -> str:
    """The least number of records, whatever the method, and how many there may be."""
    room = f"This run can learn from at most {rows_in_words(schema, space.people)}."
    if space.needed == 1:
        return room
    bound = (
        f"With this many conditions, no private method can be reliable with fewer than about "
        f"{rows_in_words(schema, space.needed)} (ε = {epsilon}). {room}"
    )
    if space.people < space.needed:
        return f"{bound} That is too few: choose fewer conditions or a larger ε."
    return bound


def _enough(space: Hypotheses, schema: Schema) -> str:
    """How many are enough for report noisy max, or what counting every clause does."""
    enough = rows_in_words(schema, space.enough)
    if space.choice_margin is not None:
        hidden = " That hides every count." if space.choice_margin > space.people else ""
        return (
            f"This method counts clauses with noise of up to ±{whole(space.choice_margin)}, 95%."
            f"{hidden} For report noisy max, {enough} are enough."
        )
    found = f"To choose a clause that is nearly the best, nine times out of ten, {enough} are enough"
    if space.people < space.enough:
        return f"{found}, more than there can be."
    return f"{found}."
