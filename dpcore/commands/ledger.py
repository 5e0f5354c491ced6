"""Commands about budgets: what was spent, by whom, and who may spend how much."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.opening import open_service, read_amount
from dpcore.commands.shell import Dataset, check_new, one_line, text_table, write_new
from dpcore.commands.text_ledger import accounts_text, balance_text, ledger_text, requests_text
from dpcore.errors import RequestError
from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit, plain_epsilon
from dpcore.privacy.losses import parse_rho
from dpcore.service import Service
from dpcore.workspace.ledger.audit_log import AuditLogFilter, chosen, to_csv
from dpcore.workspace.people.users import canonical_name


def show(dataset: Dataset) -> None:
    """Print the budget of a data set and every line of its ledger, oldest first."""
    with open_service() as service:
        info = service.dataset(dataset)
        typer.echo(f"{one_line(info.name)}: {balance_text(service.total_balance(info.id))}\n")
        if info.sharing:
            typer.echo(f"{one_line(info.sharing)}\n")
        names = {one.id: one.name for one in service.datasets()} if info.shares_with else None
        typer.echo(ledger_text(service.ledger_entries(info.id), names))


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
    spent = parse_epsilon(epsilon), parse_delta(delta), read_amount(parse_rho, rho)
    with open_service() as service:
        typer.echo(balance_text(service.charge(dataset, *spent, note=note)))


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
    run_cap: Annotated[str | None, typer.Option(metavar="EPSILON", help="Largest epsilon of one run.")] = None,
) -> None:
    """Change the limits that are given; the others stay. What is spent stays spent."""
    changes = {
        "budget": read_amount(parse_epsilon, budget),
        "delta": read_amount(parse_delta, delta),
        "analyst_cap": read_amount(parse_limit, analyst_cap),
        "run_cap": read_amount(parse_epsilon, run_cap),
    }
    if not any(change is not None for change in changes.values()):
        raise RequestError("Give at least one new limit: --budget, --delta, --analyst-cap or --run-cap.")
    with open_service() as service:
        typer.echo(balance_text(service.raise_caps(dataset, note=note, **changes)))


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
                plain_epsilon(run.request.epsilon),
                run.step or "-",
            ]
            for run in service.stranded_runs()
        ]
    head = ["run", "time (UTC)", "data set", "analyst", "epsilon", "step"]
    typer.echo(text_table(head, rows) if rows else "Every run that is under way can be seen.")


def end(
    run: Annotated[str, typer.Argument(help="Id of a run: see 'ledger stranded'.")],
    note: Annotated[str, typer.Option(help="Why; kept in the audit log.")],
) -> None:
    """End a run whose process has vanished. What it may have spent stays spent."""
    with open_service() as service:
        typer.echo(service.end_run(run, note).message)


Analyst = Annotated[str, typer.Argument(metavar="ANALYST", help="E-mail address or name, as in the ledger.")]
SomeDataset = Annotated[str | None, typer.Argument(metavar="[DATASET]", help="Only this data set; else all.")]
Reason = Annotated[str, typer.Option(help="Why; the ledger keeps it and the analyst reads it.")]
_DAY = "2026-01-31"


def accounts(dataset: Dataset) -> None:
    """List the analysts of a data set: limit, spent, left, and who is frozen."""
    with open_service() as service:
        found = service.accounts(dataset)
    typer.echo(accounts_text(found) if found else "No analyst has used this data set yet.")


def grant(
    dataset: Dataset,
    analyst: Analyst,
    limit: Annotated[str, typer.Option(metavar="EPSILON", help="All that this analyst may ever spend, or 0.")],
    note: Reason,
) -> None:
    """Set what one analyst may spend in all: given, extended or lowered."""
    with open_service() as service:
        typer.echo(accounts_text(service.grant(dataset, analyst, parse_limit(limit), note)))


def freeze(dataset: Dataset, analyst: Analyst, note: Reason) -> None:
    """Freeze an analyst: no run of theirs starts until they are unfrozen (thaw)."""
    with open_service() as service:
        service.freeze(dataset, analyst, note)
    typer.echo("frozen: waiting runs are refunded, runs that read records already go on")


def thaw(dataset: Dataset, analyst: Analyst, note: Reason) -> None:
    """Unfreeze an analyst."""
    with open_service() as service:
        service.thaw(dataset, analyst, note)
    typer.echo("not frozen any more")


def requests(dataset: SomeDataset = None) -> None:
    """List requests for more budget, oldest first."""
    with open_service() as service:
        found, names = service.budget_requests(dataset), _names(service)
    typer.echo(requests_text(found, names) if found else "Nobody has asked for more budget.")


def answer(
    number: Annotated[int, typer.Argument(help="Number of the request: see 'ledger requests'.")],
    limit: Annotated[
        str | None,
        typer.Option(metavar="EPSILON", help="All that the analyst may ever spend from now on."),
    ] = None,
    decline: Annotated[bool, typer.Option("--decline", help="Refuse; say why in the note.")] = False,
    note: Annotated[str, typer.Option(help="What the analyst reads.")] = "",
) -> None:
    """Answer a request for more budget: with a new limit, or --decline."""
    if (limit is None) != decline:
        raise RequestError("Give either --limit or --decline.")
    amount = read_amount(parse_limit, limit)
    with open_service() as service:
        answered = service.answer(number, amount, note)
    typer.echo(f"{answered.state}: request {answered.number}")


def log(
    dataset: SomeDataset = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only lines of this kind, such as grant; give it again for more."),
    ] = None,
    analyst: Annotated[str | None, typer.Option(help="Only lines about this analyst.")] = None,
    actor: Annotated[str | None, typer.Option(help="Only what this person did.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help=f"First day in UTC, such as {_DAY}.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Last day in UTC, included.")] = None,
    text: Annotated[str, typer.Option(help="Only lines with these words in the note.")] = "",
    run: Annotated[str, typer.Option(help="Only lines of the run whose id begins so.")] = "",
    csv: Annotated[Path | None, typer.Option(help="Write the lines to this new file, with exact amounts.")] = None,
) -> None:
    """Print the audit log: every line that fits, oldest first."""
    wanted = AuditLogFilter(
        kinds=kind or (),
        analysts=_one(analyst),
        actors=_one(actor),
        first=_day(since),
        last=_day(until),
        words=text,
        run=run,
    )
    if csv is not None:
        check_new(csv)
    with open_service() as service:
        lines, names = chosen(service.ledger_entries(dataset), wanted), _names(service)
    if csv is not None:
        write_new(csv, to_csv(lines, names))
        return
    typer.echo(ledger_text(lines, names if dataset is None else None))


def _names(service: Service) -> dict[str, str]:
    return {info.id: info.name for info in service.datasets()}


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (canonical_name(name),)


def _day(typed: str | None) -> date | None:
    try:
        return None if typed is None else date.fromisoformat(typed)
    except ValueError:
        raise RequestError(f"'{typed}' is not a date. Write it as {_DAY}.") from None
