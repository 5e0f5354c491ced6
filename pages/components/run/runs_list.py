"""Runs that gave no result, so that nothing that was spent stays unexplained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import streamlit as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.ledger.requests import RunStatus
from pages.components.families import registry
from pages.components.kit import markup
from pages.components.visitor import access, login

_ENDED = ("failed", "cancelled", "interrupted")


def render(dataset_id: str) -> None:
    """A table of failed, cancelled and interrupted runs with what became of their cost.

    Custodians see those of all analysts, with their names.
    """
    ended = [run for run in access.service().runs(dataset_id) if run.state in _ENDED]
    if not ended:
        return
    with st.expander(f"Runs without a result ({len(ended)})"):
        people = login.login_needed() and login.may("custodian")
        header = ["Started", *(["Analyst"] if people else []), "Run", "Cost", "What happened"]
        markup.table("Newest first", header, _rows(ended, people))


def _rows(runs: Sequence[RunStatus], people: bool) -> Iterator[str]:
    for run, epsilon in zip(runs, [plain_epsilon(run.request.epsilon) for run in runs], strict=True):
        cost = f"ε {epsilon} {'spent' if run.charged else 'returned'}"
        started = f"{markup.local_time(run.created):%Y-%m-%d %H:%M}"
        run_name = registry.run_heading(run.request)
        words = f"{run.state}: {run.message}"
        analyst = [escape(run.analyst)] if people else []
        yield markup.row([started, *analyst, escape(run_name), cost, escape(words)])
