"""The command that writes which tables of a data base are read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.files.several_tables import table_files
from dpcore.commands.shell import check_new, write_new
from dpcore.errors import FrostglassError, RequestError
from dpcore.intake.process import omop as cdm
from dpcore.intake.process.uploads import headers_of
from dpcore.intake.sources.sources import ENDING, Served


def source(
    file: Annotated[Path, typer.Argument(help="New file, such as hospital.source, for every command that takes data.")],
    database_env: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Environment variable that holds the address of the data base, such as FROSTGLASS_SOURCE_HOSPITAL.",
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=TABLE]",
            help="A table, and what the schema calls it: person=clinic.patients. The main one first; may be repeated.",
        ),
    ] = None,
    query_file: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A table that is the result of the query (SELECT ...) in a file."),
    ] = None,
    omop: Annotated[
        bool,
        typer.Option(
            "--omop",
            help="Instead of tables: an OMOP data base (CDM 5.4). Its schema is written beside the file, as .yaml.",
        ),
    ] = False,
    omop_schema: Annotated[
        str, typer.Option(metavar="NAME", help="Schema of the data base that holds the OMOP tables.")
    ] = "",
    max_rows: Annotated[
        int | None, typer.Option(min=1, help="Most persons that an OMOP data base may have: a round number, public.")
    ] = None,
) -> None:
    """Write a source file: which tables or queries of a data base are read. It holds no password."""
    if file.suffix.lower() != ENDING:
        raise RequestError(f"The name of a source file ends in {ENDING}.")
    if omop and (table or query_file):
        raise RequestError("--omop names the tables itself: leave --table and --query-file out.")
    check_new(file)
    if omop:
        described = file.with_suffix(".yaml")
        check_new(described)
        served = cdm.served(database_env, omop_schema)
    else:
        queries = {name: _text_of(path) for name, path in table_files(query_file).items()}
        served = Served(database_env, _named_tables(table or (), queries) | queries)
    write_new(file, served.text())
    try:
        headers = headers_of(file)
    except FrostglassError:
        file.unlink()
        raise
    for name, header in headers.items():
        typer.echo(f"table '{name}': {len(header.columns)} columns")
    if omop:
        write_new(described, cdm.schema(file.stem, max_rows or cdm.MAX_ROWS).to_yaml())


def _named_tables(options: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """Tables of a data base by what the schema calls them, from options like ``person=clinic.patients``."""
    named: dict[str, str] = {}
    for option in options:
        name, _, wanted = option.partition("=")
        if name in named or name in taken:
            raise RequestError(f"The table '{name}' is given twice: give each table its own name.")
        named[name] = wanted or name
    return named


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except ValueError:
        raise RequestError(f"{path} is not UTF-8 text.") from None
