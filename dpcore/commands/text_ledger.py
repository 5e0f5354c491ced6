"""Budgets, ledgers, accounts of analysts and requests for more as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from dpcore.commands.shell import one_line, text_table
from dpcore.privacy.budgets import at_delta, exact_amount, format_epsilon, percent
from dpcore.workspace.ledger.accounts import Account, Balance, BudgetRequest, LedgerEntry, Standing

_PLACES = 9


def balance_text(balance: Balance) -> str:
    """A budget in one line: what is spent rounded up, what is left rounded down."""
    parts = [
        f"budget {left_text(balance.cap)}{at_delta(balance.delta)}",
        f"{percent(balance.spent)} spent",
        f"{percent(balance.reserved)} reserved" if balance.reserved else "",
        f"{percent(balance.left, up=False)} left",
        f"at most {left_text(balance.run_cap)} per run" if balance.run_cap is not None else "",
    ]
    return ", ".join(filter(None, parts))


def left_text(amount: Decimal) -> str:
    """What is left of an epsilon, rounded down."""
    return format_epsilon(amount, up=False)


def ledger_text(entries: Sequence[LedgerEntry], names: Mapping[str, str] | None = None) -> str:
    """Ledger lines in the order given; with ``names``, each line says its data set."""
    rows = [
        [
            str(entry.sequence),
            f"{entry.time:%Y-%m-%d %H:%M:%S}",
            *([one_line(names.get(entry.dataset_id))] if names is not None else []),
            entry.kind,
            format_epsilon(entry.epsilon, places=_PLACES) if entry.epsilon else "",
            exact_amount(entry.delta) if entry.delta else "",
            exact_amount(entry.rho) if entry.rho else "",
            _limits(entry),
            one_line(entry.analyst),
            one_line(entry.actor),
            entry.run_id or "",
            entry.release_id or "",
            _note(entry),
        ]
        for entry in entries
    ]
    head = ["#", "time (UTC)", "entry", "epsilon", "delta", "rho", "limits", "analyst", "by", "run", "release"]
    if names is not None:
        head.insert(2, "data set")
    return text_table([*head, "note"], rows)


def accounts_text(accounts: Sequence[Account]) -> str:
    """One line per analyst: costs rounded up, what is left rounded down."""
    balances = [account.balance for account in accounts]
    columns = (
        (percent(balance.spent) for balance in balances),
        (percent(balance.reserved) for balance in balances),
        (percent(balance.left, up=False) for balance in balances),
    )
    rows = [
        [
            one_line(account.analyst),
            _limit(account.standing),
            *budget,
            str(account.runs),
            "-" if (why := account.standing.frozen) is None else f"frozen: {one_line(why)}",
        ]
        for account, *budget in zip(accounts, *columns, strict=True)
    ]
    return text_table(["analyst", "limit", "spent", "reserved", "left", "runs", "state"], rows)


def requests_text(requests: Sequence[BudgetRequest], names: Mapping[str, str]) -> str:
    """Requests in the order given; their numbers are what ``ledger answer`` takes."""
    rows = [
        [
            str(request.number),
            f"{request.time:%Y-%m-%d %H:%M}",
            one_line(names.get(request.dataset_id)),
            one_line(request.analyst),
            format_epsilon(request.epsilon, places=_PLACES),
            request.state,
            "-" if request.granted is None else _limit_text(request.granted),
            one_line(request.reason),
            one_line(request.answer),
        ]
        for request in requests
    ]
    head = ["#", "time (UTC)", "data set", "analyst", "asks for", "state", "limit", "reason", "answer"]
    return text_table(head, rows)


def _limit(standing: Standing) -> str:
    if standing.limit is None:
        return "no limit of their own"
    amount = _limit_text(standing.limit)
    return f"granted {amount}" if standing.granted else f"as all: {amount}"


def _limit_text(limit: Decimal) -> str:
    return format_epsilon(limit, up=False, places=_PLACES)


def _limits(entry: LedgerEntry) -> str:
    at = at_delta(entry.delta_cap or Decimal(0))
    caps = {"total": (entry.cap, at), "analyst": (entry.analyst_cap, ""), "run": (entry.run_cap, "")}
    return ", ".join(
        f"{name} {format_epsilon(cap, up=False, places=_PLACES)}{more}"
        for name, (cap, more) in caps.items()
        if cap is not None
    )


def _note(entry: LedgerEntry) -> str:
    answer = "" if entry.answers is None else f"(answers {entry.answers}) "
    return f"{answer}{one_line(entry.note)}"
