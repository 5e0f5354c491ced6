"""A form for one typed-in case, made from the public schema of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpcore.domain.columns import OTHER, NumericColumn, format_number
from dpcore.released.noisy_counts import are_nobody, percent
from dpcore.released.release import Release
from pages.components.kit import markup


def ask(release: Release, used: Sequence[str], key: str, label: str) -> dict[str, Any] | None:
    """Ask only for the columns that are used; the values, once the button is pressed."""
    with st.form(f"{key}-case"):
        values = _fields(release, used, key)
        asked = st.form_submit_button(label, type="primary")
    return values if asked else None


def _fields(release: Release, used: Sequence[str], key: str) -> dict[str, Any]:
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
            markup.plain(column.name),
            options,
            index=None,
            placeholder="not known",
            key=key,
            help=markup.plain(column.description) or None,
        )
    low, high = format_number(column.lower), format_number(column.upper)
    return st.number_input(
        markup.plain(f"{column.name} ({column.unit})" if column.unit else column.name),
        value=None,
        step=1 if column.type == "integer" else None,
        placeholder="not known",
        key=key,
        help=f"{markup.plain(column.description)} Values beyond {low} to {high} count as the nearest bound.",
    )


def answer(title: str, label: str, node: Any, shown: int) -> None:
    """The noisy chance of a class in the rule or group that a case falls into."""
    if are_nobody(node.noisy_counts):
        st.warning(
            f"Too few people to tell the chance of {markup.plain(label)}: the noisy counts of this group "
            "add up to nobody.",
            title=markup.plain(title),
            icon="➡️",
        )
        return
    low, high = (percent(end) for end in node.intervals[shown])
    st.success(
        f"Noisy chance of {markup.plain(label)}: "
        f"**{percent(node.estimates[shown])}** (noise alone: {low} to {high}). "
        "This describes a group of people, not this person's future.",
        title=markup.plain(title),
        icon="➡️",
    )
