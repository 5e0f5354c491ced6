"""Files of invented records: each opens with what it is."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from dpcore.models.summaries.released.synthesis import WHAT_IT_IS
from dpcore.numerals import small
from dpcore.released.release import Release
from dpcore.spreadsheets import frame_csv, safe_cell


def header_of(release: Release) -> tuple[str, ...]:
    """What a file says of itself."""
    card = release.certificate
    spent = f"epsilon {card.epsilon}, delta {small(card.delta)}"
    source = f"Made of release {release.id} of '{release.dataset_name}', {spent}."
    return (*WHAT_IT_IS, " ".join(source.split()))


def as_csv(release: Release, table: pd.DataFrame) -> bytes:
    """Comma-separated values after the lines of :func:`header_of`, each behind a ``#``; values may hold that, too."""
    lines = "".join(f"# {safe_cell(line)}\n" for line in header_of(release))
    return (lines + frame_csv(table)).encode("utf-8")


def as_parquet(release: Release, table: pd.DataFrame) -> bytes:
    """Parquet, with the same lines in the metadata of the file under ``about``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.Table.from_pandas(table, preserve_index=False)
    about = {**(made.schema.metadata or {}), b"about": "\n".join(header_of(release)).encode("utf-8")}
    stream = io.BytesIO()
    pq.write_table(made.replace_schema_metadata(about), stream)
    return stream.getvalue()


WRITERS = {"csv": as_csv, "parquet": as_parquet}


def files_of(release: Release, tables: Mapping[str, pd.DataFrame], kind: str) -> dict[str, bytes]:
    """Every table as a file, by its name without an ending."""
    return {name: WRITERS[kind](release, table) for name, table in tables.items()}
