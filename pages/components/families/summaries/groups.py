"""Table 1 on a page, and as files for papers."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.models.summaries.released.summary_reading import table_one_table
from dpcore.report.table_one import table_one_document, table_one_rows
from dpcore.spreadsheets import frame_csv
from pages.components.families.shared import blocks
from pages.components.families.shared.downloads import file_name
from pages.components.families.summaries.summary_state import Look
from pages.components.kit.markup import text


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
