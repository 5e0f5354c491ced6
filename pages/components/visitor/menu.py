"""The way around: pages and who may open them, links, the tour, and back to where a login ended."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dpcore.workspace.people.users import ROLES, Role
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access, login, remembered

_MODELLERS: tuple[Role, ...] = ("analyst", "teacher")


class Entry(NamedTuple):
    """A page, the group of the menu that it stands in, and the roles of which one is needed to open it.

    ``free``: whoever has logged in may open it, whatever their roles, for it touches no data set.
    """

    path: str
    title: str
    icon: str
    roles: tuple[Role, ...]
    group: str
    free: bool = False


_EXPLORE, _MODELS, _RESULTS, _MANAGE = "Explore", "Models", "Results", "Manage"
GUIDE = "which_method.py"
MENU = (
    Entry("data_sets.py", "Data sets", ":material/table_view:", ROLES, _EXPLORE),
    Entry(GUIDE, "Which method?", ":material/explore:", _MODELLERS, _EXPLORE),
    Entry("first_look.py", "First look", ":material/bar_chart:", _MODELLERS, _EXPLORE),
    Entry("learn.py", "Learn", ":material/school:", ROLES, _EXPLORE, free=True),
    Entry("class_room.py", "Classroom", ":material/groups:", ROLES, _EXPLORE, free=True),
    Entry("rule_list.py", "Rule list", ":material/rule:", _MODELLERS, _MODELS),
    Entry("tree.py", "Tree", ":material/account_tree:", _MODELLERS, _MODELS),
    Entry("forest.py", "Forest", ":material/forest:", _MODELLERS, _MODELS),
    Entry("shape_functions.py", "Shape functions", ":material/stacked_line_chart:", _MODELLERS, _MODELS),
    Entry("redescriptions.py", "Redescriptions", ":material/join_inner:", _MODELLERS, _MODELS),
    Entry("relational_rules.py", "Relational rules", ":material/family_history:", _MODELLERS, _MODELS),
    Entry("releases.py", "Releases", ":material/inventory_2:", ROLES, _RESULTS),
    Entry("report.py", "Report", ":material/description:", ROLES, _RESULTS),
    Entry("custodian.py", "Custodian", ":material/shield_person:", ("custodian",), _MANAGE),
)
_BY_PATH = {entry.path: entry for entry in MENU}


def pages() -> list[Any]:
    """Pages that the visitor may open. Others do not exist for them, whatever the address says."""
    return [_page(entry) for entry in MENU if may_open(entry.path)]


def every_page() -> list[Any]:
    """All pages, for visitors who are not admitted yet: every address leads to the same refusal."""
    return [_page(entry) for entry in MENU]


def _page(entry: Entry) -> Any:
    return st.Page(entry.path, title=entry.title, icon=entry.icon)


def draw() -> None:
    """Links to the pages that the visitor may open, in groups that can be folded.

    Requests that wait are counted beside the page on which custodians answer them.
    """
    open_requests = waiting()
    known = [entry for entry in MENU if may_open(entry.path)]
    for group in dict.fromkeys(entry.group for entry in known):
        own = [entry for entry in known if entry.group == group]
        with st.expander(group, expanded=True):
            for entry in own:
                count = f" ({open_requests})" if open_requests and entry.group == _MANAGE else ""
                st.page_link(entry.path, label=entry.title + count, icon=entry.icon)


def waiting() -> int:
    """How many requests wait for the visitor to answer them."""
    asked = access.service().budget_requests() if login.may("custodian") else ()
    return sum(one.state == "open" for one in asked)


def path_of(url_path: str) -> str | None:
    """The page at an address that the visitor may open."""
    path = f"{url_path}.py"
    return path if path in _BY_PATH and may_open(path) else None


def may_open(path: str) -> bool:
    """Whether the visitor may open a page."""
    entry = _BY_PATH[path]
    return entry.free or login.may(*entry.roles)


def link(path: str, label: str, **more: Any) -> None:
    """A link to a page; nothing, if the visitor may not open it."""
    if may_open(path):
        st.page_link(path, label=label, icon=":material/arrow_forward:", **more)


_STATE = "returned"


def note_address(url_path: str) -> None:
    """Remember the address of somebody who has to log in first."""
    needed, _ = access.attempt(login.login_needed)  # It may not be known, if the settings are faulty.
    if not needed:
        return
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    if url_path or query:
        remembered.remember(remembered.PLACE, f"{url_path}?{query}")


def return_after_login(url_path: str) -> None:
    """Open that page, once, if this is the first page after a login."""
    state = st.session_state
    if state.get(_STATE) == "done" or not login.login_needed():
        return
    wanted, _, query = remembered.remembered(remembered.PLACE).partition("?")
    path = path_of(wanted)
    if _STATE not in state and not url_path and path is not None:
        state[_STATE] = "on the way"
        st.switch_page(path, query_params=dict(parse_qsl(query)))
    state[_STATE] = "done"
    if wanted or query:
        remembered.remember(remembered.PLACE, "")


#: Holds the page on which the tour is open; nothing before the first page, empty when closed.
_TOUR = "tour"
#: Set once it was closed in this session, and still has to be remembered for the next.
_CLOSED = "tour-closed"
#: The first page of the menu has no name of its own.
_FIRST = "first"
#: Whoever comes to these first, by a link, comes for a lesson.
_LESSONS = ("learn", "class_room")


def tour(page: str) -> None:
    """The tour, if it is open on this page; a visitor who comes for a result or a lesson needs none."""
    page, state = page or _FIRST, st.session_state
    with drawing.placeholder():
        if state.get(_CLOSED) and not login.login_needed():
            remembered.remember(remembered.TOUR, "seen")
    if _TOUR not in state:
        elsewhere = access.RUN_PARAMETER in st.query_params or page in _LESSONS
        state[_TOUR] = "" if elsewhere or _tour_seen() else page
    if state[_TOUR] == page and drawing.dialog_is_open():  # Whoever is asked something has found the way.
        state[_TOUR] = ""
    elif state[_TOUR] == page:
        _tour_dialog()


def offer_tour(page: str) -> None:
    """A button that opens the tour again."""
    page = page or _FIRST
    if st.session_state.get(_TOUR) != page:
        st.button("Show the tour", key="tour-show", on_click=_open_tour, args=(page,), icon=":material/tour:")


def _tour_seen() -> bool:
    """Whether the visitor has closed it before: by name where there is a login, else by browser."""
    if not login.login_needed():
        return remembered.remembered(remembered.TOUR) != ""
    seen, _ = access.attempt(lambda: access.service().has_seen(remembered.TOUR))
    return bool(seen)


def _open_tour(page: str) -> None:
    st.session_state[_TOUR] = page


def _close_tour() -> None:
    st.session_state[_TOUR] = ""
    drawing.dialog_answered()
    if not st.session_state.get(_CLOSED):
        st.session_state[_CLOSED] = True
        if login.login_needed():
            access.attempt(lambda: access.service().note_seen(remembered.TOUR))


@drawing.dialog("New here? Five steps.", width="medium", on_dismiss=_close_tour)
def _tour_dialog() -> None:
    steps = text("tour" if may_open("rule_list.py") else "tour_custodian")
    st.html(f'<section class="fg-tour" aria-label="Tour">{steps}</section>')
    with st.container(horizontal=True):
        if st.button("Which method? Help me choose", key="tour-guide") and may_open(GUIDE):
            _close_tour()
            st.switch_page(GUIDE)
        st.button("Got it", key="tour-hide", type="primary", on_click=_close_tour)
