"""Commands that write and check the public description of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcore.commands.files.several_tables import (
    DecimalOption,
    EncodingOption,
    SheetOption,
    TableOption,
    reading_as,
    source_of,
    table_files,
)
from dpcore.commands.shell import check_new, make_group, write_new
from dpcore.errors import IngestError, RequestError

if TYPE_CHECKING:
    from dpcore.domain.schemas.schema import Schema

app = make_group()


@app.command("init")
def init(
    file: Annotated[
        Path,
        typer.Argument(help="Any file or source file that 'data add' takes; only names and declared types are read."),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file; default: standard output.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set; default: that of the file.")] = None,
    suggest: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Read the VALUES of this column and propose its categories or bounds, which "
            "become public if you keep them. With several tables also TABLE.COLUMN. May be "
            "repeated.",
        ),
    ] = None,
    right: Annotated[
        Path | None,
        typer.Option(
            help="A second file about the same people; its columns become the right side, those "
            "of the first the left side."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With several files or tables: column that identifies people; default: guessed from its name.",
        ),
    ] = None,
    table: TableOption = None,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="With several tables: what the main one is called, with one row per person.",
        ),
    ] = None,
    encoding: EncodingOption = None,
    decimal_comma: DecimalOption = False,
    sheet: SheetOption = None,
) -> None:
    """Make a schema file to fill in, from the headers of a data file, or of several tables."""
    from dpcore.commands.files.template import schema_template
    from dpcore.intake.profile.column_profiles import PUBLICATION_WARNING

    if output is not None:
        check_new(output)
    for column in suggest or ():
        typer.echo(f"warning: column '{column}': {PUBLICATION_WARNING}", err=True)
    with reading_as(file, encoding, decimal_comma, sheet):
        text = schema_template(
            file,
            name=name,
            suggest=suggest or (),
            right=right,
            key=key,
            tables=table_files(table),
            entity=entity,
        )
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text)


@app.command("template")
def template(
    dictionary: Annotated[
        Path,
        typer.Option(
            help="Data dictionary: of REDCap (CSV), Frictionless Table Schema or Data Package, CSVW with or without "
            "privacy terms (JSON), or a file of SPSS, Stata or SAS, of which only labels are read."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="Data file: what it does not have is left out, what else it has is guessed by name."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file; default: standard output.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set; default: as the dictionary says.")] = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
) -> None:
    """Make a schema file from a data dictionary; what it does not tell is marked."""
    from dpcore.commands.files.template import dictionary_template

    if output is not None:
        check_new(output)
    if data is None:
        text = dictionary_template(dictionary, name=name)
    else:
        with reading_as(data, encoding, False, sheet):
            text = dictionary_template(dictionary, name=name, data=data)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text)


@app.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="Schema file, YAML or JSON.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="frictionless (Data Package) or csvw (CSVW-EO), which can be read again whole; or croissant.",
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file; default: standard output.")] = None,
) -> None:
    """Write a schema in a form that others read."""
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.dictionaries.writing import FORMS, text_of

    if form not in FORMS:
        raise RequestError(f"There is no format '{form}'. Formats: {', '.join(FORMS)}.")
    text = text_of(Schema.from_file(file), form)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="Schema file, YAML or JSON.")],
    data: Annotated[Path | None, typer.Option(help="Data file whose header must have the schema's columns.")] = None,
    right: Annotated[Path | None, typer.Option(help="A second data file, to be joined with the first.")] = None,
    table: TableOption = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
) -> None:
    """Check a schema file and, if asked, that data files have its tables and columns."""
    from dpcore.domain.schemas.learnable_schema import LearnableSchema
    from dpcore.domain.schemas.protected import shared_things

    wanted = LearnableSchema.from_file(file)
    schema = wanted.schema
    if data is None and (right is not None or table):
        option = "--table" if right is None else "--right"
        raise RequestError(f"{option} names a further file: name the first with --data.")
    if data is not None:
        with reading_as(data, encoding, False, sheet):
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
    from dpcore.intake.process.uploads import ask, files_of
    from dpcore.intake.sources.sql_files import is_database

    source = source_of(data, schema.entity, table, right)
    if right is not None:
        ask("check joint", [data, right], schema=schema, left=data, right=right)
    elif schema.children or table or is_database(data):
        ask("check", files_of(source), schema=schema, source=source)
    else:
        _check_one(schema, data)


def _check_one(schema: Schema, data: Path) -> None:
    from dpcore.intake.process.uploads import ask

    header = set(ask("header", [data], path=data))
    unit = schema.privacy_unit.column
    wanted = [*schema.file_columns, *([unit] if unit else [])]
    absent = ", ".join(f"'{name}'" for name in wanted if name not in header)
    if absent:
        raise IngestError(f"{data} has no column {absent}.")
