"""Uploaded files on their way to the service: copied in pieces, private, deleted after use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pages.components import access

_PIECE = 1 << 20
TYPES = ("csv", "tsv", "txt", "parquet", "pq")
#: Files that hold several tables.
DATABASES = ("sqlite", "sqlite3", "db", "duckdb")


def is_database(name: str) -> bool:
    """Whether a file of this name holds several tables."""
    return Path(name).suffix.lower().removeprefix(".") in DATABASES


def title_of(name: str) -> str:
    """What a file is called, without its ending."""
    return Path(name).name.partition(".")[0].strip()


@contextmanager
def as_file(upload: BinaryIO, name: str) -> Iterator[Path]:
    """Give an upload as a file that only this user can read and that is gone afterwards.

    If the app is killed meanwhile, its next start removes the file.
    """
    suffix = Path(name).suffix.lower()
    ending = suffix if suffix.removeprefix(".") in TYPES + DATABASES else ".csv"
    with access.service().incoming() as folder:
        path = folder / f"upload{ending}"
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            upload.seek(0)
            shutil.copyfileobj(upload, stream, _PIECE)
        yield path


@contextmanager
def as_files(uploads: Sequence[Any]) -> Iterator[list[Path]]:
    """Give several uploads as files, under the names that they were uploaded with."""
    with ExitStack() as stack:
        yield [stack.enter_context(as_file(upload, upload.name)) for upload in uploads]
