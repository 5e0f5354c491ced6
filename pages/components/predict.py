"""A form for one typed-in case, made from the public schema of a release."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.estimates import percent
from dpcore.release import Release
from dpcore.schema import OTHER, NumericColumn, format_number
from pages.components import markup
from pages.components.texts import text


@st.fragment
def show(release: Release, model: Any, shown: int, key: str) -> None:
    """Ask only for the columns that the list uses, and say which rule catches the case."""
    st.markdown(text("predict"))
    used = list(dict.fromkeys(item.column for rule in model.rules for item in rule.conditions))
    if not used:
        st.info("This list has no conditions: everyone gets the same estimate.")
        return
    with st.form(f"{key}-case"):
        values = _fields(release, used, key)
        asked = st.form_submit_button("Which rule fits?", type="primary")
    if asked:
        known = {name: value for name, value in values.items() if value is not None}
        _answer(release, model, shown, {**dict.fromkeys(used), **known})


def _fields(release: Release, used: list[str], key: str) -> dict[str, Any]:
    places = st.columns(min(3, len(used)))
    values = {}
    for position, name in enumerate(used):
        with places[position % len(places)]:
            values[name] = _field(release.domain.column(name), f"{key}-case-{name}")
    return values


def _field(column: Any, key: str) -> Any:
    if not isinstance(column, NumericColumn):
        options = [*column.classes, OTHER]
        return st.selectbox(
            column.name, options, index=None, placeholder="not known", key=key,
            help=markup.plain(column.description) or None,
        )  # fmt: skip
    low, high = format_number(column.lower), format_number(column.upper)
    return st.number_input(
        f"{column.name} ({column.unit})" if column.unit else column.name,
        value=None,
        step=1 if column.type == "integer" else None,
        placeholder="not known",
        key=key,
        help=f"{markup.plain(column.description)} Values beyond {low} to {high} count as the "
        "nearest bound.",
    )


def _answer(release: Release, model: Any, shown: int, values: dict[str, Any]) -> None:
    position, estimates = model.predict_case(values, release.domain)
    rule = model.rules[position]
    low, high = (percent(end) for end in rule.intervals[shown])
    which = (
        f"Rule {position + 1}: {rule.text}" if rule.conditions else "No rule fits: everyone else"
    )
    label = f"{release.target} = {model.classes[shown]}"
    st.success(
        f"Noisy chance of {markup.plain(label)}: "
        f"**{percent(estimates[shown])}** (noise alone: {low} to {high}). "
        "This describes a group of people, not this person's future.",
        title=markup.plain(which),
        icon="➡️",
    )
