"""Tables of a data base that the operator has made known, instead of an upload."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import streamlit as st

from dpcore.errors import RequestError
from dpcore.intake.sources.sources import ENDING, PREFIX, Served, variables
from dpcore.workspace.files.staging import StagedFile, StagingArea
from pages.components.custodian.intake.uploads import DATABASES
from pages.components.kit.markup import text
from pages.components.visitor import access

_EXAMPLE = "patient = clinic.patients\n\nvisit = SELECT patient_id, ward\nFROM clinic.visits\nWHERE year = 2024"
_ENTRY = re.compile(r"\s*([^=\n]+?)\s*=\s*(\S.*)", re.DOTALL)


def form(staging_area: StagingArea, held: StagedFile | None, *, busy: bool) -> None:
    """Ask for tables or queries of a data base; they lie on the desk as a source file then.

    ``held`` is what lies there and could not be read: its entries are shown, to be mended.
    """
    names = variables()
    before = _served(held)
    if not names or (held is not None and before is None):
        return
    with st.expander("From a data base", expanded=before is not None), st.form("data-base", border=False):
        st.markdown(text("data_base"))
        place = names.index(before.database) if before is not None and before.database in names else 0
        name = st.selectbox(
            "Data base", names, place, format_func=lambda name: name.removeprefix(PREFIX), key="data-base-name"
        )
        value = "" if before is None else entry_of(before.tables)
        entry = st.text_area("Tables or queries", value, placeholder=_EXAMPLE, height=180, key="data-base-entry")
        if not st.form_submit_button("Read the tables", disabled=busy):
            return
        _, problem = access.attempt(lambda: _put(staging_area, held, str(name), entry))
        if problem:
            st.error(problem)
            return
    st.rerun()


def _served(held: StagedFile | None) -> Served | None:
    if held is None or held.path.suffix != ENDING:
        return None
    served, _ = access.attempt(lambda: Served.read(held.path))
    return served


def _put(staging_area: StagingArea, held: StagedFile | None, name: str, entry: str) -> None:
    """Lay a source file on the desk, in place of the one before. Raises ``RequestError``."""
    title = f"{name.removeprefix(PREFIX).lower()}{ENDING}"
    content = Served(name, tables_in(entry)).text()
    staging_area.keep("main", title, io.BytesIO(content.encode()), DATABASES)
    if held is not None:
        staging_area.drop(held.file_id)


def entry_of(tables: Mapping[str, str]) -> str:
    """What a person would type for these tables: see :func:`tables_in`."""
    return "\n\n".join(f"{name} = {wanted}" for name, wanted in tables.items())


def tables_in(entry: str) -> dict[str, str]:
    """Tables and queries by their names in the schema, as a person typed them.

    Raises
    ------
    RequestError
        If a paragraph is not ``name = table`` or ``name = SELECT ...``, or a name stands twice.
    """
    tables: dict[str, str] = {}
    for paragraph in filter(None, map(str.strip, re.split(r"\n\s*\n", entry))):
        found = _ENTRY.fullmatch(paragraph)
        if found is None or found[1] in tables:
            raise RequestError(
                "Write each table as a paragraph of its own, 'name = table' or 'name = SELECT ...', with an empty "
                "line between them and each name once."
            )
        tables[found[1]] = found[2]
    return tables
