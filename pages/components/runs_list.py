"""Runs that gave no result, so that nothing that was spent stays unexplained."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpcore.privacy import format_epsilon
from dpcore.requests import RunStatus
from pages.components import access, families, markup

_WORDS = {
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}


def show(dataset_id: str) -> None:
    """A table of failed, cancelled and interrupted runs with what became of their cost."""
    ended = [run for run in access.service().runs(dataset_id) if run.state in _WORDS]
    if not ended:
        return
    with st.expander(f"Runs without a result ({len(ended)})"):
        header = ["Started", "Run", "Cost", "What happened"]
        markup.table("Newest first", header, (_row(run) for run in ended))


def _row(run: RunStatus) -> str:
    cost = f"ε {format_epsilon(run.request.epsilon)} {'spent' if run.charged else 'returned'}"
    started = f"{run.created:%Y-%m-%d %H:%M} UTC"
    run_name = families.of_request(run.request).heading(run.request.target)
    words = f"{_WORDS[run.state]}: {run.message}"
    return markup.row([started, escape(run_name), cost, escape(words)])
