"""What forest to fit: method, number of trees, how they share the budget, and the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.families.shared.inputs import KEEP, evaluate, method, number
from pages.components.families.tree.inputs import adaptive, criterion, prune
from pages.components.kit.texts import METHODS, text

SHARING = {"parts": "Split the people", "split": "Split the budget"}


def parameters() -> dict[str, Any]:
    """Every parameter of a forest run, as the visitor set it."""
    left, right = st.columns(2, gap="large")
    with left:
        chosen: dict[str, Any] = {
            "method": method("How the trees are grown", METHODS["forest"], "forest")
        }
    with right:
        chosen["trees"] = number("Number of trees", 10, 1, 100, 1, "forest-trees")
        chosen["sharing"] = _sharing()
    with st.expander("Advanced settings"):
        chosen |= _advanced(chosen["method"])
    return chosen


def _sharing() -> str:
    sharing = st.radio(
        "How the trees share",
        list(SHARING),
        format_func=SHARING.__getitem__,
        key="forest-sharing",
        horizontal=True,
        **KEEP,
    )
    st.markdown(text(f"sharing_{sharing}"))
    return str(sharing)


def _advanced(method_name: str) -> dict[str, Any]:
    one, two, three = st.columns(3)
    settings: dict[str, Any] = {}
    with one:
        if method_name == "rfdiffp":
            settings["criterion"] = criterion(method_name, "forest", "gini")
            settings["attributes"] = number(
                "Most columns drawn per question", None, 1, 10_000, 1, "forest-attributes",
                placeholder="automatic",
            )  # fmt: skip
        else:
            settings["depth"] = number("Questions in a row", 5, 1, 8, 1, "forest-depth")
    with two:
        if method_name == "rfdiffp":
            settings |= adaptive("forest")
    with three:
        settings["prune"] = prune("forest")
        settings |= evaluate()
    return settings
