"""What list to fit: conditions, sampler and, for those who want them, all parameters."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.schemas.schema import Schema
from dpcore.models.rules.released.rule_list_parameters import BudgetShares, RuleListParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import RULE_LIST_SAMPLERS
from pages.components.families.shared.inputs import (
    KEEP,
    FormContext,
    choice,
    cuts_from,
    evaluate,
    explained,
    label,
    number,
    numbers,
    radio,
    tick,
)
from pages.components.kit import drawing
from pages.components.kit.markup import text

ANTECEDENTS = {
    "public": "All conditions in the schema",
    "dp_fim": "Frequent conditions, found privately",
    "given": "My own conditions",
}
ALPHAS = {"house": "Chosen from the noise", "same": "Those of the groups, as published"}
LITERALS = {"thresholds": "up to / above a cut point", "intervals": "between two cut points"}
OWN, SHARES = parameters_of(RuleListParameters), parameters_of(BudgetShares)


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a rule list run, as the visitor set it."""
    how = drawing.placeholder()
    with drawing.placeholder():
        chosen = _antecedents()
    many = drawing.placeholder()
    with drawing.placeholder():
        if chosen["antecedents"] != "given":
            chosen |= cuts_from(context, OWN, "rule_list")
    with st.expander("Advanced settings"):
        chosen |= _sampler(how)
        if chosen["sampler"] == "lookahead":
            with many:
                chosen["rules"] = number(OWN["rules"], 1, "rules")
        chosen |= _advanced(context.schema, chosen)
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
    sampler = radio(OWN["sampler"], RULE_LIST_SAMPLERS, "sampler")
    if sampler == "mcmc":
        how.warning(text("sampler_mcmc"), icon="⚠️")
    else:
        how.markdown(text(f"sampler_{sampler}"))
    return {"sampler": sampler}


def _advanced(schema: Schema, chosen: dict[str, Any]) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = _candidates(chosen["antecedents"])
    with two:
        weights = drawing.placeholder()
        settings |= evaluate(OWN)
    with three:
        settings |= _whole_lists(chosen["sampler"])
    settings["shares"] = _shares(chosen["antecedents"])
    with weights:  # Last: what cannot be read must not take other inputs off the page.
        settings["alpha"] = numbers(OWN["alpha"], "alpha", _one_each(schema))
    return settings


def _one_each(schema: Schema) -> str:
    """What stands in the empty field: one number for each class, in their order."""
    target = st.session_state.get(f"target-{schema.hash[:8]}")
    return "1 each" if target is None else f"1 each, for {', '.join(schema.column(target).classes)}"


def _whole_lists(sampler: str) -> dict[str, Any]:
    """Prior and effort of the samplers that compare whole lists."""
    if sampler == "lookahead":
        return {}
    settings: dict[str, Any] = {
        "list_length": number(OWN["list_length"], 0.5, "list_length"),
        "rule_length": number(OWN["rule_length"], 0.1, "rule_length"),
        "max_rules": number(OWN["max_rules"], 1, "max_rules"),
    }
    if sampler == "pool":
        settings["pool_size"] = number(OWN["pool_size"], 50_000, "pool")
    else:
        settings["mcmc_steps"] = number(OWN["mcmc_steps"], 1_000, "mcmc_steps")
        settings["tempered_prior"] = tick(OWN["tempered_prior"], "temper")
    if not settings.get("tempered_prior"):
        settings["selection_alpha"] = choice(OWN["selection_alpha"], ALPHAS, "selection_alpha")
    return settings


def _candidates(source: str) -> dict[str, Any]:
    if source == "given":
        return {}
    settings: dict[str, Any] = {
        "max_antecedent_length": number(OWN["max_antecedent_length"], 1, "max_length"),
        "max_antecedents": number(OWN["max_antecedents"], 50, "max_antecedents"),
        "reserved_literals": tick(OWN["reserved_literals"], "reserved_literals"),
    }
    if source == "public":
        settings["numeric_literals"] = choice(OWN["numeric_literals"], LITERALS, "numeric_literals")
    else:
        settings["min_support"] = number(OWN["min_support"], 0.01, "min_support")
    return settings


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
