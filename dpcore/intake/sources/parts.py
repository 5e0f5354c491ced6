"""One table in several files: a list of them, a folder, or a pattern such as ``visits-*.csv``.

Folders named like ``year=2024`` inside a folder say that of all rows below them, as Hive, Spark and
pyarrow write them.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from dpcore.domain.schemas.names import plain_name
from dpcore.errors import IngestError

#: A file, a folder or a pattern; or several files.
Files = Path | Sequence[Path]

#: What the endings of files say that they are; all others are CSV.
_KINDS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".dta": "Stata",
    ".sas7bdat": "SAS",
    ".xpt": "SAS",
}
#: Endings of all files that hold one table.
ENDINGS = (".csv", ".tsv", ".txt", ".gz", *_KINDS)
#: Endings of files that hold tables, or that name those of a server (:mod:`dpcore.intake.sources.sources`).
DATABASE_ENDINGS = (".sqlite", ".sqlite3", ".db", ".duckdb", ".source")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """A file that holds rows of a table."""

    path: Path
    name: str
    """What it is called in sentences."""
    told: dict[str, str | None] = field(default_factory=dict)
    """Columns with the same value in all rows, from the names of folders."""

    @property
    def kind(self) -> str:
        """What the file name says: CSV, Parquet, Excel, SPSS, Stata or SAS."""
        return _KINDS.get(self.path.suffix.lower(), "CSV")


def is_database(path: Path) -> bool:
    """Whether the file name says SQLite, DuckDB, or tables of a server."""
    return path.suffix.lower() in DATABASE_ENDINGS


def parts_of(files: Files) -> list[Part]:
    """The files of a table, in a fixed order; they need not exist.

    Raises
    ------
    IngestError
        If a folder or a pattern has none, one is given twice, or they are not of one kind.
    """
    if isinstance(files, Path):
        parts = _found(files)
    else:
        parts = [Part(path, path.name) for path in files]
        if len({path.absolute() for path in files}) < len(parts):
            raise IngestError("One file is given twice: its rows would count twice. Leave one of them out.")
    kinds = sorted({part.kind for part in parts})
    if len(kinds) > 1:
        told = " as well as ".join(kinds)
        raise IngestError(f"The files are {told}: all files of one table have to be of one kind.")
    return parts


def _found(path: Path) -> list[Part]:
    if path.is_dir():
        inside = [file.relative_to(path) for file in sorted(path.rglob("*")) if file.is_file()]
        parts = [Part(path / file, str(file), _told(file)) for file in inside if _is_data(file)]
        if not parts:
            raise IngestError(f"The folder holds no file that can be read: their names end in {', '.join(ENDINGS)}.")
        return parts
    if path.exists() or not glob.has_magic(str(path)):
        return [Part(path, path.name)]
    whole = path.absolute()
    fitting = sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
    parts = [Part(file, file.name) for file in fitting if file.is_file() and file.name[0] != "."]
    if not parts:
        raise IngestError("No file has a name of this pattern. Check the path.")
    return parts


def _is_data(file: Path) -> bool:
    """Whether a file in a folder holds rows; what begins with a dot or a line is notes of programs."""
    return file.suffix.lower() in ENDINGS and not any(name.startswith((".", "_")) for name in file.parts)


def _told(file: Path) -> dict[str, str | None]:
    pairs = [name.partition("=") for name in file.parts[:-1] if "=" in name]
    return {plain_name(unquote(key)): None if value == _NOTHING else unquote(value) for key, _, value in pairs}
