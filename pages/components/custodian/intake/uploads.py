"""Uploaded files: taken from the browser and kept on the custodian's desk."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.intake.sources.parts import DATABASE_ENDINGS, ENDINGS
from dpcore.workspace.files.staging import StagedFile, StagingArea
from pages.components.custodian.intake import upload_reading
from pages.components.kit import drawing
from pages.components.kit.markup import plain
from pages.components.server import upload_gate
from pages.components.visitor import access

TYPES = tuple(ending.removeprefix(".") for ending in ENDINGS)
#: Files that hold or name several tables.
DATABASES = tuple(ending.removeprefix(".") for ending in DATABASE_ENDINGS)
#: Where the file lies without which there are no others.
_MAIN = "main"
#: The file about which the custodian is being asked.
_ASKED = "remove-asked"


def is_database(name: str) -> bool:
    """Whether a file of this name holds several tables."""
    return Path(name).suffix.lower().removeprefix(".") in DATABASES


def title_of(name: str) -> str:
    """What a file is called, without its ending."""
    return Path(name).name.partition(".")[0].strip()


def _round(place: str) -> str:
    return f"upload-round-{place}"


def files_at(
    staging_area: StagingArea,
    place: str,
    label: str,
    *,
    types: tuple[str, ...] = TYPES,
    several: bool = False,
    again: bool = False,
    busy: bool = False,
    help: str | None = None,
) -> list[StagedFile]:
    """What lies at one place of the desk; and where files are brought there, if more may come.

    With ``again`` a file may be brought although there is one, which it replaces. While ``busy``,
    the files are being read: all is shown, nothing can be changed, and what arrives is kept later.
    """
    kept = [file for file in staging_area.files() if file.place == place]
    with st.container():
        for file in kept:
            _card(staging_area, file, label.split(" (")[0], busy)
        if problem := st.session_state.pop(f"upload-problem-{place}", None):
            st.error(problem)
    if several or again or not kept:
        found = receive(label, place, types=types, several=several, disabled=busy, help=help)
        if found and not busy:
            _keep(staging_area, place, found, replaced=[] if several else kept)
    return kept


def receive(
    label: str,
    place: str,
    *,
    types: tuple[str, ...],
    several: bool = False,
    disabled: bool = False,
    help: str | None = None,
) -> list[Any]:
    """Ask for files. The caller hands them to :func:`let_go`, or gets them again at every rerun."""
    upload_gate.let_in()
    found = st.file_uploader(
        label,
        type=list(types),
        accept_multiple_files=several,
        key=f"upload-{place}-{st.session_state.get(_round(place), 0)}",
        help=help,
        disabled=disabled,
    )
    if found is None:
        return []
    return list(found) if isinstance(found, list) else [found]


def let_go(place: str, files: list[Any]) -> None:
    """Take received files out of memory, and empty the place where they came in.

    Not the other places: a large file may be on its way to one of them.
    """
    st.session_state[_round(place)] = st.session_state.get(_round(place), 0) + 1
    upload_gate.let_go(files)


def _keep(staging_area: StagingArea, place: str, files: list[Any], *, replaced: list[StagedFile]) -> None:
    problem = None
    try:
        for file in files:
            file.seek(0)
            _, problem = access.attempt(partial(staging_area.keep, place, file.name, file, TYPES + DATABASES))
            if problem:
                break
        if replaced and not problem:
            staging_area.drop(*(file.file_id for file in replaced))
    finally:
        let_go(place, files)
    st.session_state[f"upload-problem-{place}"] = problem
    st.rerun()


def _card(staging_area: StagingArea, file: StagedFile, label: str, busy: bool) -> None:
    with st.container(border=True, key=f"card-upload-{file.file_id}"):
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.markdown(f"{label}: **{plain(file.name)}**, {_size(file.size)}")
        all_else = ", and what you typed about it" if file.place == _MAIN else ""
        right.button(
            "Remove",
            key=f"remove-{file.file_id}",
            on_click=_remove,
            args=(staging_area, file),
            width="stretch",
            help=f"Deletes the uploaded copy from this computer{all_else}.",
            disabled=busy,
        )


def question(staging_area: StagingArea) -> None:
    """Whether the main file is to be removed although others go with it, if that was asked for."""
    file = next((kept for kept in staging_area.files() if kept.file_id == st.session_state.get(_ASKED)), None)
    if file is None or upload_reading.current() is not None:
        _let_go_of_question()
    elif not drawing.dialog_is_open():
        _dialog(staging_area, file)


def _remove(staging_area: StagingArea, file: StagedFile) -> None:
    """Remove a file, or ask first if others go with it. For use as a callback."""
    if file.place == _MAIN and _others(staging_area, file):
        st.session_state[_ASKED] = file.file_id
    else:
        _drop(staging_area, file)


def _others(staging_area: StagingArea, file: StagedFile) -> list[StagedFile]:
    return [kept for kept in staging_area.files() if kept.file_id != file.file_id]


def _let_go_of_question() -> None:
    """Ask no longer; the files stay unless they were removed."""
    if st.session_state.pop(_ASKED, None) is not None:
        drawing.dialog_answered()


def _remove_all(staging_area: StagingArea, file: StagedFile) -> None:
    _drop(staging_area, file)
    _let_go_of_question()


@drawing.dialog("Remove all files?", on_dismiss=_let_go_of_question)
def _dialog(staging_area: StagingArea, file: StagedFile) -> None:
    names = ", ".join(f"**{plain(other.name)}**" for other in _others(staging_area, file))
    st.markdown(f"**{plain(file.name)}** is the main file. If you remove it, these go with it: {names}.")
    st.markdown("All that you typed about them goes, too.")
    everything, nothing = st.columns(2)
    everything.button(
        "Remove all of it",
        key="remove-all",
        type="primary",
        on_click=_remove_all,
        args=(staging_area, file),
        width="stretch",
    )
    nothing.button("Keep all of it", key="remove-nothing", on_click=_let_go_of_question, width="stretch")


def _drop(staging_area: StagingArea, file: StagedFile) -> None:
    """Remove a file, or keep why it cannot be, to be told."""
    _, st.session_state[f"upload-problem-{file.place}"] = access.attempt(partial(_delete, staging_area, file))


def _delete(staging_area: StagingArea, file: StagedFile) -> None:
    """Remove a file, and with the main one all else; not while they are read, as the page says."""
    if file.file_id not in (kept.file_id for kept in staging_area.files()):
        return  # It is gone already, and what lies there now was brought in another tab.
    if upload_reading.current() is not None:
        return
    if file.place == _MAIN:
        staging_area.clear()
    else:
        staging_area.drop(file.file_id)


def _size(size: int) -> str:
    for unit, amount in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= amount:
            return f"{size / amount:.1f} {unit}"
    return f"{size} bytes"
