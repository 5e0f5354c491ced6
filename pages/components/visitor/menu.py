"""The pages of the application, who may open them, and links to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

from dpcore.workspace.users import ROLES, Role
from pages.components.visitor import login

_MODELLERS: tuple[Role, ...] = ("analyst", "teacher")


class Entry(NamedTuple):
    """A page, and the roles of which one is needed to open it."""

    path: str
    title: str
    icon: str
    roles: tuple[Role, ...]


MENU = (
    Entry("data_sets.py", "Data sets", ":material/table_view:", ROLES),
    Entry("first_look.py", "First look", ":material/bar_chart:", _MODELLERS),
    Entry("rule_list.py", "Rule list", ":material/rule:", _MODELLERS),
    Entry("tree.py", "Tree", ":material/account_tree:", _MODELLERS),
    Entry("forest.py", "Forest", ":material/forest:", _MODELLERS),
    Entry("shape_functions.py", "Shape functions", ":material/stacked_line_chart:", _MODELLERS),
    Entry("redescriptions.py", "Redescriptions", ":material/join_inner:", _MODELLERS),
    Entry("relational_rules.py", "Relational rules", ":material/family_history:", _MODELLERS),
    Entry("releases.py", "Releases", ":material/inventory_2:", ROLES),
    Entry("report.py", "Report", ":material/description:", ROLES),
    Entry("learn.py", "Learn", ":material/school:", ROLES),
    Entry("class_room.py", "Class room", ":material/groups:", ROLES),
    Entry("custodian.py", "Custodian", ":material/shield_person:", ("custodian",)),
)
_ROLES = {entry.path: entry.roles for entry in MENU}


def pages() -> list[Any]:
    """Pages that the visitor may open. Others do not exist for them, whatever the address says."""
    return [_page(entry) for entry in MENU if login.may(*entry.roles)]


def every_page() -> list[Any]:
    """All pages, for visitors who are not admitted yet: every address leads to the same refusal."""
    return [_page(entry) for entry in MENU]


def _page(entry: Entry) -> Any:
    return st.Page(entry.path, title=entry.title, icon=entry.icon)


def may_open(path: str) -> bool:
    """Whether the visitor may open a page."""
    return login.may(*_ROLES[path])


def link(path: str, label: str, **more: Any) -> None:
    """A link to a page; nothing, if the visitor may not open it."""
    if may_open(path):
        st.page_link(path, label=label, icon=":material/arrow_forward:", **more)
