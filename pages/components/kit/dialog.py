"""Dialogs: one at a time, and while one is open the page beneath it is not drawn anew.

A browser hides a dialog as soon as a new drawing of the whole page begins, and shows it again once
that drawing comes to it: a click in between is lost, and so is the focus. So what refreshes itself
waits until the dialog is closed (:func:`pages.components.kit.refresh.again`), and a page draws its
dialog before the rest. Which question is asked stays with who asks it: only an answer or a
dismissal ends it, no drawing does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Literal, ParamSpec

import streamlit as st

P = ParamSpec("P")
_KEY = "dialog"
_OPEN, _ANSWERED = "open", "answered"


def begin() -> None:
    """A drawing of the whole page begins, so far without a dialog."""
    st.session_state.pop(_KEY, None)


def dialog_is_open() -> bool:
    """Whether the page shows a dialog."""
    return _KEY in st.session_state


def dialog_answered() -> None:
    """The dialog was answered: the whole page is drawn next. For callbacks of its buttons."""
    if dialog_is_open():
        st.session_state[_KEY] = _ANSWERED


def follow_dialog() -> None:
    """Draw the whole page if the dialog was answered.

    The dialog asks for that itself, but its own drawing may get lost on its way if another part of
    the page refreshes in the same moment: so each such part asks too.
    """
    if st.session_state.get(_KEY) == _ANSWERED:
        st.rerun()


def dialog(
    title: str, *, on_dismiss: Callable[[], None], width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a function draw the content of a dialog.

    Parameters
    ----------
    title : str
        What stands above it.
    on_dismiss : callable
        Called if the visitor closes it without an answer.
    """

    def decorate(draw: Callable[P, None]) -> Callable[P, None]:
        @wraps(draw)
        def content(*args: P.args, **kwargs: P.kwargs) -> None:
            follow_dialog()
            draw(*args, **kwargs)

        shown = st.dialog(title, width=width, on_dismiss=on_dismiss)(content)

        @wraps(draw)
        def show(*args: P.args, **kwargs: P.kwargs) -> None:
            st.session_state[_KEY] = _OPEN
            shown(*args, **kwargs)

        return show

    return decorate
