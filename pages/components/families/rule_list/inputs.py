"""What list to fit: conditions, sampler and, for those who want them, all parameters."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.families.shared.inputs import KEEP, evaluate, number
from pages.components.kit.texts import STEPS, text

ANTECEDENTS = {
    "public": "All conditions in the schema",
    "dp_fim": "Frequent conditions, found privately",
    "given": "My own conditions",
}
SAMPLERS = {"pool": "Candidate pool (recommended)", "mcmc": "Random walk (MCMC, as published)"}
LITERALS = {"thresholds": "up to / above a cut point", "intervals": "between two cut points"}


def parameters() -> dict[str, Any]:
    """Every parameter of a rule list run, as the visitor set it."""
    left, right = st.columns(2, gap="large")
    with left:
        chosen = _antecedents()
    with right:
        chosen |= _sampler()
    with st.expander("Advanced settings"):
        chosen |= _advanced(chosen)
    return chosen


def _antecedents() -> dict[str, Any]:
    source = st.radio(
        "Conditions to choose from",
        list(ANTECEDENTS),
        format_func=ANTECEDENTS.__getitem__,
        key="antecedents",
        **KEEP,
    )
    st.markdown(text(f"antecedents_{source}"))
    if source != "given":
        return {"antecedents": source}
    lines = st.text_area(
        "Your conditions, one per line",
        key="given",
        placeholder="age > 60 and hypertension = yes",
        help="Write 'column = value', 'column <= cut point' or 'column > cut point'; join with "
        "'and'. Columns, categories and cut points are on the page Data sets, under 'Columns'.",
        **KEEP,
    )
    return {"antecedents": source, "given": [li.strip() for li in lines.splitlines() if li.strip()]}


def _sampler() -> dict[str, Any]:
    sampler = st.radio(
        "How the list is chosen",
        list(SAMPLERS),
        format_func=SAMPLERS.__getitem__,
        key="sampler",
        **KEEP,
    )
    if sampler == "mcmc":
        st.warning(text("sampler_mcmc"), icon="⚠️")
    else:
        st.markdown(text("sampler_pool"))
    return {"sampler": sampler}


def _advanced(chosen: dict[str, Any]) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = _shape()
    with two:
        settings |= _candidates(chosen["antecedents"])
    with three:
        settings |= _effort(chosen["sampler"])
        settings |= evaluate()
    settings["shares"] = _shares(chosen["antecedents"])
    return settings


def _shape() -> dict[str, Any]:
    return {
        "list_length": number("Expected number of rules", 5.0, 0.5, 100.0, 0.5, "list_length"),
        "rule_length": number("Expected conditions per rule", 1.0, 0.1, 10.0, 0.1, "rule_length"),
        "max_rules": number("Most rules in a list", 30, 1, 100, 1, "max_rules"),
    }


def _candidates(source: str) -> dict[str, Any]:
    if source == "given":
        return {}
    settings: dict[str, Any] = {
        "max_antecedent_length": number("Most conditions per rule", 2, 1, 4, 1, "max_length"),
        "max_antecedents": number("Most candidates", 300, 1, 5000, 50, "max_antecedents"),
        "numeric_literals": st.selectbox(
            "Numbers are compared", list(LITERALS), format_func=LITERALS.__getitem__,
            key="numeric_literals", **KEEP,
        ),
        "reserved_literals": st.checkbox(
            "Also use 'missing', 'other'", key="reserved_literals", **KEEP
        ),
    }  # fmt: skip
    if source == "dp_fim":
        settings["min_support"] = number(
            "Least count of records, as a share of the row limit",
            0.05,
            0.0,
            1.0,
            0.01,
            "min_support",
        )
    return settings


def _effort(sampler: str) -> dict[str, Any]:
    if sampler == "pool":
        return {"pool_size": number("Lists in the pool", 100_000, 1, 5_000_000, 50_000, "pool")}
    return {
        "mcmc_steps": number("Steps of the walk", 5_000, 1, 1_000_000, 1_000, "mcmc_steps"),
        "tempered_prior": st.checkbox("Temper the prior too (as published)", key="temper", **KEEP),
    }


def _shares(source: str) -> dict[str, str] | None:
    """Shares as typed; equal ones leave the division to the engine's own rule."""
    st.markdown(
        "**How ε is divided.** Relative shares. While they are equal, the counts get more "
        "where ε is tiny."
    )
    steps = ["list", "estimates"]
    if source == "dp_fim":
        steps.append("antecedents")  # Last, so that the others keep their columns.
    places = st.columns(3)
    shares = {}
    for place, step in zip(places, steps, strict=False):
        with place:
            shares[step] = (
                f"{number(STEPS[step].capitalize(), 1.0, 0.1, 1000.0, 0.5, f'share-{step}'):g}"
            )
    return shares if len(set(shares.values())) > 1 else None
