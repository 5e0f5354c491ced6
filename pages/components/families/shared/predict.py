"""A form for one typed-in case, made from the public schema of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.columns import OTHER, NumericColumn, format_number
from dpcore.numerals import percent
from dpcore.released.noisy_counts import are_nobody, is_told
from dpcore.released.release import Release
from pages.components.families.shared import blocks
from pages.components.kit import markup
from pages.components.kit.markup import text


def ask(release: Release, used: Sequence[str], key: str, label: str) -> dict[str, Any] | None:
    """Ask only for the columns that are used; the values that were last sent, until they are forgotten."""
    st.markdown(text("case"))
    with st.form(f"{key}-case"):
        values = _fields(release, used, key)
        if st.form_submit_button(label, type="primary"):
            st.session_state[_asked(key)] = values
    sent: dict[str, Any] | None = st.session_state.get(_asked(key))
    # Another rehearsal stands in the same place: a case that was sent to the last one may not fit it.
    return sent if sent is not None and list(sent) == list(used) else None


def forget(key: str) -> None:
    """What was sent; the fields keep what they hold."""
    st.session_state.pop(_asked(key), None)


def _asked(key: str) -> str:
    return f"{key}-asked"


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


@dataclass(frozen=True)
class Place:
    """A rule, group or clause that a case may fall into, and the noise on its counts."""

    name: str
    numbers: Any
    margin: int


def answer(title: str, label: str, places: Sequence[Place], shown: int, caveat: str = "") -> None:
    """The noisy chance of a class where a case falls; a range if what is not known decides where.

    No chance is told that the noise hides. The caveat, Markdown, stands after it.
    """
    told = [place for place in places if is_told(place.numbers, shown, place.margin)]
    chance = _chance(markup.plain(label), places, told, shown)
    show = st.success if told else st.warning
    show(f"{chance} {caveat or text('case_is_a_group')}", title=markup.plain(title), icon="➡️")
    if len(places) > 1:
        rows = [markup.row([escape(p.name), blocks.estimate(p.numbers, shown, p.margin)]) for p in places]
        markup.table("Where the case may fall", ["Where", f"Noisy chance of {label}"], rows)


def _chance(label: str, places: Sequence[Place], told: Sequence[Place], shown: int) -> str:
    low, high = _ends(told or places, shown)
    estimates = [place.numbers.estimates[shown] for place in told]
    if len(places) > 1 and told:
        chances = " to ".join(dict.fromkeys(percent(end(estimates)) for end in (min, max)))
        hidden = f" Noise hides it in {len(places) - len(told)} of them." if len(told) < len(places) else ""
        noise = f"(with the noise: {low} to {high})"
        return f"What is not known decides which. Noisy chance of {label}: **{chances}** {noise}.{hidden}"
    if len(places) > 1:
        return f"What is not known decides which, and noise hides the chance of {label} in each."
    if told:
        return f"Noisy chance of {label}: **{percent(estimates[0])}** (noise alone: {low} to {high})."
    if are_nobody(places[0].numbers.noisy_counts):
        return f"Too few records to estimate the chance of {label}: the noisy counts of this group add up to none."
    return f"Too noisy to tell the chance of {label}: it may lie anywhere from {low} to {high}."


def _ends(places: Sequence[Place], shown: int) -> tuple[str, str]:
    """Lowest and highest end of the intervals."""
    edges = [place.numbers.intervals[shown] for place in places]
    return percent(min(low for low, _ in edges)), percent(max(high for _, high in edges))
