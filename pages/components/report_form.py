"""What people write into a dossier: kept while they visit other pages."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.report.application import LINE_LIMIT, TEXT_LIMIT, Application
from pages.components.texts import text

_MEMORY = "report-written"


def application(dataset_id: str) -> Application:
    """Everything that was written for a data set."""
    st.subheader("What you ask for", anchor=False)
    written = {
        "title": _line(dataset_id, "title", "Title", "Dossier on this data set"),
        "applicant": _line(dataset_id, "applicant", "Who asks for access", "Name, department"),
        "request": _area(
            dataset_id, "request", "What you ask for, and for which use",
            "Access to which records or columns, for which study or task",
        ),
    }  # fmt: skip
    st.subheader("What you found", anchor=False)
    st.markdown(text("report_findings"))
    written["findings"] = _area(dataset_id, "findings", "Findings", "One to a line")
    written["hypotheses"] = _area(dataset_id, "hypotheses", "Hypotheses", "One to a line")
    with st.expander("For the privacy statement", icon=":material/privacy_tip:"):
        st.markdown(text("report_statement"))
        written["justification"] = _area(
            dataset_id, "justification", "Why these epsilons",
            "For example: the smallest at which the rehearsal could still be read",
        )  # fmt: skip
        written["settings"] = _area(
            dataset_id, "settings", "How the settings of the runs were chosen",
            "For example: left as they were, or chosen from rehearsals",
        )  # fmt: skip
    return Application(**written)


def remember(dataset_id: str, name: str, default: Any) -> str:
    """Key of a widget that keeps its value while other pages are visited."""
    key = f"report-{dataset_id}-{name}"
    if key not in st.session_state:
        st.session_state[key] = _memory().get(key, default)
    return key


def keep(key: str) -> Any:
    """Remember the present value of such a widget."""
    _memory()[key] = st.session_state[key]
    return st.session_state[key]


def _memory() -> dict[str, Any]:
    found: dict[str, Any] = st.session_state.setdefault(_MEMORY, {})
    return found


def _line(dataset_id: str, name: str, label: str, hint: str) -> str:
    key = remember(dataset_id, name, "")
    st.text_input(label, key=key, max_chars=LINE_LIMIT, placeholder=hint)
    return str(keep(key))


def _area(dataset_id: str, name: str, label: str, hint: str) -> str:
    key = remember(dataset_id, name, "")
    st.text_area(label, key=key, max_chars=TEXT_LIMIT, placeholder=hint)
    return str(keep(key))
