"""What the values of the files say of the schema, before anything is stored: for the custodian alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.domain.schemas.schema import Schema
from pages.components.custodian.intake.intake_draft import YES
from pages.components.custodian.intake.intake_tables import KEEP, TableDraft, remembered
from pages.components.kit.markup import plain, text

if TYPE_CHECKING:
    from dpcore.intake.check.examination import AnyFinding


PERSON = "the person alone"


def ask(child: TableDraft, children: list[TableDraft], described: dict[str, Any]) -> list[str]:
    """Ask it, note it in what is ``described`` of the table, and tell what is lacking.

    The key of the other table's rows is noted as ``row_key_above``, until :func:`tell_apart`.
    """
    others = {other.ident: other for other in children if other is not child and other.name}
    if not others:
        return []
    which, here, there = st.columns(3)
    chosen: str = which.selectbox(
        "Rows belong to",
        [PERSON, *others],
        key=remembered(f"intake-parent-{child.ident}", PERSON, [PERSON, *others]),
        format_func=lambda ident: others[ident].name if ident in others else ident,
        help=text("rows_belong"),
        **KEEP,
    )
    if chosen == PERSON:
        return []
    above = others[chosen]
    parent = above.name
    own: str | None = here.selectbox(
        f"Column that names the row of {plain(parent)}",
        child.columns,
        key=remembered(f"intake-parent-key-{child.ident}", None, child.columns),
        placeholder="Choose a column",
        **KEEP,
    )
    other: str | None = there.selectbox(
        f"Column of {plain(parent)} with the same values",
        above.columns,
        key=remembered(f"intake-row-key-{child.ident}", None, above.columns),
        placeholder="Choose a column",
        **KEEP,
    )
    if own is None or other is None:
        return [f"Table '{child.name}': choose the columns that link it to rows of '{parent}'."]
    described |= {"parent": parent, "parent_key": own, "row_key_above": other}
    return []


def tell_apart(described: list[dict[str, Any]]) -> list[str]:
    """Give each table the key by which others name its rows; what does not go together.

    Columns that link rows are never stored, so they are no columns of the tables.
    """
    keys: dict[str, str] = {}
    faults = []
    for table in described:
        if (key := table.pop("row_key_above", None)) is None:
            continue
        if keys.setdefault(table["parent"], key) != key:
            faults.append(
                f"Tables that belong to rows of '{table['parent']}' must name these by the same column of it."
            )
    for table in described:
        if table["name"] in keys:
            table["row_key"] = keys[table["name"]]
        links = {table.get("row_key"), table.get("parent_key")}
        table["columns"] = [column for column in table["columns"] if column["name"] not in links]
    return faults


def answers(schema: Schema, tables: list[TableDraft]) -> dict[str, Any]:
    """What the fields begin with, so that they say what a schema does."""
    marks: dict[str, Any] = {}
    idents = {table.name: table.ident for table in tables}
    for child in schema.children:
        for table in (table for table in tables if table.name == child.name):
            parent = schema.parent_of(child)
            marks[f"intake-parent-{table.ident}"] = PERSON if parent is None else idents[parent.name]
            marks[f"intake-parent-key-{table.ident}"] = child.parent_key
            marks[f"intake-row-key-{table.ident}"] = None if parent is None else parent.row_key
    return marks


_ROWS = " Findings about people and rows are below."
#: Changes to columns, by their places: ``TABLE.COLUMN``, or the name alone in the main table.
Changes = dict[str, dict[str, Any]]


def accepted() -> list[str]:
    """What the custodian stores all the same: losses as they were told, so that a yes covers no other."""
    return [str(key).removeprefix(YES) for key, yes in st.session_state.items() if _is_yes(str(key), yes)]


def _is_yes(key: str, yes: object) -> bool:
    return key.startswith(YES) and yes is True


def render(findings: list[AnyFinding], apply: Callable[[Changes], None] | None) -> bool:
    """Draw what was found; whether the check is to be repeated, and the data set stored.

    Parameters
    ----------
    apply : callable
        Takes changes to columns into the draft; ``None`` where the schema stays as it is.
    """
    told = sorted((each for each in findings if each.sentence), key=lambda each: not each.needs_yes)
    if not told:
        return False
    asked = [each for each in told if each.needs_yes]
    columns, rows = (sum(each.of_values is kind for each in asked) for kind in (True, False))
    with st.container(border=True, key="intake-findings"):
        st.subheader("Do the values fit?", anchor=False)
        st.markdown(text("findings").format(asked=columns, fit=len(findings) - len(told), rows=_ROWS * bool(rows)))
        all_accepted = _all_at_once(told, asked, apply)
        for finding in told:
            _one(finding, apply)
        return st.button("Check again and store", type="primary", key="press-store-again") or all_accepted


def _all_at_once(told: list[AnyFinding], asked: list[AnyFinding], apply: Callable[[Changes], None] | None) -> bool:
    """What mends all of it in one press; whether all that loses values was accepted, and is to be stored."""
    first = {each.place: each.corrections[0].change for each in told if each.of_values and each.corrections}
    with st.container(horizontal=True):
        if (
            apply
            and len(first) > 1
            and st.button(f"Take the first suggestion for all {len(first)}", key="press-correct-all")
        ):
            apply(first)
        if len(asked) > 1 and st.button(f"Store all {len(asked)} all the same", key="press-accept-all"):
            for each in asked:
                st.session_state[f"{YES}{each.yes}"] = True
            return True
        return False


def _one(finding: AnyFinding, apply: Callable[[Changes], None] | None) -> None:
    with st.container(border=True):
        st.markdown(plain(finding.sentence))
        with st.container(horizontal=True, vertical_alignment="center"):
            if apply:
                _change(finding, apply)
            if finding.needs_yes:
                st.checkbox("Store it all the same", key=remembered(f"{YES}{finding.yes}", False), **KEEP)


def _change(finding: AnyFinding, apply: Callable[[Changes], None]) -> None:
    for number, correction in enumerate(finding.corrections):
        if st.button(plain(correction.words), key=f"press-correct-{finding.place}-{number}"):
            apply({finding.place: correction.change})
    if finding.of_values and st.button("Leave the column out", key=f"press-leave-{finding.place}"):
        apply({finding.place: {"keep": False}})
