"""What tree to fit: method, measure of a good question and, for those who want them, the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.families.shared.inputs import choice, evaluate, method, number, pick, tick
from pages.components.kit.texts import METHODS, text

CRITERIA = {
    "error": "Fewest mistakes",
    "gini": "Purest groups (Gini)",
    "information_gain": "Most information",
    "matsushita": "Purest groups (Matsushita)",
}
#: Criteria of each method; the first is what it is offered with.
ALLOWED = {"lookahead": ("error", "gini")}
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


def parameters() -> dict[str, Any]:
    """Every parameter of a tree run, as the visitor set it."""
    chosen: dict[str, Any] = {
        "method": method("How the tree is grown", METHODS["tree"], "tree"),
    }
    with st.expander("Advanced settings"):
        one, two, three = st.columns(3)
        with one:
            chosen["criterion"] = criterion(chosen["method"], "tree")
        with two:
            chosen |= _shape(chosen["method"])
        with three:
            chosen["prune"] = prune("tree")
            chosen |= evaluate()
    return chosen


def criterion(method_name: str, family: str, first: str = "error") -> str:
    """What a good question is; only what the method knows."""
    allowed = ALLOWED.get(method_name, tuple(CRITERIA))
    options = {name: CRITERIA[name] for name in allowed}
    return str(
        choice(
            "A good question gives", options, f"{family}-criterion-{method_name}",
            index=allowed.index(first),
        )
    )  # fmt: skip


def prune(family: str) -> bool | None:
    """Whether to fold what may be noise."""
    return pick("Fold what may be noise", PRUNE, f"{family}-prune", help=text("folded"))


def _shape(method_name: str) -> dict[str, Any]:
    if method_name == "lookahead":
        return _lookahead()
    if method_name == "adiffp":
        return adaptive("tree")
    return {"depth": number("Questions in a row", 5, 1, 8, 1, "tree-depth")}


def _lookahead() -> dict[str, Any]:
    return {
        "blocks": pick("Questions drawn at once", BLOCKS, "tree-blocks", help=text("blocks")),
        "leaf_share": number(
            "Share of ε for the noisy counts", None, 0.01, 0.99, 0.05, "tree-leaf-share",
            placeholder="automatic",
        ),
        "reserved_splits": tick(
            "Ask for 'missing', 'other'", "tree-reserved", value=False
        ),
    }  # fmt: skip


def adaptive(family: str) -> dict[str, Any]:
    """Settings of the adaptive learner."""
    return {
        "threshold": number(
            "Threshold t", 0.01, 0.0, 1000.0, 0.01, f"{family}-threshold", help=text("threshold")
        ),
        "spend_rest": tick(
            "Spend the rest at the end", f"{family}-rest", value=True,
            help=text("spend_rest"),
        ),
    }  # fmt: skip
