"""What a release is called in lists, and a form to name it and to write a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import NAME_LIMIT, NOTE_LIMIT, ReleaseNote
from pages.components.families import registry
from pages.components.kit import drawing, entry, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

#: Boxes in which a release is chosen by its name.
OPEN, SIDES, FURTHER = "release", ("compare-0", "compare-1"), "compare-more"
_SAID = "release-note-said"


def labels(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], by: Mapping[str, str]) -> dict[str, str]:
    """A line for each that tells it from all others, its own name first; ``by`` whom, if by somebody else."""
    costs = [plain_epsilon(release.certificate.epsilon) for release in releases]
    return {
        release.id: label(release, cost, notes.get(release.id), by.get(release.id, ""))
        for release, cost in zip(releases, costs, strict=True)
    }


def label(release: Release, cost: str, note: ReleaseNote | None, by: str) -> str:
    """One such line, with what the release cost as it is written in the list."""
    card, family = release.certificate, registry.of_release(release)
    own = f"{note.name} · " if note is not None and note.name else ""
    made = f" · by {by}" if by else ""
    return (
        f"{own}{family.heading(called(release.domain, release.target))}{made} · ε {cost} · "
        f"{card.created:%Y-%m-%d %H:%M} UTC · {release.dataset_name} · {release.id[:6]}"
    )


def render(release: Release, note: ReleaseNote | None, *, own: bool = True) -> None:
    """Name and note of a release, and the form by which its owner changes them."""
    with drawing.placeholder():
        if note is not None:
            _read(note)
    with drawing.placeholder():
        if own:
            _offer(release, note)


def _read(note: ReleaseNote) -> None:
    if note.name:
        st.subheader(markup.plain(note.name), anchor=False)
    if note.note:
        st.text(note.note)
        at = f"{note.time:%Y-%m-%d %H:%M} UTC"
        st.caption(f"Note by {markup.person(note.author)}, {at}.")


def _offer(release: Release, note: ReleaseNote | None) -> None:
    with st.expander("Name and note (free)", icon=":material/edit_note:"):
        st.markdown(text("release_note"))
        with st.form(f"note-{release.id}", border=False):
            _form(release, note)
    access.tell_outcome(_SAID)


def _form(release: Release, note: ReleaseNote | None) -> None:
    keys = f"note-name-{release.id}", f"note-text-{release.id}"
    name, words = (note.name, note.note) if note else ("", "")
    st.text_input("Name", name, max_chars=NAME_LIMIT, key=entry.begin(keys[0], name))
    st.text_area("Note", words, max_chars=NOTE_LIMIT, key=entry.begin(keys[1], words))
    st.form_submit_button("Save name and note", on_click=_save, args=(release.id, *keys))


def _save(release_id: str, name_key: str, note_key: str) -> None:
    """Write both down before the page is drawn again, so that every list shows the new name.

    What was not typed over stays as it is by now.
    """

    def act() -> None:
        service = access.service()
        stored = service.release_notes(service.release(release_id).dataset_id).get(release_id)
        name, words = (stored.name, stored.note) if stored else ("", "")
        service.note_release(release_id, entry.typed(name_key, name), entry.typed(note_key, words))

    if access.note_outcome(_SAID, act, "Saved."):
        entry.saved(name_key, note_key)
    for box in (OPEN, *SIDES):  # A box shows a changed name only if its choice is made again.
        if box in st.session_state:
            st.session_state[box] = st.session_state[box]
