"""Whose a result is, and who else may read it. Without a login there is nothing to tell."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dpcore.workspace.files.descriptions import Sharing
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.visitor import access, login

_EVERYBODY = "Everybody who may see this data set"
_SAID = "sharing-said"


def read_sharing(dataset_id: str | None) -> dict[str, Sharing]:
    """Owners and readers of the results of a data set, or of all; empty without a login."""
    return access.service().sharing(dataset_id) if login.login_needed() else {}


def others(found: Mapping[str, Sharing]) -> dict[str, str]:
    """Who made each result that is not the visitor's."""
    me = login.user().name
    return {key: sharing.owner for key, sharing in found.items() if sharing.owner != me}


def is_own(release_id: str, found: Mapping[str, Sharing]) -> bool:
    """Whether a result is the visitor's."""
    if not login.login_needed():
        return True
    sharing = found.get(release_id)
    return sharing is not None and sharing.owner == login.user().name


def render(release_id: str, found: Mapping[str, Sharing]) -> None:
    """Say whose a result is; its owner may share it here."""
    sharing = found.get(release_id)
    with drawing.placeholder():
        if sharing is None:
            return
        if sharing.owner == login.user().name:
            _offer(release_id, sharing.shared)
        else:
            readers = _EVERYBODY if sharing.shared else "Not shared: only its owner and custodians"
            st.markdown(f"**By** {markup.person(sharing.owner)}. {readers} can read it.")


def _offer(release_id: str, shared: bool) -> None:
    readers = _EVERYBODY if shared else "Only you and custodians"
    st.markdown(f"**Yours.** {readers} can read it.")
    key = f"share-{release_id}"
    if st.session_state.get(key) != shared:  # Another tab may have changed it.
        st.session_state[key] = shared
    st.toggle("Share with everybody who may see this data set", key=key, on_change=_share, args=(release_id, key))
    st.caption(text("sharing"))
    access.tell_outcome(_SAID)


def _share(release_id: str, key: str) -> None:
    wanted = bool(st.session_state[key])
    access.note_outcome(_SAID, lambda: access.service().share(release_id, wanted), "")
