"""How a page is drawn, and drawn again: slots, tabs, dialogs, parts that refresh themselves, and what is made once.

A browser knows a container by its position among its neighbours. If something appears above it,
its position changes: then the browser draws it again, and what was being typed in it is gone. So
what is not always there stands in a slot that is: an empty one takes no room.

A browser hides a dialog as soon as a new drawing of the whole page begins, and shows it again once
that drawing comes to it: a click in between is lost, and so is the focus. So what refreshes itself
waits until the dialog is closed (:func:`again`), and a page draws its dialog before the rest. Which
question is asked stays with who asks it: only an answer or a dismissal ends it, no drawing does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import lru_cache, wraps
from secrets import token_hex
from typing import Any, Literal, ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_tab_container import TabContainer

from dpcore.frozen import FrozenModel
from dpcore.released.blocks import Groups

P = ParamSpec("P")
T = TypeVar("T")
_KEY = "dialog"
_OPEN, _ANSWERED = "open", "answered"


def placeholder() -> DeltaGenerator:
    """A slot for something that may be there or not."""
    return st.container()


def placeholders(key: str, present: Sequence[str]) -> dict[str, DeltaGenerator]:
    """A slot for each of several things, whose number changes.

    What is gone leaves its slot empty; what is new comes last, whatever its order.

    Parameters
    ----------
    key : str
        Where the order is remembered for the session.
    """
    order: list[str] = st.session_state.setdefault(key, [])
    order += [name for name in present if name not in order]
    with placeholder():
        slots = {name: st.container() for name in order}
    return {name: slots[name] for name in present}


def tabs(parts: Mapping[str, Callable[[], None]], key: str, stay: Collection[str] = ()) -> None:
    """Draw the open tab; opening another one draws the page, or the fragment in which they stand, anew.

    Parameters
    ----------
    parts : mapping
        Name of each tab, and what draws what is in it.
    key : str
        Remembers which tab is open. Other names need another key.
    stay : collection of str
        Tabs in which something can be typed or chosen: once opened they are always drawn, for Streamlit forgets what
        is not drawn.
    """
    opened: set[str] = st.session_state.setdefault(f"{key}-opened", set())
    places = dict(zip(parts, st.tabs(list(parts), key=key, on_change="rerun"), strict=True))
    for name, tab in places.items():
        if is_open(tab):
            opened.add(name)
        elif name not in opened or name not in stay:
            continue
        with tab:
            parts[name]()


#: The same; opening another one draws nothing but the tabs.
tabs_apart = st.fragment(tabs)


def is_open(part: TabContainer | ExpanderContainer) -> bool:
    """Whether somebody has opened a tab, or a part that is closed at first."""
    return bool(part.open)


def was_opened(part: ExpanderContainer, key: str) -> bool:
    """Whether somebody has opened a part by now: from then on it is drawn, for Streamlit forgets what is not."""
    opened: bool = st.session_state.get(f"{key}-opened", False) or is_open(part)
    st.session_state[f"{key}-opened"] = opened
    return opened


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
                follow_dialog()
                draw(*args, **kwargs)

            this_time.__qualname__ = f"{draw.__qualname__}-{token_hex(8)}"
            st.fragment(this_time, run_every=seconds)()

        return part

    return decorate


def again() -> None:
    """Draw the whole page anew; while a dialog is open, return, and do so once it is closed."""
    if not dialog_is_open():
        st.rerun()


class _Same:
    """Something large, told from others by being itself."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


def once(make: Callable[..., T], *of: Any) -> T:
    """What ``make`` makes of releases, models, schemas and groups, which never change, and of other values.

    A page is drawn again after each click: what follows from a release alone is made once, and kept
    until others have taken its place.
    """
    made: T = _made(make, tuple(_Same(value) if isinstance(value, FrozenModel | Groups) else value for value in of))
    return made


@lru_cache(maxsize=128)
def _made(make: Callable[..., Any], of: tuple[Hashable, ...]) -> Any:
    return make(*(value.value if isinstance(value, _Same) else value for value in of))
