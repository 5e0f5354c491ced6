"""The command that says whether home folder and database fit."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
import typer

from dpcore.workspace.database.database import default_home, default_url
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import Facts, look
from dpcore.workspace.database.witness import witness_folder

_NO_WITNESS = (
    "none of this home folder: if it and the database were restored from a backup, that is not recognised here"
)


def show() -> None:
    """Say where home, database and witness are, whether they fit, and what to do if not."""
    folder, url = places()
    facts = look(Home(folder), url)
    typer.echo(_text(folder, url, facts, witness_folder()))
    if facts.fault is not None:
        typer.echo(f"\n{facts.fault}\n\n{_last_resort(facts)}")


def places() -> tuple[Path, str]:
    """Home folder and address of the database."""
    folder = default_home().resolve()
    return folder, default_url(folder)


def _text(folder: Path, url: str, facts: Facts, witnesses: Path | None) -> str:
    binding, witness = facts.binding, facts.witness
    remembered = _NO_WITNESS if witness is None else f"newest line seen: {witness.number}"
    return "\n".join(
        [
            f"home folder:  {folder}",
            f"  installation {'-' if binding is None else binding.installation}, "
            f"data sets stored: {len(facts.stored)}, newest line seen: {facts.mark.number}",
            f"database:     {sa.make_url(url).render_as_string(hide_password=True)}",
            f"  installation {facts.database or '-'}, "
            f"data sets known: {len(facts.known)}, newest line: {facts.newest.number}",
            f"witness:      {witnesses or '-'}",
            f"  {remembered}",
            "They do not fit." if facts.fault else "They fit.",
        ]
    )


def _last_resort(facts: Facts) -> str:
    return (
        "If there is nothing to put back: stop the application everywhere, then go on with what is "
        "there by\n\n"
        f"  python -m dpcore installation accept --code {facts.code} --budgets close "
        "--note 'what happened'\n\n"
        f"The ledger stays as it is: what it lacks is FORGOTTEN. {by_hand(facts)}"
    )


def by_hand(facts: Facts) -> str:
    """What the operator has to enter, if the ledger lacks lines."""
    unknown = sorted(facts.stored - facts.known)
    adopt = "".join(f"\n  python -m dpcore data adopt {name} --note WHY" for name in unknown)
    missing = len(facts.known - facts.stored)
    return (
        "Enter by hand, before anybody runs anything, for every data set what was spent and is not "
        "in this ledger:\n"
        "  python -m dpcore ledger charge DATASET --epsilon AMOUNT --note WHERE-IT-IS-KNOWN-FROM\n"
        "It is known from certificates of downloaded releases, or from what is left of the old "
        "database; if from nowhere, charge all that is left."
        + (f"\nFolders that the database does not know:{adopt}" if unknown else "")
        + (f"\nData sets whose folder is not here: {missing}." if missing else "")
    )
