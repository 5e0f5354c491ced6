"""What machine to fit: method, pairs, delta and, for those who want them, the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.families.shared.inputs import KEEP, evaluate, method, number
from pages.components.kit.texts import METHODS, text


def parameters() -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it."""
    left, right = st.columns(2, gap="large")
    with left:
        chosen: dict[str, Any] = {
            "method": method("How the shapes are learned", METHODS["ebm"], "ebm")
        }
    published = chosen["method"] == "random_splits"
    with right:
        if not published:
            chosen["pairs"] = number(
                "Pairs of columns", 0, 0, 10, 1, "ebm-pairs", help=text("ebm_pairs")
            )
        chosen["delta"] = _delta()
    with st.expander("Advanced settings"):
        chosen |= _advanced(published=published)
    return chosen


def _delta() -> str | None:
    """Delta as typed; the engine judges it."""
    entry = st.text_input(
        "δ (allowance beyond ε)", key="set-ebm-delta", placeholder="automatic",
        help=text("delta"), max_chars=30, **KEEP,
    )  # fmt: skip
    return entry.strip() or None


def _advanced(*, published: bool) -> dict[str, Any]:
    one, two, three = st.columns(3)
    settings: dict[str, Any] = {}
    with one:
        settings["max_bins"] = _automatic("Most groups of a number", 2, 128, 1, "ebm-bins")
        settings["bin_share"] = _automatic(
            "Share of ε for counting records", 0.01, 0.9, 0.05, "ebm-bin-share",
            help=text("ebm_bin_share"),
        )  # fmt: skip
    with two:
        settings["epochs"] = _automatic("Rounds over all columns", 1, 1000, 10, "ebm-epochs")
        settings["learning_rate"] = _automatic(
            "Learning rate", 0.0001, 1.0, 0.01, "ebm-rate", format="%.4f"
        )
    with three:
        if published:
            settings["leaves"] = number("Groups per round", 3, 2, 16, 1, "ebm-leaves")
        settings["replicates"] = number(
            "Fits that are averaged", 5, 3, 10, 1, "ebm-replicates", help=text("replicates")
        )
        settings |= evaluate()
    return settings


def _automatic(label: str, low: Any, high: Any, step: Any, key: str, **more: Any) -> Any:
    """A number, or nothing: then the engine chooses."""
    return number(label, None, low, high, step, key, placeholder="automatic", **more)
