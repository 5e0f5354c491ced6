"""A made-up case that a clause covers: drawn from the clause and the schema, nobody's record."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.fulfilled import fulfilling_rows
from dpcore.models.ilp.released.ilp_reading import clause_texts
from dpcore.plots.ilp.train import is_train, train_alt, train_figure
from dpcore.released.release import Release
from pages.components.kit import figure, markup
from pages.components.kit.markup import text

if TYPE_CHECKING:
    import pandas as pd


@st.fragment
def made_up_cases(release: Release, model: Any, key: str) -> None:
    """One invented case of a clause, and a button for another."""
    markup.banner("plain", "ilp_made_up")
    if not model.clauses:
        st.info("There is no clause to make a case for.")
        return
    place = choose_clause(release, model, "Made up from", f"{key}-made-up")
    seed_key = f"{key}-seed"
    tables = made_up(release, model, place, st.session_state.get(seed_key, 1))
    if tables:
        draw(release.domain, tables, f"{key}-made-up", fulfilling(release, model, place, tables))
        st.caption(text("ilp_marked"))
    else:
        st.info("No case that the schema allows is covered by this clause.")
    st.button("Another one", key=f"{key}-another", icon=":material/refresh:", on_click=_another, args=(seed_key,))


def choose_clause(release: Release, model: Any, label: str, key: str) -> int:
    """Position of a clause that the visitor chooses."""
    names = [f"{told.title}: {told.words}" for told in clause_texts(release)]
    return int(st.selectbox(label, range(len(model.clauses)), format_func=names.__getitem__, key=f"{key}-clause"))


def made_up(release: Release, model: Any, place: int, seed: int) -> dict[str, pd.DataFrame]:
    """Tables of an invented case; empty if the clause covers nobody."""
    return made_up_case(model.clauses[place], release.domain, release.target, seed)


def fulfilling(release: Release, model: Any, place: int, tables: Mapping[str, pd.DataFrame]) -> Mapping[str, Any]:
    """For each table the rows that fulfil what a clause asks for."""
    return fulfilling_rows(model.clauses[place], release.domain, tables)


def _another(seed_key: str) -> None:
    st.session_state[seed_key] = st.session_state.get(seed_key, 1) + 1


def draw(schema: Schema, tables: Mapping[str, pd.DataFrame], key: str, marked: Mapping[str, Any]) -> None:
    """A train as a picture, or any case; its tables below, the rows that fulfil a clause marked."""
    if is_train(schema):
        picture(tables["car"], key)
    person = tables[schema.entity]
    if len(person.columns) > 1:
        _table(schema, schema.entity, person, str(schema.privacy_unit.column))
    for child in schema.parents_first:
        known = {*(column.name for column in child.columns), *child.links}
        shown = tables[child.name][[name for name in tables[child.name] if name in known]]
        _table(schema, child.name, shown, schema.key_of(child), marked.get(child.name))


def picture(cars: pd.DataFrame, key: str) -> None:
    """Draw a train in a frame of its own, in which a long one scrolls."""
    drawn = train_figure(cars)
    with st.container(key=f"{key}-train-diagram"):
        figure.render(drawn, key=f"{key}-train", alt=train_alt(cars), width=int(drawn.layout.meta["width"]))


def _table(schema: Schema, name: str, frame: pd.DataFrame, own_key: str, marked: Any = None) -> None:
    """Rows of one table, without the key: all are of one case; what fulfils the clause is marked."""
    columns = [column for column in frame.columns if column != own_key]
    if not len(frame):
        st.markdown(f"**{markup.plain(name)}**: no row.")
        return
    order = ", the earliest first" if name != schema.entity and schema.table(name).keeping.keep != "random" else ""
    title = f"The {schema.entity}" if name == schema.entity else f"{name}: {_rows_counted(len(frame))}{order}"
    marks = [None] * len(frame) if marked is None else [bool(mark) for mark in marked]
    rows = [
        markup.row(
            [*([] if mark is None else [_mark(mark)]), *(_shown_cell(value) for value in record)],
            style="fits" if mark else "",
        )
        for record, mark in zip(frame[columns].itertuples(index=False, name=None), marks, strict=True)
    ]
    markup.table(title, columns if marked is None else ["Clause", *columns], rows)


def _mark(fits: bool) -> str:
    return markup.unbroken("✔ fulfils it") if fits else "–"


def _rows_counted(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _shown_cell(value: Any) -> str:
    return "not known" if value is None or value != value else escape(str(value))
