"""What the commands share about data of several tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcore.errors import RequestError

if TYPE_CHECKING:
    from dpcore.intake.relations import Source

TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME=FILE",
        help="A further table about the same people, such as car=cars.csv. May be repeated.",
    ),
]


def table_files(options: Sequence[str] | None) -> dict[str, Path]:
    """Files of further tables by their names, from options like ``car=cars.csv``.

    Raises
    ------
    RequestError
        If an option is written otherwise, or names a table twice.
    """
    files: dict[str, Path] = {}
    for option in options or ():
        name, sign, file = option.partition("=")
        if not (name and sign and file):
            raise RequestError(f"Write --table NAME=FILE, such as car=cars.csv, not '{option}'.")
        if name in files:
            raise RequestError(f"The table '{name}' is given twice: give each table its own name.")
        files[name] = Path(file)
    return files


def source_of(file: Path, entity: str, options: Sequence[str] | None, right: Path | None = None) -> Source:
    """What the service is given: a file, or several by the names of their tables.

    Raises
    ------
    RequestError
        If the options cannot be used together.
    """
    return source_with(file, entity, table_files(options), right)


def source_with(file: Path, entity: str, further: Mapping[str, Path], right: Path | None = None) -> Source:
    """As :func:`source_of`, from the files of the further tables."""
    from dpcore.intake.sql_files import is_database

    if right is not None and (further or is_database(file)):
        raise RequestError("--right joins two files into one table: it is for these alone.")
    if not further:
        return file
    if is_database(file):
        raise RequestError("A database file holds its tables itself: leave --table out.")
    if entity in further:
        raise RequestError(f"The main table is called '{entity}' already: give --table another name.")
    return {entity: file, **further}
