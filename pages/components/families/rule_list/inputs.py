"""What list to fit: conditions, sampler and, for those who want them, all parameters."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.models.rules.released.parameters import BudgetShares, RuleListParameters
from dpcore.released.parameters import parameters_of
from pages.components.families.shared.cuts import cuts_from
from pages.components.families.shared.given import Given
from pages.components.families.shared.inputs import (
    KEEP,
    choice,
    evaluate,
    explained,
    label,
    number,
    radio,
    tick,
)
from pages.components.kit import slot
from pages.components.kit.texts import text

ANTECEDENTS = {
    "public": "All conditions in the schema",
    "dp_fim": "Frequent conditions, found privately",
    "given": "My own conditions",
}
SAMPLERS = {
    "lookahead": "Two rules at a time (recommended)",
    "pool": "Candidate pool",
    "mcmc": "Random walk (MCMC, as published)",
}
LITERALS = {"thresholds": "up to / above a cut point", "intervals": "between two cut points"}
OWN, SHARES = parameters_of(RuleListParameters), parameters_of(BudgetShares)


def parameters(given: Given) -> dict[str, Any]:
    """Every parameter of a rule list run, as the visitor set it."""
    how = slot.kept()
    with slot.kept():
        chosen = _antecedents()
    with slot.kept():
        if chosen["antecedents"] != "given":
            chosen |= cuts_from(given, OWN, "rule_list")
    with st.expander("Advanced settings"):
        chosen |= _sampler(how)
        chosen |= _advanced(chosen)
    return chosen


def _antecedents() -> dict[str, Any]:
    source = radio(OWN["antecedents"], ANTECEDENTS, "antecedents")
    st.markdown(text(f"antecedents_{source}"))
    if source != "given":
        return {"antecedents": source}
    lines = st.text_area(
        f"{label(OWN['given'])}, one per line",
        key="given",
        placeholder="age > 60 and hypertension = yes",
        help=f"{explained(OWN['given'])} Columns, categories and cut points are on the page Data "
        "sets, under 'Columns'.",
        **KEEP,
    )
    return {"antecedents": source, "given": [li.strip() for li in lines.splitlines() if li.strip()]}


def _sampler(how: Any) -> dict[str, Any]:
    """How the list is chosen; what that means stands where it is always in sight."""
    sampler = radio(OWN["sampler"], SAMPLERS, "sampler")
    if sampler == "mcmc":
        how.warning(text("sampler_mcmc"), icon="⚠️")
    else:
        how.markdown(text(f"sampler_{sampler}"))
    return {"sampler": sampler}


def _advanced(chosen: dict[str, Any]) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = _shape()
    with two:
        settings |= _candidates(chosen["antecedents"])
    with three:
        settings |= _effort(chosen["sampler"])
        settings |= evaluate(OWN)
    settings["shares"] = _shares(chosen["antecedents"])
    return settings


def _shape() -> dict[str, Any]:
    return {
        "list_length": number(OWN["list_length"], 0.5, "list_length"),
        "rule_length": number(OWN["rule_length"], 0.1, "rule_length"),
        "max_rules": number(OWN["max_rules"], 1, "max_rules"),
    }


def _candidates(source: str) -> dict[str, Any]:
    if source == "given":
        return {}
    settings: dict[str, Any] = {
        "max_antecedent_length": number(OWN["max_antecedent_length"], 1, "max_length"),
        "max_antecedents": number(OWN["max_antecedents"], 50, "max_antecedents"),
        "numeric_literals": choice(OWN["numeric_literals"], LITERALS, "numeric_literals"),
        "reserved_literals": tick(OWN["reserved_literals"], "reserved_literals"),
    }
    if source == "dp_fim":
        settings["min_support"] = number(OWN["min_support"], 0.01, "min_support")
    return settings


def _effort(sampler: str) -> dict[str, Any]:
    if sampler == "lookahead":
        return {"blocks": number(OWN["blocks"], 1, "blocks")}
    if sampler == "pool":
        return {"pool_size": number(OWN["pool_size"], 50_000, "pool")}
    return {
        "mcmc_steps": number(OWN["mcmc_steps"], 1_000, "mcmc_steps"),
        "tempered_prior": tick(OWN["tempered_prior"], "temper"),
    }


def _shares(source: str) -> dict[str, str] | None:
    """Shares as typed; equal ones leave the division to the engine's own rule."""
    st.markdown(f"**{label(OWN['shares'])}.** {explained(OWN['shares'])}")
    steps = ["list", "estimates"]
    if source == "dp_fim":
        steps.append("antecedents")  # Last, so that the others keep their columns.
    places = st.columns(3)
    shares = {}
    for place, step in zip(places, steps, strict=False):
        with place:
            shares[step] = number(SHARES[step], 0.5, f"share-{step}")
    return shares if len(set(shares.values())) > 1 else None
