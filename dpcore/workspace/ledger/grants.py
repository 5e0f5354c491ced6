"""Budgets of single analysts: granted, frozen, asked for. All of it lines of the ledger.

A limit is what one analyst may spend in all, on all data sets about the same people; the cap of their
account holds beside it, so grants may add up to more than the cap without anybody being able to
overspend it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import ConflictError, NotFoundError, RequestError
from dpcore.privacy.budgets import parse_epsilon, parse_limit, plain_epsilon
from dpcore.workspace.database.database_tables import ledger_entries
from dpcore.workspace.database.transactions import asked_of, read, write
from dpcore.workspace.files.populations import account_of, members
from dpcore.workspace.ledger.accounts import Account, BudgetRequest, BudgetRequestState
from dpcore.workspace.ledger.ledger_lines import append, caps_of, kept_note, own_balance_of, standing_of
from dpcore.workspace.people.users import canonical_name

_E = ledger_entries.c
#: Lines of the ledger have smaller numbers.
_NUMBERS = 2**63
#: Lines that make somebody an analyst of a data set.
_ABOUT_ANALYSTS = ("reserve", "ask", "grant", "freeze", "thaw")


class Grants:
    """Accounts of analysts, and their requests, in one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def grant(self, dataset_id: str, analyst: str, limit: Decimal, reason: str, *, actor: str | None) -> None:
        """Set what one analyst may spend on a data set in all: given, extended or lowered.

        Raises
        ------
        BudgetError
            If the limit is neither 0 nor a usable epsilon.
        RequestError
            If the name is unusable, or there is no reason.
        """
        limit, name, why = parse_limit(limit), canonical_name(analyst), _needed(reason)

        def transaction(connection: Connection) -> None:
            caps_of(connection, dataset_id)
            _grant(connection, dataset_id, name, limit, why, actor)

        write(self._engine, transaction)

    def freeze(self, dataset_id: str, analyst: str, reason: str, *, actor: str | None) -> None:
        """Freeze an analyst: no run of theirs begins to read records.

        Raises
        ------
        RequestError
            If there is no reason: the analyst reads it.
        ConflictError
            If the analyst is frozen already.
        """
        self._switch("freeze", dataset_id, analyst, reason, actor)

    def thaw(self, dataset_id: str, analyst: str, reason: str, *, actor: str | None) -> None:
        """Let a frozen analyst go on.

        Raises
        ------
        RequestError
            If there is no reason.
        ConflictError
            If the analyst is not frozen.
        """
        self._switch("thaw", dataset_id, analyst, reason, actor)

    def ask(self, dataset_id: str, analyst: str, epsilon: Decimal, reason: str) -> BudgetRequest:
        """Ask the custodian for more.

        Raises
        ------
        BudgetError
            If the amount is not a usable epsilon.
        RequestError
            If there is no reason.
        ConflictError
            If an earlier request of this analyst is open, on this data set or another about the same people.
        """
        epsilon, name, why = parse_epsilon(epsilon), canonical_name(analyst), _needed(reason)

        def transaction(connection: Connection) -> BudgetRequest:
            caps_of(connection, dataset_id)
            asked = _requests(connection, {row["id"] for row in members(connection, dataset_id)}, name)
            if any(request.state == "open" for request in asked):
                raise ConflictError("You have asked already: wait for the custodian's answer.")
            amount = {"analyst": name, "actor": name, "epsilon": epsilon}
            append(connection, "ask", dataset_id, note=why, **amount)
            return _requests(connection, {dataset_id}, name)[-1]

        return write(self._engine, transaction)

    def answer(self, number: int, limit: Decimal | None, reason: str, *, actor: str | None) -> BudgetRequest:
        """Answer a request: with a new limit for its analyst, or ``None`` to decline it.

        Raises
        ------
        NotFoundError
            If there is no such request.
        ConflictError
            If it was answered before.
        RequestError
            If it is declined without a reason, or the new limit is not above the present one.
        """
        limit = None if limit is None else parse_limit(limit)
        why = _needed(reason) if limit is None else kept_note(reason)

        def transaction(connection: Connection) -> BudgetRequest:
            asked = _request(connection, number)
            if asked.state != "open":
                raise ConflictError(f"This request is {asked.state} already.")
            if limit is None:
                append(
                    connection,
                    "decline",
                    asked.dataset_id,
                    analyst=asked.analyst,
                    note=why,
                    actor=actor,
                    answers=number,
                )
            else:
                _check_more(standing_of(connection, asked.dataset_id, asked.analyst).limit, limit)
                _grant(connection, asked.dataset_id, asked.analyst, limit, why, actor, number)
            return _request(connection, number)

        return write(self._engine, transaction)

    def requests(self, datasets: Collection[str] | None = None, analyst: str | None = None) -> list[BudgetRequest]:
        """Requests, oldest first: those on some data sets, and of one analyst, or all."""

        def transaction(connection: Connection) -> tuple[BudgetRequest, ...]:
            return tuple(_requests(connection, datasets, analyst))

        return list(read(self._engine, transaction, question=("requests", asked_of(datasets), analyst)))

    def accounts(self, dataset_id: str) -> list[Account]:
        """Everybody who was given budget, asked for it or used it, by name."""

        def transaction(connection: Connection) -> list[Account]:
            caps_of(connection, dataset_id)
            chosen = sa.select(_E.analyst).where(_E.account == account_of(dataset_id), _E.kind.in_(_ABOUT_ANALYSTS))
            names = connection.execute(chosen.distinct()).scalars().all()
            return [_account(connection, dataset_id, name) for name in sorted(names)]

        return read(self._engine, transaction)

    def _switch(self, kind: str, dataset_id: str, analyst: str, reason: str, actor: str | None) -> None:
        name, why = canonical_name(analyst), _needed(reason)

        def transaction(connection: Connection) -> None:
            caps_of(connection, dataset_id)
            frozen = standing_of(connection, dataset_id, name).frozen is not None
            if frozen == (kind == "freeze"):
                state = "frozen already" if frozen else "not frozen"
                raise ConflictError(f"The budget of {name} is {state}.")
            append(connection, kind, dataset_id, analyst=name, note=why, actor=actor)

        write(self._engine, transaction)


def _needed(reason: str) -> str:
    """A reason that must be given. Raises ``RequestError``."""
    kept = kept_note(reason)
    if not kept:
        raise RequestError("Give a reason: it is kept, and the other side reads it.")
    return kept


def _check_more(present: Decimal | None, limit: Decimal) -> None:
    """Refuse to answer a request for more with less. Raises ``RequestError``."""
    if present is not None and limit <= present:
        raise RequestError(
            f"This grants nothing: the limit is ε {plain_epsilon(present)} in all already. Give a higher one, or "
            "decline."
        )


def _grant(
    connection: Connection,
    dataset_id: str,
    analyst: str,
    limit: Decimal,
    reason: str,
    actor: str | None,
    answers: int | None = None,
) -> None:
    append(
        connection, "grant", dataset_id, analyst=analyst, analyst_cap=limit, note=reason, actor=actor, answers=answers
    )


def _account(connection: Connection, dataset_id: str, analyst: str) -> Account:
    chosen = sa.select(_E.kind).where(_E.account == account_of(dataset_id), _E.analyst == analyst)
    kinds = connection.execute(chosen).scalars().all()
    standing, balance = standing_of(connection, dataset_id, analyst), own_balance_of(connection, dataset_id, analyst)
    return Account(analyst, standing, balance, kinds.count("reserve") - kinds.count("refund"))


def _request(connection: Connection, number: int) -> BudgetRequest:
    known = 0 < number < _NUMBERS
    chosen = sa.select(ledger_entries).where(_E.sequence == number, _E.kind == "ask")
    row = connection.execute(chosen).mappings().one_or_none() if known else None
    if row is None:
        raise NotFoundError("There is no such request.")
    return _with_answers(connection, [row])[0]


def _requests(connection: Connection, datasets: Collection[str] | None, analyst: str | None) -> list[BudgetRequest]:
    chosen = sa.select(ledger_entries).where(_E.kind == "ask").order_by(_E.sequence)
    if datasets is not None:
        chosen = chosen.where(_E.dataset_id.in_(datasets))
    if analyst is not None:
        chosen = chosen.where(_E.analyst == analyst)
    return _with_answers(connection, connection.execute(chosen).mappings().all())


def _with_answers(connection: Connection, rows: Sequence[RowMapping]) -> list[BudgetRequest]:
    chosen = sa.select(ledger_entries).where(_E.answers.in_([row["sequence"] for row in rows]))
    answers = {row["answers"]: row for row in connection.execute(chosen).mappings()}
    return [_budget_request(row, answers.get(row["sequence"])) for row in rows]


def _budget_request(row: RowMapping, answer: RowMapping | None) -> BudgetRequest:
    states: dict[str, BudgetRequestState] = {"grant": "granted", "decline": "declined"}
    return BudgetRequest(
        number=row["sequence"],
        dataset_id=row["dataset_id"],
        analyst=row["analyst"],
        epsilon=row["epsilon"],
        reason=row["note"],
        time=row["time"],
        state="open" if answer is None else states[answer["kind"]],
        answer="" if answer is None else answer["note"],
        granted=None if answer is None or answer["kind"] != "grant" else answer["analyst_cap"],
    )
