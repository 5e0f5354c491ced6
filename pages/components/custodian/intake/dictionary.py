"""A data dictionary that fills in the form: what it says of the columns that there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.errors import IngestError
from dpcore.intake.columns import schema_rows
from dpcore.intake.dictionaries.drafts import Draft as Told
from dpcore.intake.dictionaries.drafts import sources_of
from dpcore.intake.process.repeats import divide_repeats
from dpcore.intake.process.uploads import ask
from pages.components.custodian.intake import intake_yaml
from pages.components.custodian.intake.intake_tables import TableDraft
from pages.components.custodian.intake.uploads import let_go, receive, title_of
from pages.components.kit.markup import plain, text

if TYPE_CHECKING:
    from dpcore.intake.dictionaries.drafts import Draft as Told
    from dpcore.intake.process.readers import Watch
    from pages.components.custodian.intake.intake_draft import Draft

#: Bytes of a dictionary; files of SPSS, Stata and SAS, which hold rows besides, are brought as data.
_MOST = 5_000_000
_TYPES = ("csv", "json", "jsonld", "sav", "zsav", "dta", "sas7bdat", "xpt")
#: Ways to describe the columns.
FORM, FILE = "Fill in a form", "Write or bring a schema (YAML or JSON)"
_AS_TEXT = "This export holds repeating instruments: it is described as text, with a table for each. Complete it there."
_NONE = "The dictionary describes none of the columns of these files. Their names must be the same."


@dataclass(frozen=True)
class UploadedFile:
    """A file as it came."""

    name: str
    content: bytes


def render(place: str) -> UploadedFile | None:
    """Ask for a dictionary; there is one in the run after it was brought."""
    with st.expander("Fill in from a data dictionary"):
        st.markdown(text("dictionary"))
        files = receive("Data dictionary (REDCap, Data Package, CSVW, SPSS, Stata or SAS)", place, types=_TYPES)
    if not files:
        return None
    brought = UploadedFile(files[0].name, files[0].getvalue() if files[0].size <= _MOST else b"")
    let_go(place, files)
    return brought


def fill_in(
    draft: Draft, tables: list[TableDraft], brought: UploadedFile, files: list[Path], watch: Watch
) -> list[str]:
    """Let the form say what a dictionary says of the tables, the main one first; sentences about the rest.

    Of ``files`` that are one table, an export of REDCap with repeats is described as text: these are several tables.

    Raises
    ------
    IngestError
        If it is no dictionary, or one of other columns.
    """
    told = _read(brought, watch)
    main, *children = tables
    if files and divide_repeats(told, main.columns, files, watch):
        told.within(main.columns)
        draft.fresh |= {"intake-way": FILE, "intake-yaml": intake_yaml.text_of(told.content, {})}
        return [_AS_TEXT, *told.sentences]
    described = {child["name"]: child for child in told.content.get("children", ())}
    person = told.content.get("privacy_unit", {}).get("column")
    absent = _fill(main, told.content["columns"], told.left_out)
    if len(absent) == len(told.content["columns"]):
        raise IngestError(_NONE)
    draft.fresh |= _answers(told, main, alone=not children and not draft.keys)
    for table in children:
        if table.name in described:
            _fill(table, described[table.name]["columns"], {})
            draft.fresh[f"intake-child-key-{table.ident}"] = described[table.name].get("key", person)
    return [*told.sentences, *([f"Not in the data file: {', '.join(absent)}."] if absent else [])]


def _read(brought: UploadedFile, watch: Watch) -> Told:
    if not brought.content:
        raise IngestError(
            f"The dictionary is empty, or larger than {_MOST // 1_000_000} MB. A file of SPSS, Stata or SAS that is so "
            "large is brought as the data file: its labels are taken from there."
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"dictionary{Path(brought.name).suffix.lower()}"
        path.write_bytes(brought.content)
        return Told(**ask("dictionary", [path], path=path, title=title_of(brought.name), watch=watch))


def _fill(table: TableDraft, columns: list[dict[str, Any]], left_out: dict[str, str]) -> list[str]:
    """Put columns into a table's rows; the names of those that the table cannot have."""
    there = {*table.columns}
    known = [column for column in columns if sources_of(column) <= there]
    used = {*left_out}.union(*map(sources_of, known))
    aside = [{"name": name, "keep": False} for name in table.columns if name in used]
    table.show(schema_rows.replaced(table.now, [*aside, *known]))
    return [plain(f"'{column['name']}'") for column in columns if column not in known]


def _answers(told: Told, main: TableDraft, *, alone: bool) -> dict[str, Any]:
    """What the other fields of the form begin with."""
    content = told.content
    unit = content.get("privacy_unit") or {}
    answers = {"intake-name": content["name"]}
    answers |= {"intake-max-rows": content["max_rows"]} if "max_rows" in content else {}
    answers |= {"intake-description": content["description"]} if content.get("description") else {}
    if alone and unit.get("column") in main.columns:
        answers |= {"intake-person": unit["column"], "intake-rows-each": unit.get("max_rows_per_person", 1)}
    return answers
