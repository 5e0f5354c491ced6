"""Commands that store data sets and list them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.shell import make_group, open_service, read_epsilon
from dpcore.commands.tables import TableOption, source_of

app = make_group("Store data sets and list them.")


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
    budget: Annotated[
        str, typer.Option(metavar="EPSILON", help="All that may ever be spent on it, together.")
    ],
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
    run_cap: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="Most that one run may cost.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Anybody may see the records: demonstrations only.")
    ] = False,
) -> None:
    """Store a data set and open its budget; all or nothing."""
    from dpcore.privacy import parse_epsilon, parse_limit
    from dpcore.schema import Schema

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
            analyst_cap=analyst_most,
            run_cap=run_most,
            public=public,
        )
    typer.echo(f"stored: '{info.name}' ({info.id}), budget epsilon = {budget}")


@app.command("list")
def list_datasets() -> None:
    """List the stored data sets with their budgets."""
    from dpcore.commands.text import balance_text, text_table

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


def demo() -> None:
    """Prepare the public demonstration data sets; does nothing if they are there."""
    with open_service() as service:
        names = ", ".join(info.name for info in service.add_demo_datasets())
    typer.echo(f"demonstration data ready: {names}")
