"""A question box: how many people have which values, by another column. Free where they were counted together."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.conditions import Condition, pretty
from dpcore.domain.counted import counted
from dpcore.domain.schemas.labels import called
from dpcore.models.summaries.released.crosstab import how_many, how_many_by, share_of_all
from dpcore.models.summaries.released.summary_words import cell_words, count_words
from dpcore.numerals import percent
from pages.components.families.summaries import summary_inputs as inputs
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import markup
from pages.components.kit.markup import text
from pages.components.visitor import access, menu

#: Conditions that the box has room for.
_MOST = 2
PAGE = "first_look.py"


def render(look: Look) -> None:
    """The question, and its answer or the run that would give it."""
    st.markdown(text("look_questions"))
    conditions, by = _conditions(look), _by(look)
    columns = [condition.column for condition in conditions] + [by] * bool(by)
    if not columns:
        st.info("Choose a column to ask about.")
        return
    told, problem = access.attempt(lambda: _answer(look, conditions, by))
    if told is not None:
        told()
        return
    st.warning(problem)
    _offer(look, columns)


def _conditions(look: Look) -> list[Condition]:
    names = [axis.name for axis in look.model.axes if not axis.rows]
    chosen: list[Condition] = []
    for number in range(_MOST):
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
        taken = [condition.column for condition in chosen]
        with left:
            name = st.selectbox(
                "How many have" if number == 0 else "and",
                [name for name in names if name not in taken],
                index=None,
                placeholder="any column",
                key=f"{look.key}-ask-{number}-{len(taken)}",
            )
        if name is None:
            break
        with right:
            chosen.append(_condition(look, str(name), f"{look.key}-ask-{number}-{name}"))
    return chosen


def _cells(look: Look, name: str) -> list[str]:
    """The cells of a column in words."""
    return list(cell_words(look.model.axes[look.model.place(name)], look.schema))


def _condition(look: Look, name: str, key: str) -> Condition:
    """One value, or of what has an order a range of values."""
    column, cells = look.schema.column(name), _cells(look, name)
    known = len(column.classes)
    if column.ordered and known > 1:
        first, last = st.select_slider(
            markup.plain(f"{column.name} from … to"),
            range(known),
            (0, known - 1),
            format_func=cells.__getitem__,
            key=f"{key}-range",
        )
        return Condition(column=column.name, first=int(first), last=int(last))
    place = st.selectbox(markup.plain(f"{column.name} is"), range(len(cells)), format_func=cells.__getitem__, key=key)
    return Condition(column=column.name, first=int(place), last=int(place))


def _by(look: Look) -> str:
    names = [axis.name for axis in look.model.axes if not axis.rows]
    by = st.selectbox("counted by", names, index=None, placeholder="not divided", key=f"{look.key}-ask-by")
    return "" if by is None else str(by)


def _answer(look: Look, conditions: Sequence[Condition], by: str) -> Any:
    """What draws the answer. Raises ``RequestError`` if the release does not hold it."""
    if by:
        amounts = how_many_by(look.model, conditions, by)
        return lambda: _table(look, conditions, by, amounts)
    amount, share = how_many(look.model, conditions), share_of_all(look.model, conditions)
    return lambda: _number(look, conditions, amount, share)


def _number(look: Look, conditions: Sequence[Condition], amount: Any, share: Any) -> None:
    told, low, high = map(percent, (share.value, share.low, share.high))
    st.success(
        f"About **{count_words(amount)}**; that is {told} of all ({low} to {high}). Ranges are for the noise, 95%.",
        title=markup.plain(_words(look, conditions)),
    )


def _table(look: Look, conditions: Sequence[Condition], by: str, amounts: Sequence[Any]) -> None:
    cells, whole = _cells(look, by), max(sum(amount.value for amount in amounts), 1.0)
    rows = [
        markup.row([escape(cell), escape(count_words(amount)), percent(min(1.0, amount.value / whole))])
        for cell, amount in zip(cells, amounts, strict=True)
    ]
    caption = f"{_words(look, conditions)}: noisy numbers (range for the noise, 95%) and noisy shares"
    markup.table(caption, [by, "Number", "Share"], rows)


def _words(look: Look, conditions: Sequence[Condition]) -> str:
    people = counted(look.schema).several
    if not conditions:
        return f"All {people}"
    told = " and ".join(pretty(condition.text(look.schema)) for condition in conditions)
    return f"{people.capitalize()} with {told}"


def _offer(look: Look, columns: Sequence[str]) -> None:
    """A small run that counts these columns together: set up, not spent."""
    dataset, _ = access.attempt(lambda: access.service().dataset(look.release.dataset_id))
    if dataset is None or len(columns) > _MOST or not menu.may_open(PAGE):
        return
    names = {called(dataset.schema, column.name): column.name for column in dataset.schema}
    wanted = [names[column] for column in columns if column in names]
    if len(wanted) == len(columns) and st.button("Set up a small run that counts them", key=f"{look.key}-ask-run"):
        inputs.preset(dataset.schema, wanted)
        access.choose_later(dataset.id)
        st.switch_page(PAGE)
