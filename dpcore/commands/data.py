"""Commands that store data sets, list them, adopt and remove records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.shell import make_group, open_service, read_epsilon
from dpcore.commands.tables import TableOption, source_of

app = make_group("Store data sets, list them, adopt and remove records.")
_STATES = {
    "unknown": "unknown to the database: 'data adopt' or 'data remove'",
    "arriving": "being stored just now",
    "missing": "records not here: put the folder back from a backup",
    "removed": "records removed on purpose",
}


@app.command("add")
def add(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (UTF-8, also .gz) or Parquet file, with --table that of the main table; or "
            "an SQLite or DuckDB file that holds all tables."
        ),
    ],
    schema: Annotated[Path, typer.Option(help="Schema file, YAML or JSON.")],
    budget: Annotated[str, typer.Option(metavar="EPSILON", help="All that may ever be spent on it, together.")],
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
    analyst_cap: Annotated[
        str | None,
        typer.Option(
            metavar="EPSILON",
            help="Most that one analyst may spend without a grant; 0: nothing ('ledger grant').",
        ),
    ] = None,
    run_cap: Annotated[str | None, typer.Option(metavar="EPSILON", help="Most that one run may cost.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Anybody may see the records: demonstrations only.")] = False,
) -> None:
    """Store a data set and open its budget; all or nothing."""
    from dpcore.commands.text import balance_text
    from dpcore.domain.schema import Schema
    from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit

    declared, total = Schema.from_file(schema), parse_epsilon(budget)
    analyst_most = None if analyst_cap is None else parse_limit(analyst_cap)
    run_most = read_epsilon(run_cap)
    source = source_of(file, declared.entity, table, right)
    with open_service() as service:
        info = service.add_dataset(
            source,
            declared,
            right=right,
            budget=total,
            delta=None if delta is None else parse_delta(delta),
            analyst_cap=analyst_most,
            run_cap=run_most,
            public=public,
            watch=_follow,
        )
        typer.echo(f"stored: '{info.name}' ({info.id}), {balance_text(service.total_balance(info.id))}")


def _follow(table: str, rows: int) -> None:
    """Say on a terminal how far the reading is."""
    if sys.stderr.isatty() and rows:
        typer.echo(f"\rreading '{table}': {rows} rows", err=True, nl=False)


@app.command("list")
def list_datasets() -> None:
    """List the stored data sets with their budgets."""
    from dpcore.commands.text import balance_text
    from dpcore.released.plain_text import text_table

    with open_service() as service:
        rows = [
            [
                info.name,
                info.id,
                "public" if info.public else "private",
                ", ".join(info.schema.targets) or "-",
                balance_text(service.balance(info.id)),
            ]
            for info in service.datasets()
        ]
    typer.echo(text_table(["name", "id", "records", "targets", "budget (epsilon)"], rows))


@app.command("orphans")
def orphans() -> None:
    """List folders that the database does not know, and data sets whose folder is gone."""
    from dpcore.released.plain_text import text_table

    with open_service() as service:
        rows = [[stray.id, stray.name or "-", _STATES[stray.state]] for stray in service.strays()]
    typer.echo(text_table(["id", "name", "state"], rows) if rows else "Every data set is where it belongs.")


@app.command("adopt")
def adopt(
    folder: Annotated[str, typer.Argument(help="Id of the folder: see 'data orphans'.")],
    note: Annotated[str, typer.Option(help="Where it comes from; kept in the audit log.")],
    name: Annotated[str | None, typer.Option(help="Name, if that of its schema is taken.")] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="EPSILON",
            help="All that may ever be spent on it, what was spent before included; 0: nothing.",
        ),
    ] = "0",
    spent: Annotated[str, typer.Option(metavar="EPSILON", help="What was spent on it before, as far as known.")] = "0",
    delta: Annotated[str, typer.Option(metavar="DELTA", help="Delta that was spent before.")] = "0",
) -> None:
    """Enter a folder that the database does not know, as a private data set."""
    from dpcore.commands.text import balance_text
    from dpcore.privacy.budgets import parse_delta, parse_limit

    amounts = {"budget": parse_limit(budget), "spent": parse_limit(spent), "delta": parse_delta(delta)}
    with open_service() as service:
        info = service.adopt(folder, name=name, note=note, **amounts)
        typer.echo(f"adopted: '{info.name}' ({info.id}), {balance_text(service.balance(info.id))}")
    typer.echo(
        "WARNING: no ledger knows what was spent on these people before, but for what you have "
        "entered. Whatever you let be spent now comes on top of it."
    )


@app.command("remove")
def remove(
    dataset: Annotated[str, typer.Argument(help="Name or id of a data set, or id of an orphan.")],
    note: Annotated[str, typer.Option(help="Why; kept in the audit log.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
) -> None:
    """Remove records for good. Ledger and releases of a data set stay."""
    told = f"The records of '{dataset}' will be removed and cannot be brought back. Go on?"
    if not yes:
        typer.confirm(told, abort=True)
    with open_service() as service:
        service.remove_records(dataset, note=note)
    typer.echo(
        "removed: its ledger and its releases stay. What was spent on these people stays spent; "
        "if they are ever stored again, enter it with 'ledger charge'."
    )


def demo() -> None:
    """Prepare the public demonstration data sets; does nothing if they are there."""
    with open_service() as service:
        names = ", ".join(info.name for info in service.add_demo_datasets())
    typer.echo(f"demonstration data ready: {names}")
