"""The command that goes on with home folder and database as they are."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dpcore.commands.operation.installation import by_hand, places
from dpcore.workspace.people.users import LOCAL_USER
from dpcore.workspace.upkeep.recovery import accept as go_on


class BudgetDecision(StrEnum):
    """What becomes of the budgets of all data sets."""

    CLOSE = "close"
    KEEP = "keep"


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
    folder, url = places()
    close = budgets is BudgetDecision.CLOSE
    facts = go_on(folder, url, code=code, note=note, close=close, actor=LOCAL_USER.name)
    typer.echo(
        "WARNING: accepted. This ledger has forgotten what was spent in the lines that it lacks, "
        "and nobody will be asked again.\n"
        f"{by_hand(facts)}"
    )
