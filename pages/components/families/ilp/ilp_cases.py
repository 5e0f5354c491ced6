"""Cases on a page of relational rules: made up from a clause and the schema, nobody's record, or typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.released.clause_columns import ClauseColumns, clause_columns
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.fulfilled import fulfilling_rows
from dpcore.models.ilp.released.ilp_reading import clause_texts
from dpcore.models.ilp.released.ilp_words import one_row
from dpcore.plots.ilp.train import is_train, train_alt, train_figure
from dpcore.released.release import Release
from pages.components.families.shared import predict
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text

if TYPE_CHECKING:
    import pandas as pd

_EMPTY = -1


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


@st.fragment
def try_case(release: Release, model: Any, key: str) -> None:
    """Fields for the main row, a table to edit for each other, and the answer."""
    st.markdown(text("case"))
    if not clause_columns(model.clauses).columns:
        one = markup.plain(one_row(release.domain))
        st.info(f"No clause asks anything: every {one} gets the same estimate.")
        return
    start = _start(release, model, key)
    tables = _edited(release, model, start, f"{key}-try-{start}")
    with drawing.placeholder():
        _too_many(release.domain, tables)
    _answer(release, model, tables)


def _start(release: Release, model: Any, key: str) -> int:
    """The clause whose made-up case is edited, or none."""
    names = [f"the made-up case of {told.title.lower()}" for told in clause_texts(release)]
    names[_EMPTY] = "an empty case"
    return int(
        st.selectbox(
            "Start from", [*range(len(model.clauses)), _EMPTY], format_func=names.__getitem__, key=f"{key}-try-start"
        )
    )


def _edited(release: Release, model: Any, start: int, key: str) -> dict[str, pd.DataFrame]:
    """Tables of the case as the visitor changed them, keys included."""
    schema, asked = release.domain, clause_columns(model.clauses)
    given = made_up(release, model, start, 1) if start != _EMPTY else {}
    tables = {schema.entity: _main(schema, asked.columns.get("", ()), given.get(schema.entity), key)}
    for child in (own for own in schema.parents_first if own.name in asked.columns):
        tables[child.name] = _rows(schema, child, _links(child, asked), given.get(child.name), key)
    return tables


def _links(child: ChildTable, clause_columns: ClauseColumns) -> dict[str, str]:
    """Columns that tell which rows belong to which, where clauses ask for that, each with what it is for."""
    below = sorted(own for table, own in clause_columns.nested if table == child.name)
    links = {}
    if below:
        links[str(child.row_key)] = f"What rows of {' and '.join(below)} call it. Any number or name."
    if (child.parent, child.name) in clause_columns.nested:
        links[str(child.parent_key)] = f"The {child.parent} that it belongs to, as the table of these calls it."
    return links


def _main(schema: Schema, asked: Sequence[str], given: pd.DataFrame | None, key: str) -> pd.DataFrame:
    import pandas as pd

    names = [column.name for column in schema if column.name in asked]
    values: dict[str, Any] = {str(schema.privacy_unit.column): 1}
    places = st.columns(min(3, len(names))) if names else []
    for position, name in enumerate(names):
        first = None if given is None else given[name].iloc[0]
        with places[position % len(places)]:
            values[name] = _field(schema.column(name), first, f"{key}-{name}")
    return pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in values.items()})


def _field(column: Any, first: Any, key: str) -> Any:
    numeric = isinstance(column, NumericColumn)
    label = markup.plain(f"{column.name} ({column.unit})" if numeric and column.unit else column.name)
    if numeric:
        whole = column.type == "integer"
        return st.number_input(
            label,
            value=None if first is None else int(first) if whole else float(first),
            step=1 if whole else None,
            placeholder="not known",
            key=key,
        )
    options = list(column.classes)
    return st.selectbox(
        label, options, index=options.index(first) if first in options else None, placeholder="not known", key=key
    )


def _rows(
    schema: Schema, child: ChildTable, links: Mapping[str, str], given: pd.DataFrame | None, key: str
) -> pd.DataFrame:
    """Rows of one table, to be edited, added and taken out."""
    import pandas as pd

    names, own_key = [*links, *(column.name for column in child.columns)], schema.key_of(child)
    most = child.max_rows_per_person
    order = ", in the order of time: the earliest first" if child.keep != "random" else ""
    above = f"; '{child.parent_key}' names the {child.parent} of each" if child.parent_key in links else ""
    rows = f"at most {most} row{'' if most == 1 else 's'}{order}"
    st.markdown(f"**{markup.plain(child.name)}**: {rows}{markup.plain(above)}")
    blank = pd.DataFrame({name: pd.Series([], dtype=object) for name in names})
    shown = blank if given is None else given[names].astype(dict.fromkeys(links, str))
    edited: pd.DataFrame = st.data_editor(
        shown,
        column_config={
            **{name: st.column_config.TextColumn(help=markup.plain(told)) for name, told in links.items()},
            **{column.name: _cell(column) for column in child.columns},
        },
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        key=f"{key}-{child.name}",
    ).dropna(how="all")
    return edited.assign(**{own_key: 1}).reset_index(drop=True)


def _cell(column: Any) -> Any:
    described = markup.plain(column.description) or None
    if isinstance(column, NumericColumn):
        return st.column_config.NumberColumn(help=described, step=1 if column.type == "integer" else None)
    return st.column_config.SelectboxColumn(help=described, options=list(column.classes))


def _too_many(schema: Schema, tables: dict[str, pd.DataFrame]) -> None:
    entity = markup.plain(schema.entity)
    for child in schema.children:
        count, most = len(tables.get(child.name, ())), child.max_rows_per_person
        if count > most:
            st.warning(
                f"The data set keeps at most {most} of these rows for each {entity}, and here are "
                f"{count} of {markup.plain(child.name)}: nobody in it looks like this."
            )


def _answer(release: Release, model: Any, tables: dict[str, pd.DataFrame]) -> None:
    """The clauses that cover the case, or may, what they predict, and the noisy chance."""
    schema, told = release.domain, clause_texts(release)
    if is_train(schema) and "car" in tables:
        picture(tables["car"], f"try-{release.id}")
    possible = model.possible_groups(tables, schema)
    places = [predict.Place(_name(told[place]), model.groups[place], model.count_margin) for place in possible]
    labels = list(dict.fromkeys(model.classes[model.labels[place]] for place in possible))
    title = f"{len(possible)} answers are possible"
    if len(possible) == 1:
        title = f"{told[possible[0]].title} covers it" if told[possible[0]].prolog else "No clause covers it"
    label = f"{release.target} = {model.classes[model.positive]}"
    predicted = f"Predicted: {release.target} = {' or '.join(labels)}."
    caveat = f"{predicted} This describes a group, not the future of one {schema.entity}."
    predict.answer(title, label, places, model.positive, markup.plain(caveat))
    if len(possible) == 1 and told[possible[0]].prolog:
        st.caption(markup.plain(places[0].name))


def _name(told: Any) -> str:
    return f"{told.title}: {told.words}" if told.prolog else "No clause: everybody else"
