"""The latest results of one family on a data set, at the top of its page."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.labels import called
from dpcore.privacy.budgets import format_epsilon
from dpcore.released.release import Release
from dpcore.released.verdict import auc_number
from pages.components.families.registry import Family
from pages.components.kit import markup
from pages.components.releases import library, result, sharing
from pages.components.visitor import access, menu

_MOST = 3


def show(dataset_id: str, family: Family) -> bool:
    """The newest results that the visitor may read, or the one of them that is open; whether one is."""
    found = [release for release in access.service().releases(dataset_id) if release.kind == family.name]
    opened = next((release for release in found if release.id == st.session_state.get(_key(family))), None)
    if opened is not None:
        st.button("Close", key=f"close-latest-{family.name}", on_click=_open, args=(family, None))
        result.show(opened, key=f"latest-{opened.id}")
        return True
    if found:
        _list(found, family)
    return False


def _list(found: list[Release], family: Family) -> None:
    by = sharing.others(sharing.read(found[0].dataset_id))
    with st.container(border=True, key=f"card-latest-{family.name}"):
        st.markdown("**Latest results**")
        for release in found[:_MOST]:
            words, button = st.columns([5, 1], vertical_alignment="center")
            words.markdown(markup.plain(_words(release, by.get(release.id, ""))))
            button.button("Read", key=f"read-{release.id}", on_click=_open, args=(family, release.id))
        if len(found) > _MOST:
            menu.link("releases.py", f"All {len(found)} results")


def _words(release: Release, by: str) -> str:
    card, auc = release.certificate, library.figure(release, "auc")
    parts = [
        called(release.domain, release.target),
        "" if auc is None else f"AUC {auc_number(auc)}",
        f"ε {format_epsilon(card.epsilon)}",
        f"{card.created:%Y-%m-%d %H:%M} UTC",
        f"by {by}" if by else "",
    ]
    return " · ".join(part for part in parts if part)


def _open(family: Family, release_id: str | None) -> None:
    st.session_state[_key(family)] = release_id


def _key(family: Family) -> str:
    return f"latest-{family.name}"
