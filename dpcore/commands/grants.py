"""Commands about single analysts, their requests for more, and the audit log."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcore.commands.shell import Dataset, check_new, open_service, write_new
from dpcore.commands.text_ledger import accounts_text, ledger_text, requests_text
from dpcore.errors import RequestError
from dpcore.privacy.budgets import parse_limit
from dpcore.workspace.ledger.audit_log import Wanted, chosen, to_csv
from dpcore.workspace.people.users import canonical_name

if TYPE_CHECKING:
    from dpcore.service import Service

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
    amount: Decimal | None = None if limit is None else parse_limit(limit)
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
    wanted = Wanted(
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
