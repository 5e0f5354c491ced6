"""A filter over releases: free, and nothing but what anybody may see of them is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import ReleaseNote
from pages.components.families import registry
from pages.components.kit import drawing
from pages.components.releases.release_names import label
from pages.components.visitor import login

_NO_TARGET = "(nothing is predicted)"
_ALL, _MINE = "All", "Mine"
_KEYS = (
    "filter-families",
    "filter-targets",
    "filter-words",
    "filter-low",
    "filter-high",
    "filter-from",
    "filter-to",
    "filter-whose",
)


@dataclass(frozen=True)
class Wanted:
    """What a release must be like; what is empty or ``None`` allows everything."""

    families: Sequence[str] = ()
    targets: Sequence[str] = ()
    words: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    first: date | None = None
    last: date | None = None
    whose: str = _ALL

    def fits(self, release: Release, note: ReleaseNote | None, by: str = "") -> bool:
        """Whether a release is wanted; ``by`` somebody else, if it is not the visitor's."""
        card = release.certificate
        cost = plain_epsilon(card.epsilon)
        searched = f"{label(release, cost, note, by)}\n{note.note if note else ''}\n{release.id}".casefold()
        return (
            (not self.families or release.kind in self.families)
            and (not self.targets or called(release.domain, release.target) in self.targets)
            and all(word in searched for word in self.words.casefold().split())
            and (self.low is None or card.epsilon >= self.low)
            and (self.high is None or card.epsilon <= self.high)
            and (self.first is None or card.created.date() >= self.first)
            and (self.last is None or card.created.date() <= self.last)
            and (self.whose == _ALL or (self.whose == _MINE) == (not by))
        )


def choose(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], others: Mapping[str, str]) -> list[Release]:
    """Those of the releases that the visitor wants to see; ``others`` made some of them."""
    with st.expander("Filter", icon=":material/filter_list:"):
        wanted = _ask(releases)
        st.button("Clear the filter", on_click=clear)
    kept = [r for r in releases if wanted.fits(r, notes.get(r.id), others.get(r.id, ""))]
    with drawing.placeholder():
        if len(kept) < len(releases):
            st.caption(f"{len(kept)} of {len(releases)} results fit the filter.")
    return kept


def clear() -> None:
    """Want everything again. For use in callbacks."""
    for key in _KEYS:
        st.session_state.pop(key, None)


def _ask(releases: Sequence[Release]) -> Wanted:
    kinds = list(dict.fromkeys(release.kind for release in releases))
    targets = list(dict.fromkeys(called(release.domain, release.target) for release in releases))
    people = login.login_needed()
    left, middle, right, *more = st.columns(4 if people else 3)
    chosen = left.multiselect(
        "Kind", kinds, key=_KEYS[0], format_func=lambda kind: registry.FAMILIES[kind].title, placeholder="All"
    )
    predicted = middle.multiselect(
        "Predicts", targets, key=_KEYS[1], format_func=lambda name: name or _NO_TARGET, placeholder="Anything"
    )
    words = right.text_input("Words in name or note", key=_KEYS[2])
    whose = _whose(more[0]) if people else _ALL
    with st.container(horizontal=True):
        low, high = _bound("ε from", _KEYS[3]), _bound("ε to", _KEYS[4])
        first = st.date_input("Made from", None, key=_KEYS[5], width=180)
        last = st.date_input("Made until", None, key=_KEYS[6], width=180)
    return Wanted(chosen, predicted, words, low, high, first, last, whose)


def _whose(place: Any) -> str:
    theirs = "By others" if login.may("custodian") else "Shared with me"
    return str(place.selectbox("Whose", (_ALL, _MINE, theirs), key=_KEYS[7]))


def _bound(label: str, key: str) -> Decimal | None:
    number = st.number_input(label, 0.0, value=None, step=0.1, key=key, placeholder="Any", width=180)
    return None if number is None else Decimal(str(number))
