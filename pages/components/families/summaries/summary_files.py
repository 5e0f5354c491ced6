"""What a first look gives away as files: Table 1 for papers, and invented records."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.summaries.released.summary_reading import table_one_table
from dpcore.models.summaries.released.synthesis import check_further_rows, files_of, invented
from dpcore.numerals import whole
from dpcore.report.table_one import table_one_document, table_one_rows
from dpcore.spreadsheets import frame_csv
from pages.components.families.shared import blocks
from pages.components.families.shared.downloads import file_name
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import made_file, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

#: Records of one file; the command line draws more.
MOST = 100_000
_FORMS = {"csv": ("CSV", "text/csv"), "parquet": ("Parquet", "application/vnd.apache.parquet")}


def table_one(look: Look) -> None:
    """Columns as rows, groups as columns."""
    with st.spinner("Working out the intervals …"):
        table = table_one_table(look.model, look.schema, look.table_one)
    st.markdown(text("look_table_one"))
    _table_one_files(look, table)
    with st.container(key="card-table-one"):
        blocks.render(table)


def _table_one_files(look: Look, table: Any) -> None:
    """What is printed, as CSV and HTML, and for a word processor."""
    document = table_one_document(look.release, table)
    name = f"{file_name(look.release)}-table-1"
    files = (
        ("CSV", frame_csv(table_one_rows(table)), "csv", "text/csv"),
        ("HTML", document, "html", "text/html"),
        ("for Word", document, "doc", "application/msword"),
    )
    for place, (label, content, ending, kind) in zip(st.columns(len(files)), files, strict=True):
        place.download_button(
            f"Download {label}",
            content,
            f"{name}.{ending}",
            kind,
            key=f"{look.key}-table-one-{ending}",
            on_click="ignore",
            width="stretch",
        )


def invented_records(look: Look) -> None:
    """How many records and the files, beside what they may and may not be used for."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(text("look_invented"))
        rows = _record_files(look)
        markup.pairs_table(
            "What they are good for: trying out an analysis, teaching, demonstrations",
            ("Share", "How far off, on average"),
            _expected(look, rows),
        )
    right.markdown(text("look_not_for"))


def _record_files(look: Look) -> int:
    """How many records are wanted, and their files."""
    usual = min(max(1, round(look.model.estimates.total)), MOST)
    asked = st.number_input(
        "Records",
        min_value=1,
        max_value=MOST,
        value=usual,
        step=1,
        key=f"{look.key}-records",
        help=f"At first about as many as there are {counted(look.schema).several}, {whole(MOST)} at most; "
        "`release synthesize` draws more.",
    )
    rows = int(asked)
    _, problem = access.attempt(lambda: check_further_rows(look.model, look.schema, rows))
    if problem:
        st.warning(problem)
        return rows
    tables = [look.schema.entity, *(axis.table for axis in look.model.axes if axis.rows)]
    for table in tables:
        for place, form in zip(st.columns(len(_FORMS)), _FORMS, strict=True):
            _record_button(look, rows, table, form, place, alone=len(tables) == 1)
    return rows


def _record_button(
    look: Look, rows: int, table: str, form: str, place: st.delta_generator.DeltaGenerator, *, alone: bool
) -> None:
    label, kind = _FORMS[form]
    name = f"{file_name(look.release)}-invented{'' if alone else f'-{table}'}.{form}"
    place.download_button(
        f"Download {label}" if alone else f"{markup.plain(table)}: {label}",
        made_file.later(lambda: content(look, rows, table, form), name, kind),
        name,
        kind,
        key=f"{look.key}-invented-{table}-{form}",
        on_click="ignore",
        width="stretch",
    )


def content(look: Look, rows: int, table: str, form: str) -> bytes:
    """A table of invented records as a file. All tables of so many records fit together."""
    drawn = invented(look.model, look.schema, rows, seed=look.seed)
    return files_of(look.release, {table: drawn[table]}, form)[table]


def _expected(look: Look, rows: int) -> dict[str, str]:
    """Mean errors that noise and drawing so many records make."""
    errors = look.invented_errors(rows)
    pairs = errors["pairs kept"]
    kept = f"{100 * errors['pairs']:.2g} percentage points" if pairs else "no pair was counted that stands out"
    return {
        "Of a value of one column": f"{100 * errors['columns']:.2g} percentage points",
        f"Of a cell of the {whole(pairs)} pairs that stand out" if pairs else "Of a cell of two columns": kept,
        "Of all other pairs": "not known: they follow chance, or what such pairs say together",
    }
