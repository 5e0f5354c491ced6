"""Facts of a schema that were learned privately: what an account still owes for them, wherever they come from.

A schema is a file that anybody can edit. So what it says of a price is believed only if the account
has that very line, for a data set whose facts these are; else it is paid here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpcore.domain.schemas.learned import LearningCertificate
from dpcore.domain.schemas.origins import LEARNED
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, SchemaError
from dpcore.privacy.budgets import exact_amount, parse_epsilon, percent
from dpcore.privacy.filters import largest_rho, smallest_epsilon
from dpcore.privacy.losses import Loss, pure_rho, run_loss
from dpcore.released.learning_plan import LearningPlan
from dpcore.workspace.database.database_tables import ledger_entries
from dpcore.workspace.files.populations import account_of, members
from dpcore.workspace.files.store import parse_schema
from dpcore.workspace.ledger.accounts import CapState
from dpcore.workspace.ledger.ledger_checks import exact_amounts, exact_delta
from dpcore.workspace.ledger.ledger_lines import AMOUNTS

_E = ledger_entries.c
_NOTE = "facts of {} columns that came with the schema, learned privately on {:%Y-%m-%d}"
_NO_PRICE = (
    "{names} {are} marked 'learned privately', but neither the 'learned' block of the schema nor the budget that is to "
    "be shared says what that cost. Take the schema as it was exported, share the budget that paid for it, or say "
    "where these facts really come from ('origin')."
)
_NONSENSE = (
    "What the 'learned' block of the schema says of its cost contradicts itself, so nobody can tell what has to be "
    "charged. Take the schema as it was exported."
)
_NOT_SET_ASIDE = (
    "Categories of this data set were learned: a part of a delta has to be set aside for that when a budget is opened, "
    "and the one to be shared was opened without. Store the data set with its categories listed, for example those of "
    "the data set whose budget is shared, or with a budget of its own."
)


@dataclass(frozen=True)
class LearningCharge:
    """What an account is charged for learning a schema.

    Attributes
    ----------
    loss : Loss
    aside : Decimal
        Part of the delta that has to be set aside as the account is opened.
    note : str
        What the ledger says of it.
    """

    loss: Loss
    aside: Decimal
    note: str


def learning_charge(
    connection: Connection,
    schema: Schema,
    related: str | None,
    plan: LearningPlan | None = None,
    *,
    accounted: bool = False,
) -> LearningCharge | None:
    """What has to be charged for the learned facts of a schema as a data set comes; ``None`` if nothing.

    Parameters
    ----------
    related : str or None
        A data set whose account is to be shared; ``None``: an account is opened.
    plan : LearningPlan, optional
        What is learned now.
    accounted : bool
        Whether facts of unknown cost are entered by hand.

    Raises
    ------
    SchemaError
        If nothing says what a fact has cost, or what is said contradicts itself.
    BudgetError
        If categories have to be charged to an account that was opened without setting their delta aside.
    """
    learned, paid = schema.learned, [] if related is None else list(_paid(connection, related))
    unpaid = [name for name, column in _learned_columns(schema) if not any(_covers(one, name, column) for one in paid)]
    known = {*(() if plan is None else plan.questions), *(() if learned is None else learned.columns)}
    unknown = [f"'{name}'" for name in unpaid if name not in known]
    if unknown and not accounted:
        raise SchemaError(_NO_PRICE.format(names=", ".join(unknown), are="are" if len(unknown) > 1 else "is"))
    if plan is not None:
        return LearningCharge(plan.loss, plan.threshold_delta, plan.note)
    if learned is None or (not unpaid and any(one.learned == learned for one in paid)):
        return None
    _check_claims(schema, learned)
    if related is not None and learned.threshold_delta:
        raise BudgetError(_NOT_SET_ASIDE)
    return LearningCharge(_loss(learned), learned.threshold_delta, _NOTE.format(len(learned.columns), learned.time))


def check_learning(cap_state: CapState, loss: Loss) -> None:
    """Raise ``BudgetError`` if a schema cannot be learned at this cost."""
    if loss.delta and cap_state.cap.delta <= cap_state.cap.aside:
        raise BudgetError(
            "What was learned of the schema has a delta, and that of this budget is not above what it takes "
            f"({exact_amount(max(cap_state.cap.aside, loss.delta))}): choose a larger one."
        )
    if not cap_state.accepts(loss):
        raise BudgetError(
            f"Not enough budget: learning the schema would take {percent(cap_state.adds(loss))} of the budget, but "
            f"{percent(cap_state.left(), up=False)} is left. Choose a smaller epsilon for it, or a larger budget."
        )


def _loss(learned: LearningCertificate) -> Loss:
    return run_loss(*(getattr(learned, name) for name in AMOUNTS))


def _learned_columns(schema: Schema) -> Iterator[tuple[str, Any]]:
    tables = [("", schema), *((f"{child.name}: ", child) for child in schema.children)]
    for prefix, table in tables:
        for column in table.columns:
            if (column.origin or schema.origin) == LEARNED and column.type != "boolean":
                yield prefix + column.name, column


def _paid(connection: Connection, related: str) -> Iterator[Schema]:
    """Schemas of an account that were learned, and whose line it has."""
    charged = (_E.kind == "learn") & (_E.account == account_of(related))
    chosen = sa.select(_E.dataset_id, *(_E[name] for name in AMOUNTS)).where(charged)
    lines = {tuple(row) for row in connection.execute(chosen)}
    for row in members(connection, related):
        schema = parse_schema(row["schema"])
        if schema.learned and (row["id"], *(getattr(schema.learned, name) for name in AMOUNTS)) in lines:
            yield schema


def _covers(paid: Schema, name: str, column: Any) -> bool:
    """Whether facts of a column are among those that were learned of the one of this name."""
    if paid.learned is None or name not in paid.learned.columns:
        return False
    known = {one.name: one for one in paid.columns}
    return name in known and known[name].type == column.type and _facts(column) <= _facts(known[name])


def _facts(column: Any) -> frozenset[object]:
    """What learning tells of a column."""
    if hasattr(column, "lower"):
        return frozenset((column.lower, column.upper, *column.inner_edges))
    return frozenset(column.categories)


def _check_claims(schema: Schema, learned: LearningCertificate) -> None:
    """See that a certificate says what learning at the epsilon asked for costs, or more."""
    categorical = {column.name for column in schema.columns if column.type == "categorical"}
    listed = {*learned.left_out} | (categorical & {*learned.columns})
    try:
        asked, _ = parse_epsilon(learned.asked), exact_amounts(_loss(learned))
        rest = learned.delta - exact_delta(learned.threshold_delta)
        whole = rest > 0 if learned.delta else rest == 0
        least = smallest_epsilon(learned.rho, rest) if whole and learned.delta else asked
    except BudgetError:
        raise SchemaError(_NONSENSE) from None
    told = whole and (learned.definition == "pure") == (not learned.delta) and bool(learned.columns)
    # Versions that made it by the rho of a pure run asked for less than they promised.
    due = pure_rho(asked) if not learned.delta or asked < learned.epsilon else largest_rho(asked, rest)
    enough = learned.rho >= due and learned.epsilon >= least
    if not (told and enough) or (listed and not learned.threshold_delta):
        raise SchemaError(_NONSENSE)
