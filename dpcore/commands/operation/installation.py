"""Commands about home folder and database: whether they fit, and going on if they do not."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcore.commands.shell import make_group

if TYPE_CHECKING:
    from dpcore.workspace.database.installation import Facts

app = make_group()
_NO_WITNESS = (
    "none of this home folder: if it and the database were restored from a backup, that is not recognised here"
)


class BudgetDecision(StrEnum):
    """What becomes of the budgets of all data sets."""

    CLOSE = "close"
    KEEP = "keep"


@app.command("show")
def show() -> None:
    """Say where home, database and witness are, whether they fit, and what to do if not."""
    from dpcore.workspace.database.witness import witness_folder

    folder, url = _places()
    facts = _facts(folder, url)
    typer.echo(_text(folder, url, facts, witness_folder()))
    if facts.fault is not None:
        typer.echo(f"\n{facts.fault}\n\n{_last_resort(facts)}")


@app.command("cluster")
def cluster() -> None:
    """Say who answers questions to the records: this machine, or a Dask cluster and its dashboard."""
    from dpcore.data.execution.executor_choice import configured_executor

    typer.echo(configured_executor().status())


@app.command("accept")
def accept(
    code: Annotated[str, typer.Option(help="The code that 'installation show' prints.")],
    budgets: Annotated[
        BudgetDecision,
        typer.Option(
            help="close: nothing more can be spent until you raise a budget; keep: what the ledger "
            "says is left can be spent at once, although it has forgotten something."
        ),
    ],
    note: Annotated[str, typer.Option(help="What happened; kept in the audit log.")],
) -> None:
    """Go on with home and database as they are. WHAT THE LEDGER LACKS IS FORGOTTEN FOR GOOD."""
    from dpcore.workspace.people.users import LOCAL_USER
    from dpcore.workspace.upkeep.recovery import accept as go_on

    folder, url = _places()
    close = budgets is BudgetDecision.CLOSE
    facts = go_on(folder, url, code=code, note=note, close=close, actor=LOCAL_USER.name)
    typer.echo(
        "WARNING: accepted. This ledger has forgotten what was spent in the lines that it lacks, "
        "and nobody will be asked again.\n"
        f"{_by_hand(facts)}"
    )


def calibrate() -> None:
    """Measure again what this machine can do, and keep it: it tells what runs will take."""
    from dpcore.workspace.database.database import default_home
    from dpcore.workspace.database.home import usable
    from dpcore.workspace.runs.calibration import calibrate as measure

    folder = default_home().resolve()
    with usable(folder):
        machine = measure(folder, again=True)
    typer.echo(
        f"{machine.name}\n"
        f"a word of bit vectors:    {machine.word * 1e9:.2f} ns\n"
        f"a place of the table:     {machine.place * 1e9:.2f} ns\n"
        f"a number of noise:        {machine.draw * 1e6:.1f} us\n"
        f"a question to the table:  {machine.call * 1e6:.0f} us"
    )


def _places() -> tuple[Path, str]:
    from dpcore.workspace.database.database import default_home, default_url

    folder = default_home().resolve()
    return folder, default_url(folder)


def _facts(folder: Path, url: str) -> Facts:
    from dpcore.workspace.database.home import Home
    from dpcore.workspace.database.installation import look

    return look(Home(folder), url)


def _text(folder: Path, url: str, facts: Facts, witnesses: Path | None) -> str:
    import sqlalchemy as sa

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
        f"The ledger stays as it is: what it lacks is FORGOTTEN. {_by_hand(facts)}"
    )


def _by_hand(facts: Facts) -> str:
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
