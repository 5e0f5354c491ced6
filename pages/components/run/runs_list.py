"""Runs that gave no result, so that nothing that was spent stays unexplained."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.requests import RunStatus
from pages.components.families import run_names
from pages.components.kit import markup
from pages.components.visitor import access, login

_ENDED = ("failed", "cancelled", "interrupted")


def show(dataset_id: str) -> None:
    """A table of failed, cancelled and interrupted runs with what became of their cost.

    Custodians see those of all analysts, with their names.
    """
    ended = [run for run in access.service().runs(dataset_id) if run.state in _ENDED]
    if not ended:
        return
    with st.expander(f"Runs without a result ({len(ended)})"):
        people = login.login_needed() and login.may("custodian")
        header = ["Started", *(["Analyst"] if people else []), "Run", "Cost", "What happened"]
        markup.table("Newest first", header, (_row(run, people) for run in ended))


def _row(run: RunStatus, people: bool) -> str:
    cost = f"ε {format_epsilon(run.request.epsilon)} {'spent' if run.charged else 'returned'}"
    started = f"{run.created:%Y-%m-%d %H:%M} UTC"
    run_name = run_names.heading(run.request)
    words = f"{run.state}: {run.message}"
    analyst = [escape(run.analyst)] if people else []
    return markup.row([started, *analyst, escape(run_name), cost, escape(words)])
