"""Commands about stored data sets: list them, adopt and remove records, rename and retire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from dpcore.commands.opening import open_service
from dpcore.commands.shell import Dataset, text_table
from dpcore.commands.text_ledger import balance_text
from dpcore.privacy.budgets import parse_delta, parse_limit
from dpcore.workspace.files.descriptions import AT_STAKE, Orphan

_STATES = {
    "unknown": "unknown to the database: 'data adopt' or 'data remove'",
    "arriving": "being stored just now",
    "missing": "records not here: put the folder back from a backup",
    "removed": "records removed on purpose",
    "returned": "records removed on purpose, but here: a backup brought them back, or removing was cut short; "
    "'data remove' them once more",
    "damaged": "a file is missing or has changed since it was written: put the folder back from a backup",
}


def list_datasets() -> None:
    """List the stored data sets with their budgets."""
    with open_service() as service:
        rows = [
            [
                info.name,
                info.id,
                "public" if info.public else f"private{', Markov chains allowed' if info.conditional else ''}",
                f"{info.version}{', retired' if info.retired else ''}",
                ", ".join(info.schema.targets) or "-",
                balance_text(service.balance(info.id)),
                ", ".join(info.shares_with) or "-",
            ]
            for info in service.datasets()
        ]
    typer.echo(text_table(["name", "id", "records", "version", "targets", "budget (epsilon)", "shared with"], rows))


def orphans() -> None:
    """List folders that the database does not know, data sets whose folder is gone, and records that should be."""
    with open_service() as service:
        rows = service.orphans()
    typer.echo(_orphans_text(rows) if rows else "Every data set is where it belongs.")


def _orphans_text(orphans: Sequence[Orphan]) -> str:
    rows = [[orphan.id, orphan.name or "-", _STATES[orphan.state]] for orphan in orphans]
    return text_table(["id", "name", "state"], rows)


def verify() -> None:
    """Read all stored records and compare them with their checksums; ends with 1 if any are not as they should be."""
    with open_service() as service:
        astray = [orphan for orphan in service.orphans() if orphan.state in ("missing", "returned")]
        rows = [*service.damaged(), *astray]
    if not rows:
        typer.echo("Every data set is as it was written.")
        return
    typer.echo(_orphans_text(rows))
    raise typer.Exit(1)


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
    same_people_as: Annotated[
        str | None, typer.Option(metavar="DATASET", help="A data set whose budget it shares, instead of --budget.")
    ] = None,
    replaces: Annotated[
        str | None, typer.Option(metavar="DATASET", help="The same, as the next version of that data set.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="'different-people': that a person is defined differently there."),
    ] = None,
) -> None:
    """Enter a folder that the database does not know, as a private data set."""
    total, past, beside = parse_limit(budget), parse_limit(spent), parse_delta(delta)
    with open_service() as service:
        info = service.adopt(
            folder,
            name=name,
            budget=total,
            spent=past,
            delta=beside,
            same_people_as=same_people_as,
            replaces=replaces,
            accepted=accept or (),
            note=note,
        )
        typer.echo(f"adopted: '{info.title}' ({info.id}), {balance_text(service.balance(info.id))}")
    if same_people_as is None and replaces is None:
        typer.echo(
            "WARNING: no ledger knows what was spent on these people before, but for what you have "
            "entered. Whatever you let be spent now comes on top of it."
        )


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


def rename(dataset: Dataset, name: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Give a data set another name; results keep the one they were made under."""
    with open_service() as service:
        typer.echo(f"renamed: it is '{service.rename_dataset(dataset, name).name}' now")


def describe(dataset: Dataset, text: Annotated[str, typer.Argument(help="The new description.")]) -> None:
    """Say anew who the people of a data set are. What its columns mean stays."""
    with open_service() as service:
        service.describe_dataset(dataset, text)
    typer.echo("described anew")


def chains(
    dataset: Dataset,
    allow: Annotated[bool, typer.Option("--allow/--forbid", help="Allow Markov chains on it, or no longer.")],
    note: Annotated[str, typer.Option(help="Why; kept in the audit log.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
) -> None:
    """Allow Markov chains on one private data set, whose guarantee holds only if they have converged; or no longer."""
    if allow and not yes:
        typer.confirm(f"{AT_STAKE} Allow them on '{dataset}'?", abort=True)
    with open_service() as service:
        info = service.allow_conditional(dataset, allow, note=note)
    typer.echo(info.allowance or "not allowed any more: waiting runs of Markov chains are refunded")


def retire(dataset: Dataset, note: Annotated[str, typer.Option(help="Why; kept in the audit log.")] = "") -> None:
    """Let nobody run anything more on a data set. Records, ledger and results stay."""
    with open_service() as service:
        service.retire_dataset(dataset, note=note)
    typer.echo("retired: nothing more can be run on it, and its results can still be read")


def demo() -> None:
    """Prepare the public demonstration data sets; does nothing if they are there."""
    with open_service() as service:
        names = ", ".join(info.name for info in service.add_demo_datasets())
    typer.echo(f"demonstration data ready: {names}")
