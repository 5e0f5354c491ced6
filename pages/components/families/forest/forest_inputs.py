"""What forest to fit: method, number of trees, how they share the budget, and the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.models.trees.released.tree_parameters import ForestParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import FormContext, cuts_from, evaluate, method, number, radio
from pages.components.families.tree.tree_inputs import adaptive, criterion, prune
from pages.components.kit import drawing
from pages.components.kit.markup import text

SHARING = {"parts": "Split the people", "split": "Split the budget"}
OWN = parameters_of(ForestParameters)


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a forest run, as the visitor set it."""
    place = drawing.placeholder()
    st.markdown(text("forest_or_tree"))
    left, right = st.columns(2, gap="large")
    with left:
        trees = number(OWN["trees"], 1, "forest-trees")
    with right:
        sharing = _sharing()
    with drawing.placeholder():
        cuts = cuts_from(context, OWN, "forest")
    with st.expander("Advanced settings"):
        chosen: dict[str, Any] = {"method": method(OWN, METHODS["forest"], "forest", place)}
        chosen |= {"trees": trees, "sharing": sharing, **cuts}
        chosen |= _advanced(chosen["method"])
    return chosen


def _sharing() -> str:
    sharing = radio(OWN["sharing"], SHARING, "forest-sharing", horizontal=True)
    st.markdown(text(f"sharing_{sharing}"))
    return sharing


def _advanced(method_name: str) -> dict[str, Any]:
    one, two, three = st.columns(3)
    settings: dict[str, Any] = {}
    with one:
        if method_name == "rfdiffp":
            settings["criterion"] = criterion(OWN, method_name, "forest")
            settings["attributes"] = number(OWN["attributes"], 1, "forest-attributes")
        else:
            settings["depth"] = number(OWN["depth"], 1, "forest-depth")
    with two:
        if method_name == "rfdiffp":
            settings |= adaptive(OWN, "forest")
    with three:
        settings["prune"] = prune(OWN, "forest")
        settings |= evaluate(OWN)
    return settings
