"""The pages of the application, who may open them, and links to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

from dpcore.workspace.people.users import ROLES, Role
from pages.components.visitor import login

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


def draw(waiting: int = 0) -> None:
    """Links to the pages that the visitor may open, in groups that can be folded.

    ``waiting`` requests are counted beside the page on which custodians answer them.
    """
    known = [entry for entry in MENU if may_open(entry.path)]
    for group in dict.fromkeys(entry.group for entry in known):
        own = [entry for entry in known if entry.group == group]
        with st.expander(group, expanded=True):
            for entry in own:
                count = f" ({waiting})" if waiting and entry.group == _MANAGE else ""
                st.page_link(entry.path, label=entry.title + count, icon=entry.icon)


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
