"""Commands that read releases and the ledger."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcore.commands import grants
from dpcore.commands.first_look import ask, synthesize
from dpcore.commands.redescriptions import redescriptions
from dpcore.commands.report import note, release_page
from dpcore.commands.shell import Dataset, find_release, make_group, open_service, read_epsilon
from dpcore.errors import RequestError

releases = make_group("Read what has been released; costs nothing.")
ledger = make_group("See what has been spent and by whom; decide who may spend how much.")


@releases.command("list")
def list_releases(
    dataset: Annotated[str | None, typer.Option(metavar="DATASET", help="Only those of this data set.")] = None,
) -> None:
    """List releases, newest first."""
    from dpcore.commands.plain_text import text_table
    from dpcore.privacy.budgets import alike, format_epsilon

    with open_service() as service:
        chosen = service.dataset(dataset).id if dataset else None
        names = {key: note.name for key, note in service.release_notes(chosen).items()}
        found = service.releases(chosen)
        costs = alike(format_epsilon(release.certificate.epsilon) for release in found)
        rows = [
            [
                release.id,
                names.get(release.id) or "-",
                release.kind,
                release.dataset_name,
                release.target or "-",
                cost,
                f"{release.certificate.created:%Y-%m-%d %H:%M}",
            ]
            for release, cost in zip(found, costs, strict=True)
        ]
    typer.echo(text_table(["id", "name", "model", "data set", "target", "epsilon", "time (UTC)"], rows))


@releases.command("show")
def show_release(
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    json: Annotated[bool, typer.Option("--json", help="Print the whole release as JSON.")] = False,
) -> None:
    """Print a release: the model, its quality and its certificate."""
    from dpcore.commands.text import release_text

    found = find_release(release)
    typer.echo(found.to_json() if json else release_text(found))


releases.command("redescriptions")(redescriptions)
releases.command("note")(note)
releases.command("html")(release_page)
releases.command("synthesize")(synthesize)
releases.command("ask")(ask)


@ledger.command("show")
def show_ledger(dataset: Dataset) -> None:
    """Print the budget of a data set and every line of its ledger, oldest first."""
    from dpcore.commands.plain_text import one_line
    from dpcore.commands.text_ledger import balance_text, ledger_text

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
    from dpcore.commands.text_ledger import balance_text
    from dpcore.privacy.budgets import parse_delta, parse_epsilon
    from dpcore.privacy.losses import parse_rho

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
    from dpcore.commands.text_ledger import balance_text
    from dpcore.privacy.budgets import parse_delta, parse_limit

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
    from dpcore.commands.plain_text import text_table
    from dpcore.privacy.budgets import format_epsilon

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
