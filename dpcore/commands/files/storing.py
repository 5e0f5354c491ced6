"""Commands that bring data in: store, append to and check files, and name the tables of a data base."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcore.commands.files.several_tables import (
    DecimalOption,
    EncodingOption,
    SheetOption,
    TableOption,
    choices_of,
    reading_as,
    source_of,
    table_files,
)
from dpcore.commands.shell import Dataset, check_new, open_service, read_epsilon, write_new
from dpcore.errors import FrostglassError, RequestError
from dpcore.intake.process import readers

if TYPE_CHECKING:
    from dpcore.domain.schemas.learnable_schema import LearnableSchema
    from dpcore.intake.sources.choices import Choices

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
    run_cap: Annotated[str | None, typer.Option(metavar="EPSILON", help="Most that one run may cost.")] = None,
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
    from dpcore.commands.text_ledger import balance_text
    from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit

    whole = files if right is None else []
    wanted = _wanted(schema, dictionary, max_rows, whole, choices_of(encoding, decimal_comma, sheet))
    total = None if budget is None else parse_epsilon(budget)
    analyst_most = None if analyst_cap is None else parse_limit(analyst_cap)
    run_most = read_epsilon(run_cap)
    source, told = source_of(files[0], wanted.schema.entity, table, right, files[1:]), list[str]()
    with reading_as(source, encoding, decimal_comma, sheet), open_service() as service:
        info = service.add_dataset(
            source,
            wanted,
            right=right,
            learn=read_epsilon(learn),
            budget=total,
            delta=None if delta is None else parse_delta(delta),
            analyst_cap=analyst_most,
            run_cap=run_most,
            same_people_as=same_people_as,
            replaces=replaces,
            keep_keys=keep_keys,
            public=public,
            accepted=accept or (),
            watch=_follow,
            tell=told.append,
        )
        typer.echo(f"stored: '{info.title}' ({info.id}), {balance_text(service.total_balance(info.id))}")
        for sentence in filter(None, told):
            typer.echo(sentence)
        if info.schema.learned is not None:
            typer.echo(info.schema.learned.words)
        if info.sharing:
            typer.echo(info.sharing)


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
    from dpcore.commands.text_ledger import balance_text

    with open_service() as service:
        entity = service.dataset(dataset).schema.entity
        source = source_of(files[0], entity, table, right, files[1:])
        with reading_as(source, encoding, decimal_comma, sheet):
            info = service.append_rows(
                dataset, source, right=right, max_rows=max_rows, accepted=accept or (), watch=_follow, tell=typer.echo
            )
        typer.echo(f"stored: '{info.title}' ({info.id}), {balance_text(service.total_balance(info.id))}")


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
    from dpcore.intake.process import omop as cdm
    from dpcore.intake.process.uploads import headers_of
    from dpcore.intake.sources.sources import ENDING, Served

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


def _wanted(
    schema: Path | None, dictionary: Path | None, max_rows: int | None, files: list[Path], choices: Choices
) -> LearnableSchema:
    """The schema that a file holds, or that a dictionary tells of ``files``; what there is to say of that is said."""
    from dpcore.domain.schemas.learnable_schema import LearnableSchema
    from dpcore.intake.dictionaries.drafts import NO_LIMIT, Draft
    from dpcore.intake.process.uploads import ask, divide_repeats
    from dpcore.intake.sources.choices import choosing
    from dpcore.intake.sources.sql_files import is_database

    if (schema is None) == (dictionary is None):
        raise RequestError("Give either --schema or --dictionary.")
    if schema is not None:
        if max_rows is not None:
            raise RequestError("A schema tells the row limit itself: leave --max-rows out.")
        return LearnableSchema.from_file(schema)
    draft = Draft(**ask("dictionary", [dictionary], path=dictionary))
    absent: list[str] = []
    if files and not draft.content.get("children") and not is_database(files[0]):
        with choosing(choices):
            header = ask("header", files, path=files if len(files) > 1 else files[0])
            absent = draft.within(header)
            divide_repeats(draft, header, files)
    if draft.unknown:
        raise RequestError(
            f"{' '.join(draft.unknown)} Write them into a schema: 'schema template --dictionary {dictionary} --data "
            "FILE'."
        )
    if "max_rows" not in draft.content and max_rows is None:
        raise RequestError(f"{NO_LIMIT} Give it with --max-rows.")
    draft.limit(max_rows)
    wanted = LearnableSchema.from_mapping(draft.content)
    for sentence in [*draft.sentences, *absent]:
        typer.echo(sentence, err=True)
    return wanted


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
    from dpcore.intake.columns.corrections import corrected

    whole = files if right is None else []
    wanted = _wanted(schema, dictionary, max_rows, whole, choices_of(encoding, decimal_comma, sheet))
    if fix is not None:
        check_new(fix)
    source = source_of(files[0], wanted.schema.entity, table, right, files[1:])
    with reading_as(source, encoding, decimal_comma, sheet), open_service() as service:
        findings = service.examine(source, wanted, right=right, watch=_follow)
    for sentence in wanted.sentences:
        typer.echo(f"LEARNS {sentence}")
    told = [finding for finding in findings if finding.sentence]
    for finding in sorted(told, key=lambda finding: not finding.needs_yes):
        typer.echo(f"{'LOSES' if finding.needs_yes else 'note '}  {finding.sentence}")
        for correction in finding.corrections:
            typer.echo(f"         {correction.words}{_in_schema(correction.change)}")
        if finding.needs_yes:
            typer.echo(f"         If it is meant so: --accept '{finding.place}'")
    if fix is not None:
        changes = {each.place: each.corrections[0].change for each in told if each.of_values and each.corrections}
        write_new(fix, replace(wanted, schema=corrected(wanted.schema, changes)).to_yaml())
    wanting = [finding for finding in told if finding.needs_yes]
    columns, unfit = (sum(each.of_values for each in kind) for kind in (findings, told))
    losing = sum(each.of_values for each in wanting)
    if wanted.questions:
        typer.echo(
            f"{len(wanted.questions)} columns are to be learned privately: store with 'data add --learn EPSILON'"
        )
    typer.echo(f"{columns} columns: {columns - unfit} fit, {losing} would lose values or tell nothing")
    if wanting:
        raise typer.Exit(1)


def _in_schema(change: dict[str, Any]) -> str:
    """How the schema says what a correction of the person changes."""
    import yaml

    written = yaml.safe_dump(change, default_flow_style=True, allow_unicode=True, width=1_000).strip()
    return f": in the schema, {written[1:-1]}" if "privacy_unit" in change else ""


def _follow(table: str, rows: int) -> None:
    """Say on a terminal how far the reading is."""
    if sys.stderr.isatty() and rows:
        typer.echo(f"\rreading '{table}': {rows} rows", err=True, nl=False)
