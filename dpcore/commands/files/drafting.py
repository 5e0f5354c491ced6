"""Commands that draft the public description of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.files.file_options import DecimalOption, EncodingOption, OutputOption, SheetOption, TableOption
from dpcore.commands.files.several_tables import choices_of, reading_as, table_files
from dpcore.commands.files.template import dictionary_template, schema_template
from dpcore.commands.shell import check_new, put
from dpcore.intake.profile.column_profiles import PUBLICATION_WARNING


def init(
    file: Annotated[
        Path,
        typer.Argument(help="Any file or source file that 'data add' takes; only names and declared types are read."),
    ],
    output: OutputOption = None,
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
    if output is not None:
        check_new(output)
    for column in suggest or ():
        typer.echo(f"warning: column '{column}': {PUBLICATION_WARNING}", err=True)
    with reading_as(file, choices_of(encoding, decimal_comma, sheet)):
        text = schema_template(
            file,
            name=name,
            suggest=suggest or (),
            right=right,
            key=key,
            tables=table_files(table),
            entity=entity,
        )
    put(text, output)


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
    output: OutputOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set; default: as the dictionary says.")] = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
) -> None:
    """Make a schema file from a data dictionary; what it does not tell is marked."""
    if output is not None:
        check_new(output)
    if data is None:
        text = dictionary_template(dictionary, name=name)
    else:
        with reading_as(data, choices_of(encoding, sheet=sheet)):
            text = dictionary_template(dictionary, name=name, data=data)
    put(text, output)
