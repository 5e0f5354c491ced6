"""Commands that check the public description of a data set, and write it for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.files.file_options import EncodingOption, OutputOption, SheetOption, TableOption
from dpcore.commands.files.several_tables import choices_of, reading_as, source_of
from dpcore.commands.shell import put
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.protected import shared_things
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, RequestError
from dpcore.intake.dictionaries.writing import FORMS, text_of
from dpcore.intake.process.uploads import ask, files_of
from dpcore.intake.sources.parts import is_database


def export(
    file: Annotated[Path, typer.Argument(help="Schema file, YAML or JSON.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="frictionless (Data Package) or csvw (CSVW-EO), which can be read again whole; or croissant.",
        ),
    ],
    output: OutputOption = None,
) -> None:
    """Write a schema in a form that others read."""
    if form not in FORMS:
        raise RequestError(f"There is no format '{form}'. Formats: {', '.join(FORMS)}.")
    put(text_of(Schema.from_file(file), form), output)


def check(
    file: Annotated[Path, typer.Argument(help="Schema file, YAML or JSON.")],
    data: Annotated[Path | None, typer.Option(help="Data file whose header must have the schema's columns.")] = None,
    right: Annotated[Path | None, typer.Option(help="A second data file, to be joined with the first.")] = None,
    table: TableOption = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
) -> None:
    """Check a schema file and, if asked, that data files have its tables and columns."""
    wanted = LearnableSchema.from_file(file)
    schema = wanted.schema
    if data is None and (right is not None or table):
        option = "--table" if right is None else "--right"
        raise RequestError(f"{option} names a further file: name the first with --data.")
    if data is not None:
        with reading_as(data, choices_of(encoding, sheet=sheet)):
            _check_data(schema, data, right, table)
    targets = ", ".join(schema.targets) or "none marked"
    children = "".join(f", table '{child.name}' with {len(child.columns)}" for child in schema.children)
    typer.echo(
        f"ok: '{schema.name}', {len(schema.columns)} columns{children}, targets: {targets}, "
        f"at most {schema.max_rows} rows, hash {schema.hash[:12]}"
    )
    for sentence in wanted.sentences:
        typer.echo(f"to be learned privately: {sentence}")
    if shared := shared_things(schema):
        typer.echo(f"not protected: {shared}")
    if schema.problem:
        typer.echo(f"not for private records: {schema.problem}")


def _check_data(schema: Schema, data: Path, right: Path | None, table: list[str] | None) -> None:
    source = source_of(data, schema.entity, table, right)
    if right is not None:
        ask("check joint", [data, right], schema=schema, left=data, right=right)
    elif schema.children or table or is_database(data):
        ask("check", files_of(source), schema=schema, source=source)
    else:
        _check_one(schema, data)


def _check_one(schema: Schema, data: Path) -> None:
    header = set(ask("header", [data], path=data))
    unit = schema.privacy_unit.column
    wanted = [*schema.file_columns, *([unit] if unit else [])]
    absent = ", ".join(f"'{name}'" for name in wanted if name not in header)
    if absent:
        raise IngestError(f"{data} has no column {absent}.")
