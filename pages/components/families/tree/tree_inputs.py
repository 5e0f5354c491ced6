"""What tree to fit: method, measure of a good question and, for those who want them, the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.models.trees.released.tree_parameters import EXACT_CRITERIA, TreeParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import (
    FormContext,
    Own,
    choice,
    cuts_from,
    evaluate,
    method,
    number,
    pick,
    tick,
)
from pages.components.kit import drawing

CRITERIA = {
    "balanced": "Separate the chances",
    "gini": "Separate the chances, by purity",
    "error": "Predict the label",
    "information_gain": "Separate the chances, by information",
    "matsushita": "Separate the chances, by Matsushita's measure",
}
#: Criteria of the other methods.
_OTHERS = tuple(name for name in CRITERIA if name != "balanced")
BLOCKS: dict[str, tuple[int, ...] | None] = {
    "Automatic": None,
    "1 (up to 2 groups)": (1,),
    "2 (up to 4 groups)": (2,),
    "3 (up to 8 groups)": (3,),
    "2, then 2 (up to 16 groups)": (2, 2),
    "3, then 2 (up to 32 groups)": (3, 2),
    "3, then 3 (up to 64 groups)": (3, 3),
}
PRUNE = {"As recommended": None, "Yes": True, "No": False}


OWN = parameters_of(TreeParameters)


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a tree run, as the visitor set it."""
    place, asked, cuts = drawing.placeholder(), drawing.placeholder(), drawing.placeholder()
    with st.expander("Advanced settings"):
        chosen: dict[str, Any] = {"method": method(OWN, METHODS["tree"], "tree", place)}
        one, two = st.columns(2)
        with one:
            chosen |= _shape(chosen["method"])
        with two:
            chosen["prune"] = prune(OWN, "tree")
            chosen |= evaluate(OWN)
    with asked:
        chosen["criterion"] = criterion(OWN, chosen["method"], "tree")
    with cuts:
        chosen |= cuts_from(context, OWN, "tree")
    return chosen


def criterion(own: Own, method_name: str, family: str) -> str:
    """What the tree is for; only what the method knows."""
    allowed = EXACT_CRITERIA if method_name == "lookahead" else _OTHERS
    options = {name: CRITERIA[name] for name in allowed}
    return choice(own["criterion"], options, f"{family}-criterion-{method_name}")


def prune(own: Own, family: str) -> bool | None:
    """Whether to fold what may be noise."""
    return pick(own["prune"], PRUNE, f"{family}-prune")


def _shape(method_name: str) -> dict[str, Any]:
    if method_name == "lookahead":
        return {
            "blocks": pick(OWN["blocks"], BLOCKS, "tree-blocks"),
            "leaf_share": number(OWN["leaf_share"], 0.05, "tree-leaf-share"),
            "reserved_splits": tick(OWN["reserved_splits"], "set-tree-reserved"),
        }
    if method_name == "adiffp":
        return adaptive(OWN, "tree")
    return {"depth": number(OWN["depth"], 1, "tree-depth")}


def adaptive(own: Own, family: str) -> dict[str, Any]:
    """Settings of the adaptive learner."""
    return {
        "threshold": number(own["threshold"], 0.01, f"{family}-threshold"),
        "spend_rest": tick(own["spend_rest"], f"set-{family}-rest"),
    }
