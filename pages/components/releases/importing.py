"""Results that come as files: brought here, marked as what they are, and taken away again."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.models.readable import readable
from dpcore.released.release import Release
from dpcore.service.imports import LARGEST_IMPORT
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.server import upload_gate
from pages.components.visitor import access

_SAID, _TURN = "import-said", "import-turn"


def imports_read(released: Sequence[Release]) -> tuple[list[Release], list[str]]:
    """The visitor's imports in the words of people, their data sets called imported; and what cannot be read.

    One that stands among the ``released`` ones, as it was shared since, is left out: the ledger vouches for these.
    """
    found, lost = access.service().imported_releases()
    here = {release.id for release in released}
    shown = [readable(release) for release in found if release.id not in here]
    return [release.reworded(dataset_name=f"{release.dataset_name} (imported)") for release in shown], lost


def offer(lost: Sequence[str]) -> None:
    """A place to bring a file to; above it, that some ``lost`` ones cannot be read."""
    with drawing.placeholder():
        if lost:
            _own_up(lost)
    upload_gate.let_in(LARGEST_IMPORT)
    with st.expander("Import a result", icon=":material/upload_file:"):
        st.markdown(text("import"))
        turn, most = st.session_state.setdefault(_TURN, 0), LARGEST_IMPORT >> 20
        file = st.file_uploader("A result as JSON", type=["json"], key=f"import-{turn}", max_upload_size=most)
        if file is not None:
            _take(file)
        access.tell_outcome(_SAID)


def _own_up(lost: Sequence[str]) -> None:
    """Say what cannot be shown any more, and offer to remove it."""
    them = "An imported result" if len(lost) == 1 else f"{len(lost)} imported results"
    st.warning(f"{them} can no longer be read by this version. Import the file again, or remove what is left of it.")
    st.button("Remove what cannot be read", key="forget-unreadable", on_click=_forget, args=list(lost))


def _take(file: st.runtime.uploaded_file_manager.UploadedFile) -> None:
    """Read a file, say what became of it, and make room for another."""
    content = file.getvalue()
    with st.spinner("Checking the file …"):
        access.note_outcome(
            _SAID, lambda: access.service().import_release(content), "Imported. It stands in the table below."
        )
    upload_gate.let_go([file])
    st.session_state[_TURN] += 1
    st.rerun()


def remove(release: Release) -> None:
    """A button that takes an import away."""
    with drawing.placeholder():
        st.button("Remove this import", key=f"forget-{release.id}", on_click=_forget, args=(release.id,))


def _forget(*release_ids: str) -> None:
    def work() -> None:
        for release_id in release_ids:
            access.service().forget_import(release_id)

    access.note_outcome(_SAID, work, "Removed.")
