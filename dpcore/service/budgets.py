"""Budgets: what is left, who may spend how much, requests for more, and the audit log."""

from __future__ import annotations

from decimal import Decimal

from dpcore.privacy.budgets import parse_epsilon
from dpcore.privacy.losses import engine_loss, run_loss
from dpcore.service.base import ServiceBase
from dpcore.workspace.ledger.accounts import Account, Balance, BudgetRequest, LedgerEntry
from dpcore.workspace.ledger.ledger_checks import exact_delta
from dpcore.workspace.people.users import canonical_name


class Budgets(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def balance(self, dataset_id: str) -> Balance:
        """What the caller has spent and may still spend on a data set."""
        return self._ledger.balance(self._visible(dataset_id).id, self._user.name)

    def total_balance(self, dataset_id: str) -> Balance:
        """What all analysts have spent together, and what the data set has left."""
        return self._ledger.balance(self._visible(dataset_id).id)

    def raise_caps(
        self,
        dataset_id: str,
        *,
        budget: Decimal | None = None,
        delta: Decimal | None = None,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        note: str = "",
    ) -> Balance:
        """Custodian: change the caps given; the ledger keeps every change."""
        found = self._managed(dataset_id)
        self._ledger.raise_caps(
            found,
            cap=budget,
            delta=delta,
            analyst_cap=analyst_cap,
            run_cap=run_cap,
            note=note,
            actor=self._user.name,
        )
        return self._ledger.balance(found)

    def charge(
        self,
        dataset_id: str,
        epsilon: Decimal,
        delta: Decimal = Decimal(0),
        rho: Decimal | None = None,
        *,
        note: str,
    ) -> Balance:
        """Custodian: enter what was spent outside of this ledger; see ``docs/deployment.md``.

        Parameters
        ----------
        rho : Decimal, optional
            As on the certificate of the result; 0 if that states none. Default: the bound for other runs.
        """
        found = self._managed(dataset_id)
        loss = engine_loss(parse_epsilon(epsilon), exact_delta(delta))
        if rho is not None:
            loss = run_loss(loss.epsilon, loss.delta, rho)
        self._ledger.charge(found, loss, note=note, actor=self._user.name)
        return self._ledger.balance(found)

    def accounts(self, dataset_id: str) -> list[Account]:
        """Custodian: every analyst of a data set, with limit and balance."""
        return self._grants.accounts(self._managed(dataset_id))

    def grant(self, dataset_id: str, analyst: str, limit: Decimal, reason: str) -> list[Account]:
        """Custodian: set what one analyst may spend in all, and return all accounts.

        Raises
        ------
        BudgetError
            If the limit is neither 0 nor a usable epsilon.
        RequestError
            If the name or the reason is unusable.
        """
        found = self._managed(dataset_id)
        self._grants.grant(found, analyst, limit, reason, actor=self._user.name)
        return self._grants.accounts(found)

    def freeze(self, dataset_id: str, analyst: str, reason: str) -> None:
        """Custodian: freeze one analyst. Runs that have read no record are refunded, others go on."""
        found = self._managed(dataset_id)
        self._grants.freeze(found, analyst, reason, actor=self._user.name)
        self._jobs.tend()
        self._queue.call_off(self._people(found), canonical_name(analyst), self._user.name)

    def thaw(self, dataset_id: str, analyst: str, reason: str) -> None:
        """Custodian: let a frozen analyst go on."""
        found = self._managed(dataset_id)
        self._grants.thaw(found, analyst, reason, actor=self._user.name)

    def ask(self, dataset_id: str, epsilon: Decimal, reason: str) -> BudgetRequest:
        """Ask the custodian for more of a data set's budget.

        Raises
        ------
        BudgetError
            If the amount is not a usable epsilon.
        RequestError
            If there is no reason.
        ConflictError
            If an earlier request is open: on this data set, or another about the same people.
        """
        found = self._usable(dataset_id).id
        return self._grants.ask(found, self._user.name, epsilon, reason)

    def answer(self, number: int, limit: Decimal | None, reason: str = "") -> BudgetRequest:
        """Custodian: answer a request with a new limit for its analyst; ``None`` declines it."""
        self._require("custodian")
        return self._grants.answer(number, limit, reason, actor=self._user.name)

    def budget_requests(self, dataset_id: str | None = None) -> list[BudgetRequest]:
        """Requests for more, oldest first: to the custodian all, to others their own."""
        self._require("custodian", "analyst", "teacher")
        return self._grants.requests(self._seen(dataset_id), self._reader())

    def own_requests(self, dataset_id: str) -> list[BudgetRequest]:
        """What the caller asked for of a budget, oldest first: on all data sets that share it."""
        return self._grants.requests(self._people(self._usable(dataset_id).id), self._user.name)

    def ledger_entries(self, dataset_id: str | None = None) -> list[LedgerEntry]:
        """Custodian: every line of the ledger about a data set, or about all, oldest first."""
        self._require("custodian")
        return self._ledger.entries(None if dataset_id is None else self._managed(dataset_id))

    def _managed(self, dataset_id: str) -> str:
        """Identifier of a data set, for its custodian."""
        self._require("custodian")
        return self._visible(dataset_id).id
