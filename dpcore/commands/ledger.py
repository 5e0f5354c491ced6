"""Commands about budgets: what was spent, by whom, and who may spend how much."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcore.commands import grants
from dpcore.commands.plain_text import one_line, text_table
from dpcore.commands.shell import Dataset, make_group, open_service, read_epsilon
from dpcore.commands.text_ledger import balance_text, ledger_text
from dpcore.errors import RequestError
from dpcore.privacy.budgets import format_epsilon, parse_delta, parse_epsilon, parse_limit
from dpcore.privacy.losses import parse_rho

ledger = make_group("See what has been spent and by whom; decide who may spend how much.")


@ledger.command("show")
def show_ledger(dataset: Dataset) -> None:
    """Print the budget of a data set and every line of its ledger, oldest first."""
    with open_service() as service:
        info = service.dataset(dataset)
        typer.echo(f"{one_line(info.name)}: {balance_text(service.total_balance(info.id))}\n")
        if info.sharing:
            typer.echo(f"{one_line(info.sharing)}\n")
        names = {one.id: one.name for one in service.datasets()} if info.shares_with else None
        typer.echo(ledger_text(service.ledger_entries(info.id), names))


@ledger.command("charge")
def charge(
    dataset: Dataset,
    epsilon: Annotated[str, typer.Option(metavar="EPSILON", help="What was spent.")],
    note: Annotated[str, typer.Option(help="What it was, and where that is known from.")],
    delta: Annotated[str, typer.Option(metavar="DELTA", help="Delta that was spent.")] = "0",
    rho: Annotated[
        str | None,
        typer.Option(
            metavar="RHO",
            help="Its loss in zero-concentrated differential privacy, as on a certificate. "
            "0 if it states none, as of a Markov chain. Default: what other runs of this program cost at most.",
        ),
    ] = None,
) -> None:
    """Enter what was spent but is missing here, as after restoring a database from a copy."""
    spent = parse_epsilon(epsilon), parse_delta(delta), None if rho is None else parse_rho(rho)
    with open_service() as service:
        typer.echo(balance_text(service.charge(dataset, *spent, note=note)))


@ledger.command("caps")
def caps(
    dataset: Dataset,
    note: Annotated[str, typer.Option(help="Why; kept in the audit log.")] = "",
    budget: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="All that may ever be spent, the past included.")
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(metavar="DELTA", help="The delta at which all of it holds; 0: runs without a delta only."),
    ] = None,
    analyst_cap: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="Most that one analyst may spend without a grant, or 0.")
    ] = None,
    run_cap: Annotated[str | None, typer.Option(metavar="EPSILON", help="Most that one run may cost.")] = None,
) -> None:
    """Change the limits that are given; the others stay. What is spent stays spent."""
    changes = {
        "budget": read_epsilon(budget),
        "delta": None if delta is None else parse_delta(delta),
        "analyst_cap": None if analyst_cap is None else parse_limit(analyst_cap),
        "run_cap": read_epsilon(run_cap),
    }
    if not any(change is not None for change in changes.values()):
        raise RequestError("Give at least one new limit: --budget, --delta, --analyst-cap or --run-cap.")
    with open_service() as service:
        typer.echo(balance_text(service.raise_caps(dataset, note=note, **changes)))


@ledger.command("stranded")
def stranded() -> None:
    """List runs whose process cannot be seen from this machine: it may have vanished."""
    with open_service() as service:
        names = {info.id: info.name for info in service.datasets()}
        rows = [
            [
                run.id,
                f"{run.created:%Y-%m-%d %H:%M}",
                names[run.request.dataset_id],
                run.analyst,
                format_epsilon(run.request.epsilon),
                run.step or "-",
            ]
            for run in service.stranded_runs()
        ]
    head = ["run", "time (UTC)", "data set", "analyst", "epsilon", "step"]
    typer.echo(text_table(head, rows) if rows else "Every run that is under way can be seen.")


@ledger.command("end")
def end(
    run: Annotated[str, typer.Argument(help="Id of a run: see 'ledger stranded'.")],
    note: Annotated[str, typer.Option(help="Why; kept in the audit log.")],
) -> None:
    """End a run whose process has vanished. What it may have spent stays spent."""
    with open_service() as service:
        typer.echo(service.end_run(run, note).message)


ledger.command("accounts")(grants.accounts)
ledger.command("grant")(grants.grant)
ledger.command("freeze")(grants.freeze)
ledger.command("thaw")(grants.thaw)
ledger.command("requests")(grants.requests)
ledger.command("answer")(grants.answer)
ledger.command("log")(grants.log)
