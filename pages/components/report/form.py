"""What people write into a dossier."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.workspace.results.dossier import LINE_LIMIT, TEXT_LIMIT, Application
from pages.components.kit.markup import text
from pages.components.report import draft


def application(dataset_id: str) -> Application:
    """Everything that was written for a data set."""
    st.subheader("What you ask for", anchor=False)
    written = {
        "title": _line(dataset_id, "title", "Title", "Dossier on this data set"),
        "applicant": _line(dataset_id, "applicant", "Who asks for access", "Name, department"),
        "request": _area(
            dataset_id,
            "request",
            "What you ask for, and for which use",
            "Access to which records or columns, for which study or task",
        ),
    }
    st.subheader("What you found", anchor=False)
    st.markdown(text("report_findings"))
    written["findings"] = _area(dataset_id, "findings", "Findings", "One to a line")
    written["hypotheses"] = _area(dataset_id, "hypotheses", "Hypotheses", "One to a line")
    with st.expander("For the privacy statement", icon=":material/privacy_tip:"):
        st.markdown(text("report_statement"))
        written["justification"] = _area(
            dataset_id,
            "justification",
            "Why these epsilons",
            "For example: the smallest at which the rehearsal could still be read",
        )
        written["settings"] = _area(
            dataset_id,
            "settings",
            "How the settings of the runs were chosen",
            "For example: left as they were, or chosen from rehearsals",
        )
        written["curator"] = _line(dataset_id, "curator", "Who holds the records", "Hospital, institute")
        written["region"] = _line(dataset_id, "region", "Region that the records are about", "Country, or part of one")
    return Application(**written)


def _line(dataset_id: str, name: str, label: str, hint: str) -> str:
    key, more = draft.key(dataset_id, name), _kept(dataset_id, name, hint)
    return str(st.text_input(label, key=key, max_chars=LINE_LIMIT, **more))


def _area(dataset_id: str, name: str, label: str, hint: str) -> str:
    key, more = draft.key(dataset_id, name), _kept(dataset_id, name, hint)
    return str(st.text_area(label, key=key, max_chars=TEXT_LIMIT, **more))


def _kept(dataset_id: str, name: str, hint: str) -> dict[str, Any]:
    return {"placeholder": hint, "on_change": draft.keep, "args": (dataset_id, name)}
