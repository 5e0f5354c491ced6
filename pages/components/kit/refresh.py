"""Parts of a page that draw themselves again now and then, and swallow nothing of the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from secrets import token_hex
from typing import ParamSpec

import streamlit as st

from pages.components.kit import dialog

P = ParamSpec("P")


def every(seconds: float) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Let a part refresh itself, under a name of its own each time that the page is drawn.

    Streamlit knows a fragment by the name of its function and its place. If a visitor's browser
    asks for a refresh in the moment between the end of a drawing of the page and its delivery,
    then a fragment that stands in the page before and after is run at once, and what was to be
    delivered is dropped: the visitor stays on the old page. A refresh of a part that is gone is
    dropped instead, and nobody misses it.

    So would be a press of a button: such a part must not hold any widget.
    """

    def decorate(draw: Callable[P, None]) -> Callable[P, None]:
        @wraps(draw)
        def part(*args: P.args, **kwargs: P.kwargs) -> None:
            def this_time() -> None:
                dialog.follow_dialog()
                draw(*args, **kwargs)

            this_time.__qualname__ = f"{draw.__qualname__}-{token_hex(8)}"
            st.fragment(this_time, run_every=seconds)()

        return part

    return decorate


def again() -> None:
    """Draw the whole page anew; while a dialog is open, return, and do so once it is closed."""
    if not dialog.dialog_is_open():
        st.rerun()
