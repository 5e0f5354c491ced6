"""Parquet files: declared types, and rows as they are, with every fault turned into a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpcore.errors import IngestError

_BROKEN_PARQUET = "The file is not a readable Parquet file. Export it again."
FAR_DATE = "A date in the file is outside the years 1 to 9999. Correct it, or leave its column out of the schema."


def parquet_types(path: Path) -> dict[str, str]:
    """Declared type of each column: boolean, integer, real or text. Raises ``IngestError``."""
    with _parquet_faults():
        return {str(field.name): _family(field.type) for field in pq.ParquetFile(path).schema_arrow}


def _family(kind: object) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "real"
    return "text"


@contextmanager
def _parquet_faults() -> Iterator[None]:
    """Turn what a damaged file does to its reader into a sentence; want of memory stays that."""
    try:
        yield
    except MemoryError:
        raise
    except (OSError, ValueError, TypeError, KeyError, OverflowError, pa.ArrowException) as error:
        far = isinstance(error, OverflowError) or "out of range" in str(error)
        raise IngestError(FAR_DATE if far else _BROKEN_PARQUET) from None


def parquet_names(path: Path) -> list[str]:
    """Names of the columns, as they stand there. Raises ``IngestError``."""
    with _parquet_faults():
        return [str(name) for name in pq.ParquetFile(path).schema_arrow.names]


def parquet_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    """Rows of a file, some at a time, with the types that they have there."""
    with _parquet_faults():
        batches = pq.ParquetFile(path).iter_batches(chunk_rows, columns=columns, use_threads=False)
        for batch in batches:
            batch.validate(full=True)  # Texts that are none would come to light later.
            # Written indexes are columns like others, whatever pandas noted about them; whole
            # numbers stay exact beside nulls.
            bare = batch.replace_schema_metadata(None)
            yield bare.to_pandas(integer_object_nulls=True, use_threads=False)
