"""The tables of an upload: where the rows of each come from, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dpcore.errors import IngestError
from dpcore.intake.columns import schema_rows
from dpcore.intake.columns.identifiers import suggest_person
from dpcore.workspace.files.staging import StagedFile
from pages.components.custodian.intake.uploads import is_database
from pages.components.kit.markup import plain, text

if TYPE_CHECKING:
    from dpcore.intake.joins.relations import Source


#: What makes an answer outlive its page. It is noted on the desk besides, for other sessions.
KEEP: dict[str, Any] = {"persist_state": "session"}
#: Changes that can be taken back.
STEPS = 50


def remembered(key: str, first: Any, options: Sequence[Any] = ()) -> str:
    """The key of a widget that begins with an answer, unless one is known that is on offer."""
    known = st.session_state.setdefault(key, first)
    if options and known is not None and known not in options:
        st.session_state[key] = first
    return key


@dataclass
class TableDraft:
    """What the custodian has so far for one table: names and typed text, no records.

    Attributes
    ----------
    ident : str
        The upload's own mark, or the name in a database.
    title : str
        Name of the file, or of the table in the database.
    name : str
        What the table is called in the schema.
    columns : list of str
        All columns, the keys included.
    rows : DataFrame
        The rows that the form began with.
    typed : DataFrame or None
        The rows of the form as they were last answered.
    past, future : list
        What was changed, to be undone or done again: the changed rows as they were.
    rest : dict
        What a schema that was taken over says of the table's rows, beyond the fields of the form.
    """

    ident: str
    title: str
    name: str
    columns: list[str]
    rows: pd.DataFrame
    typed: pd.DataFrame | None = None
    version: int = 0
    #: What is in sight of the form, and why; and how often the grid began anew for that.
    seen: tuple[Any, ...] = ()
    turn: int = 0
    past: list[list[dict[str, Any]]] = field(default_factory=list)
    future: list[list[dict[str, Any]]] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The columns in sight."""
        names: list[str] = self.seen[3] if self.seen else []
        return names

    @property
    def now(self) -> pd.DataFrame:
        """The rows as they are."""
        return self.rows if self.typed is None else self.typed

    def after(self, earlier: TableDraft | None) -> TableDraft:
        """This draft with what was typed in an earlier one about columns of the same name."""
        if earlier is None or earlier.columns == self.columns:
            return earlier or self
        self.name, self.version, self.rest = earlier.name, earlier.version, earlier.rest
        carried = self.rows
        if earlier.typed is not None:
            carried = schema_rows.carry_over(self.rows, earlier.typed)
        self.show(carried)
        return self

    def written(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        rows = schema_rows.written(self.now)
        return {**vars(self), "rows": rows, "typed": None, "seen": (), "version": 0, "turn": 0}

    @classmethod
    def read(cls, content: dict[str, Any]) -> TableDraft:
        """What :meth:`written` gave, to begin the form with."""
        rows = schema_rows.read(content["rows"])
        return cls(**content | {"rows": rows, "typed": rows, "version": 0, "seen": ()})

    @property
    def grid(self) -> str:
        """The key of the grid that shows the rows in sight."""
        return f"intake-rows-{self.ident}-{self.version}-{self.turn}"

    def take_up(self, earlier: TableDraft, edits: Mapping[int, Mapping[str, Any]]) -> None:
        """Go on from another session's notes where this session has a grid: it begins anew, and loses nothing.

        Parameters
        ----------
        earlier : TableDraft
            What this session had of the same table.
        edits : mapping
            What its grid holds: by the places of rows in it, the fields that were typed.
        """
        inside = [row for row in schema_rows.written(earlier.rows) if row[schema_rows.NAME] in earlier.names]
        known = {row[schema_rows.NAME]: row for row in schema_rows.written(earlier.now)}
        fresh: dict[str, dict[str, Any]] = {}
        for place, fields in edits.items():
            name = inside[place][schema_rows.NAME]
            fresh[name] = {field: value for field, value in fields.items() if value != known[name][field]}
        rows = [row | fresh.get(row[schema_rows.NAME], {}) for row in schema_rows.written(self.now)]
        self.show(schema_rows.read(rows))
        self.version = earlier.version + 1

    def show(self, rows: pd.DataFrame) -> None:
        """Let the form begin with these rows when it is next drawn."""
        self.answer(rows)
        self.rows = rows
        self.version += 1

    def answer(self, rows: pd.DataFrame) -> None:
        """Take over what was typed, so that it can be undone."""
        changed = schema_rows.difference(self.now, rows)
        if changed:
            self.past, self.future = [*self.past, changed][-STEPS:], []
        self.typed = rows

    def undo(self) -> None:
        """Take back the last change."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._step(self.future, self.past)

    def _step(self, taken: list[list[dict[str, Any]]], given: list[list[dict[str, Any]]]) -> None:
        rows = schema_rows.restored(self.now, taken.pop())
        given.append(schema_rows.difference(self.now, rows))
        self.rows = self.typed = rows
        self.version += 1


@dataclass
class Uploads:
    """What lies on the desk, and how the files belong together."""

    main: StagedFile
    second: StagedFile | None
    further: list[StagedFile]
    more: list[StagedFile]

    @property
    def all(self) -> list[StagedFile]:
        """Every file, the main one first."""
        return [self.main, *([self.second] if self.second else []), *self.further, *self.more]

    @property
    def paths(self) -> list[Path]:
        """Where they lie."""
        return [file.path for file in self.all]

    @property
    def table(self) -> Path | list[Path]:
        """The file or files of the main table."""
        return [self.main.path, *(file.path for file in self.more)] if self.more else self.main.path

    @property
    def database(self) -> bool:
        """Whether one file holds all tables."""
        return is_database(self.main.name)

    @property
    def several(self) -> bool:
        """Whether each file or table of a database stays a table of its own."""
        return self.database or bool(self.further)

    def check(self) -> None:
        """Refuse what cannot be read together. Raises ``IngestError``."""
        for which, upload in zip(self._places(), self.all, strict=True):
            if upload.size == 0:
                raise IngestError(f"The {which}file is empty. Export it again and upload a file with data.")
        if self.more and (self.second or self.further):
            raise IngestError(
                "One table in several files stands alone: remove these files, or the second one and further tables."
            )
        if self.second is not None and self.further:
            raise IngestError(
                "Two files are joined into one table, or further tables are added: not both. Remove one or the other."
            )

    def _places(self) -> list[str]:
        second = ["second "] if self.second else []
        return ["", *second, *(f"further '{upload.name}' " for upload in [*self.further, *self.more])]

    def source(self, entity: str, children: list[TableDraft]) -> tuple[Source, Path | None]:
        """What the service wants: the file or the files by names, and what is joined.

        Raises
        ------
        IngestError
            If the names of the tables cannot be used.
        """
        names = [entity, *(child.name for child in children)]
        faults = naming_faults(names) if self.further else []
        if faults:
            raise IngestError(" ".join(faults))
        paths = self.paths
        source = dict(zip(names, paths, strict=True)) if self.further else self.table
        return source, paths[1] if self.second else None


def name_files(main: TableDraft, children: list[TableDraft], *, with_main: bool) -> None:
    """Ask what the tables of files are called."""
    st.subheader("Tables", anchor=False)
    st.markdown(text("tables"))
    if with_main:
        key = remembered(f"intake-table-{main.ident}", main.name)
        label = f"What one row of {plain(main.title)} is called"
        main.name = st.text_input(label, key=key, help=text("entity"), **KEEP).strip()
    for child in children:
        key = remembered(f"intake-table-{child.ident}", child.name)
        label = f"Name of the table in {plain(child.title)}"
        child.name = st.text_input(label, key=key, **KEEP).strip()


def choose_tables(tables: list[TableDraft], key: str | None, main: int, mark: str) -> list[int]:
    """Ask which tables of a database count; the main one goes first."""
    st.subheader("Tables", anchor=False)
    st.markdown(text("tables"))
    names = [table.name for table in tables]
    chosen = st.selectbox(
        "Main table, with one row per person",
        names,
        key=remembered(f"intake-main-{mark}", names[main], names),
        help=text("entity"),
        **KEEP,
    )
    others = [name for name in names if name != chosen]
    known = {table.name for table in tables if key in table.columns}
    further = st.multiselect(
        "Further tables about the same people",
        others,
        key=remembered(f"intake-further-{mark}-{chosen}", [name for name in others if name in known]),
        **KEEP,
    )
    return [names.index(chosen), *(names.index(name) for name in names if name in further)]


def naming_faults(names: list[str]) -> list[str]:
    """What is wrong with the names of the tables, the main one first."""
    faults = [] if all(names) else ["Give every table a name."]
    given = [name for name in names if name]
    if len(set(given)) != len(given):
        faults.append("Give each table a name of its own.")
    return faults


def first_key(table: TableDraft, key: str | None) -> str | None:
    """The column that probably says whose row it is."""
    return key if key in table.columns else suggest_person(table.columns)
