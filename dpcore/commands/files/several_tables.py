"""What the commands share about data of several tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dpcore.errors import RequestError
from dpcore.intake.process.uploads import ask, files_of
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.parts import is_database

if TYPE_CHECKING:
    from dpcore.intake.joins.relations import Source


def choices_of(encoding: str | None, decimal_comma: bool = False, sheet: str | None = None) -> Choices:
    """How the options say that files are read."""
    return Choices(encoding, "," if decimal_comma else ".", sheet)


@contextmanager
def reading_as(source: Source, choices: Choices) -> Iterator[None]:
    """Let files be read as was chosen, and say how they were read."""
    with choosing(choices):
        yield
        for file in files_of(source):
            if told := ask("describe", [file], path=file):
                typer.echo(f"{file.name} was read as {told}", err=True)


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


def source_of(
    file: Path, entity: str, options: Sequence[str] | None, right: Path | None = None, more: Sequence[Path] = ()
) -> Source:
    """What the service is given: a file, several that are one table, or several by the names of their tables.

    Raises
    ------
    RequestError
        If the options cannot be used together.
    """
    if not more:
        return source_with(file, entity, table_files(options), right)
    if right is not None or options:
        raise RequestError("Several files are one table: put them into a folder and name it beside --right or --table.")
    return [file, *more]


def source_with(file: Path, entity: str, further: Mapping[str, Path], right: Path | None = None) -> Source:
    """As :func:`source_of`, from the files of the further tables."""
    if right is not None and (further or is_database(file)):
        raise RequestError("--right joins two files into one table: it is for these alone.")
    if not further:
        return file
    if is_database(file):
        raise RequestError("A database file holds its tables itself: leave --table out.")
    if entity in further:
        raise RequestError(f"The main table is called '{entity}' already: give --table another name.")
    return {entity: file, **further}
