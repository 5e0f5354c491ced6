"""Commands that bring data in: store, append to and check files. What they need is loaded beside what reads files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.files.file_options import DecimalOption, EncodingOption, SheetOption, TableOption
from dpcore.commands.shell import Dataset
from dpcore.intake.process import readers

AcceptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="NAME",
        help="What is stored although something was found: a column that loses values, a table that loses rows, or "
        "what is said of people, each by the name that 'data check' gives. 'different-people': that a person is "
        "defined differently in the data set whose budget is shared. May be repeated.",
    ),
]

SchemaOption = Annotated[Path | None, typer.Option(help="Schema file, YAML or JSON.")]
DictionaryOption = Annotated[
    Path | None,
    typer.Option(help="Instead of a schema: a data dictionary that tells everything, see 'schema template'."),
]
MaxRowsOption = Annotated[
    int | None,
    typer.Option(min=1, help="With a dictionary that does not tell it: the row limit, a round number, public."),
]


def add(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="CSV (also .gz), Parquet, Excel, SPSS, Stata or SAS file, with --table that of the main "
            "table; or an SQLite, DuckDB or source file ('data source') that holds or names all tables. "
            "Several files, a folder or a pattern in quotes: one table, all files with the same columns."
        ),
    ],
    schema: SchemaOption = None,
    dictionary: DictionaryOption = None,
    max_rows: MaxRowsOption = None,
    budget: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="All that may ever be spent on it, together.")
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            metavar="EPSILON",
            help="What may be spent of it, once, to learn cut points, bounds and categories of the columns that the "
            "schema marks with 'learn: true'. Default: nothing is learned.",
        ),
    ] = None,
    same_people_as: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help="Instead of a budget: a data set about the same people, or some of them, whose budget it shares.",
        ),
    ] = None,
    replaces: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help="The same, as the next version of that data set: it takes over its name, and nothing more is run "
            "on the version before.",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="DELTA",
            help="The delta at which all of the budget holds; 0: runs without a delta only. "
            "Default: from the row limit of the schema.",
        ),
    ] = None,
    right: Annotated[
        Path | None,
        typer.Option(
            help="A second file about the same people, joined on the column of the schema's "
            "privacy_unit: one row per person in each."
        ),
    ] = None,
    table: TableOption = None,
    encoding: EncodingOption = None,
    decimal_comma: DecimalOption = False,
    sheet: SheetOption = None,
    analyst_cap: Annotated[
        str | None,
        typer.Option(
            metavar="EPSILON",
            help="Most that one analyst may spend without a grant; 0: nothing ('ledger grant').",
        ),
    ] = None,
    run_cap: Annotated[str | None, typer.Option(metavar="EPSILON", help="Largest epsilon of one run.")] = None,
    keep_keys: Annotated[
        bool,
        typer.Option(
            "--keep-keys",
            help="Keep the keys by which people are known, so that rows can be appended ('data append'). Whoever then "
            "gets hold of the home folder can find a person whose identifier they know.",
        ),
    ] = False,
    public: Annotated[bool, typer.Option("--public", help="Anybody may see the records: demonstrations only.")] = False,
    accept: AcceptOption = None,
) -> None:
    """Store a data set and open its budget, or let it share one; all or nothing."""
    readers.start()
    from dpcore.commands.files.bringing import Amounts, Files, store

    given = Files(files, right, table, encoding, decimal_comma, sheet)
    store(
        given,
        given.described(schema, dictionary, max_rows),
        Amounts(budget, learn, delta, analyst_cap, run_cap),
        same_people_as=same_people_as,
        replaces=replaces,
        keep_keys=keep_keys,
        public=public,
        accepted=accept or (),
    )


def append(
    dataset: Dataset,
    files: Annotated[
        list[Path], typer.Argument(help="Files with further rows, in the form of those before: see 'data add'.")
    ],
    right: Annotated[Path | None, typer.Option(help="A second file about the same people: see 'data add'.")] = None,
    table: TableOption = None,
    encoding: EncodingOption = None,
    decimal_comma: DecimalOption = False,
    sheet: SheetOption = None,
    max_rows: Annotated[int | None, typer.Option(help="A higher row limit; it is public.")] = None,
    accept: AcceptOption = None,
) -> None:
    """Store the next version of a data set: its rows, and further ones of the same people."""
    readers.start()
    from dpcore.commands.files.bringing import Files, append_files

    given = Files(files, right, table, encoding, decimal_comma, sheet)
    append_files(dataset, given, max_rows=max_rows, accepted=accept or ())


def check(
    files: Annotated[list[Path], typer.Argument(help="Data files, as for 'data add'.")],
    schema: SchemaOption = None,
    dictionary: DictionaryOption = None,
    max_rows: MaxRowsOption = None,
    right: Annotated[Path | None, typer.Option(help="A second file about the same people.")] = None,
    table: TableOption = None,
    encoding: EncodingOption = None,
    decimal_comma: DecimalOption = False,
    sheet: SheetOption = None,
    fix: Annotated[
        Path | None,
        typer.Option(help="Write the schema here with the first correction of each column that needs one."),
    ] = None,
) -> None:
    """See how files fit a schema; ends with 1 if something would be lost. Nothing is stored."""
    readers.start()
    from dpcore.commands.files.bringing import Files, examine

    given = Files(files, right, table, encoding, decimal_comma, sheet)
    examine(given, given.described(schema, dictionary, max_rows), fix)
