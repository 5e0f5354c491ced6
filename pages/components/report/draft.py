"""What somebody writes and chooses for a report: kept in the database at every change.

Widgets hold what is being edited. Before they are drawn they take over what is kept, so that a
reload, another browser and another tab show the same. What could not be kept stays on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dpcore.workspace.results.dossier import Application
from dpcore.workspace.results.drafts import Draft, SavedDraft
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access, login

#: Name of the part that holds the chosen results; the others are those of an application.
RESULTS = "results"
_NAMES = (RESULTS, *(field.name for field in fields(Application)))
_UNKEPT = "report-unkept"


def key(dataset_id: str, name: str) -> str:
    """Key of the widget of one part of a draft."""
    return f"report-{dataset_id}-{name}"


def take_over(dataset_id: str, readable: set[str]) -> SavedDraft | None:
    """Let widgets hold what is kept, and say if something of it is lost.

    Parameters
    ----------
    readable : set of str
        Results that may be chosen; others are left out.
    """
    kept, problem = access.attempt(lambda: access.service().draft(dataset_id))
    parts = _parts(Draft() if kept is None else kept.draft)
    gone = [one for one in parts[RESULTS] if one not in readable]
    parts[RESULTS] = [one for one in parts[RESULTS] if one in readable]
    for name, value in parts.items():
        _fill(key(dataset_id, name), value, stay=problem is not None)
    with drawing.placeholder():
        if problem:
            st.warning(problem)
        if gone:
            st.warning(_lost(len(gone)))
    return kept


def keep(dataset_id: str, name: str) -> None:
    """Keep what has just been changed. For use in callbacks.

    Only that part, and what could not be kept before, is exchanged: another tab may have changed
    the others.
    """
    _unkept()[key(dataset_id, name)] = ""
    service = access.service()
    kept, problem = access.attempt(lambda: service.draft(dataset_id))
    old = _parts(Draft() if kept is None else kept.draft)
    shown = {part: key(dataset_id, part) for part in _NAMES}
    changed = {
        part: st.session_state[at]
        for part, at in shown.items()
        if at in st.session_state and (problem or at in _unkept())
    }
    _, refusal = access.attempt(lambda: service.save_draft(dataset_id, _draft({**old, **changed})))
    _remember(refusal, [shown[part] for part in changed])


def tell(dataset_id: str, kept: SavedDraft | None) -> None:
    """Say when the draft was kept, and offer to throw it away."""
    own = {key(dataset_id, name) for name in _NAMES}
    for refusal in sorted({words for at, words in _unkept().items() if at in own}):
        st.error(f"Your last change is not kept. {refusal}")
    if kept is None:
        st.caption(text("report_kept") + _alone())
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Saved {_when(kept.time)}. {text('report_kept')}{_alone()}")
        with st.popover("Start over", icon=":material/delete:"):
            st.markdown(text("report_start_over"))
            st.button("Remove what I wrote and chose", on_click=_forget, args=(dataset_id,))


def _alone() -> str:
    return " Nobody else sees it." if login.login_needed() else ""


def _when(time: datetime) -> str:
    """A time of today without the day."""
    time = time.astimezone(UTC)
    today = time.date() == datetime.now(UTC).date()
    return f"{time:%H:%M} UTC" if today else f"{time:%Y-%m-%d %H:%M} UTC"


def _forget(dataset_id: str) -> None:
    _, refusal = access.attempt(lambda: access.service().save_draft(dataset_id, None))
    _remember(refusal, [key(dataset_id, name) for name in _NAMES])


def _remember(refusal: str | None, keys: Sequence[str]) -> None:
    """Note for some widgets why what they hold could not be kept, or that it is."""
    for at in keys:
        _unkept().pop(at, None)
        if refusal is not None:
            _unkept()[at] = refusal


def _fill(at: str, value: Any, *, stay: bool) -> None:
    """Let a widget hold what is kept, unless it holds something that could not be kept."""
    if at not in st.session_state:
        _unkept().pop(at, None)
    elif stay or at in _unkept():
        return
    if st.session_state.get(at) != value:
        st.session_state[at] = value


def _parts(draft: Draft) -> dict[str, Any]:
    return {RESULTS: list(draft.releases), **vars(draft.application)}


def _draft(parts: dict[str, Any]) -> Draft:
    """Raises ``RequestError`` for what is too long."""
    written = {name: part for name, part in parts.items() if name != RESULTS}
    return Draft(application=Application(**written), releases=tuple(parts[RESULTS]))


def _lost(number: int) -> str:
    chosen = "A result that you had chosen is" if number == 1 else (f"{number} results that you had chosen are")
    return f"{chosen} gone, or no longer shared with you, and left out here."


def _unkept() -> dict[str, str]:
    """Why each part that could not be kept was refused, by the key of its widget."""
    found: dict[str, str] = st.session_state.setdefault(_UNKEPT, {})
    return found
