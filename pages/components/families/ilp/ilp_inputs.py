"""What relational rules to look for: class, method, language and, if wanted, the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpcore.domain.schemas.labels import called, cell_called
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.hypotheses import condition_texts
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import (
    KEEP,
    FormContext,
    as_recommended,
    choice,
    evaluate,
    explained,
    label,
    method,
    number,
    tick,
)
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text

CRITERIA = {
    "best": "What cannot beat the best so far",
    "share": "What covers too few",
}
SAID = {
    "counts": "How many there are: at least two, three",
    "order": "What comes first, last or later",
    "alike": "That two have the same value",
    "within": "Which rows of another table belong to one",
}
OWN = parameters_of(ILPParameters)


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it.

    Raises
    ------
    RequestError
        If no target or no condition is chosen.
    """
    schema, target = context.schema, _target(context.schema)
    if not schema.children:
        st.info(text("ilp_one_table"))
    chosen: dict[str, Any] = {"positive": _positive(schema, target)}
    how = drawing.placeholder()
    chosen |= _limits(schema)
    place = st.container()
    with st.expander("Advanced settings"):
        chosen["method"] = method(OWN, METHODS["ilp"], "ilp", how, texts="ilp")
        chosen |= _advanced(chosen["method"])
    with place:
        chosen["literals"] = _literals(schema, target, reserved=chosen["reserved_literals"])
    return chosen


def _target(schema: Schema) -> str:
    target = st.session_state.get(f"target-{schema.hash[:8]}")
    if target is None:
        raise RequestError("Choose what should be predicted.")
    return str(target)


def _positive(schema: Schema, target: str) -> str:
    classes = schema.column(target).classes
    return str(
        st.selectbox(
            f"Which value of {markup.plain(called(schema, target))} should the clauses describe?",
            classes,
            index=len(classes) - 1,
            format_func=lambda name: cell_called(schema.column(target), name),
            key=f"set-ilp-positive-{schema.hash[:8]}-{target}",
            help=explained(OWN["positive"]),
            **KEEP,
        )
    )


def _limits(schema: Schema) -> dict[str, Any]:
    one, two = st.columns(2)
    with one:
        settings = {"clauses": number(OWN["clauses"], 1, "ilp-clauses")}
    with two:
        settings["max_literals"] = number(OWN["max_literals"], 1, "ilp-literals")
    if schema.children:
        with one:
            settings["max_variables"] = number(OWN["max_variables"], 1, "ilp-variables")
        settings["negation"] = tick(OWN["negation"], "set-ilp-negation")
        settings |= _said_of_rows(schema)
    return settings


def _said_of_rows(schema: Schema) -> dict[str, Any]:
    """What a clause may say of rows beyond that one exists; nothing: the engine chooses."""
    parameter = OWN["quantifiers"]
    automatic = st.checkbox(
        "Say as much about rows as there is room for",
        True,
        key="set-ilp-automatic",
        help=explained(parameter),
        **KEEP,
    )
    with drawing.placeholder():
        if automatic:
            return {}
        said = {
            "order": any(child.keep != "random" for child in schema.children),
            "within": any(child.parent is not None for child in schema.children),
        }
        possible = [name for name in SAID if said.get(name, True)]
        chosen = st.multiselect(
            label(parameter),
            possible,
            format_func=SAID.__getitem__,
            placeholder="Only that there is such a row",
            key=f"set-ilp-said-{schema.hash[:8]}",
            help=explained(parameter),
            **KEEP,
        )
        settings: dict[str, Any] = {"quantifiers": ["exists", *(name for name in SAID if name in chosen)]}
        if "counts" in chosen:
            settings["most_counted"] = number(OWN["most_counted"], 1, "ilp-counted")
        return settings


def _literals(schema: Schema, target: str, *, reserved: bool) -> list[str] | None:
    """The conditions that a clause may use; ``None``: all of them."""
    texts = condition_texts(schema, target, reserved=reserved)
    key = f"{schema.hash[:8]}-{target}{'-reserved' if reserved else ''}"
    chosen = [name for table, own in texts.items() if own for name in _of_table(table, own, f"{table}-{key}")]
    if not chosen:
        raise RequestError("No condition is left. Choose at least one under 'Conditions'.")
    return None if len(chosen) == sum(map(len, texts.values())) else chosen


def _of_table(table: str, texts: Mapping[str, str], key: str) -> list[str]:
    widget = f"set-ilp-conditions-{key}"
    count = len(st.session_state.get(widget, texts))
    title = f"Conditions on {markup.plain(table)}"
    told = f"all {count}" if count == len(texts) else f"{count} of {len(texts)}"
    with st.expander(f"{title}: {told}", key=f"open-{widget}"):
        st.markdown(text("ilp_conditions"))
        chosen = st.multiselect(
            title,
            list(texts),
            list(texts),
            format_func=texts.__getitem__,
            placeholder="Choose conditions",
            wrap=True,
            label_visibility="collapsed",
            key=widget,
            **KEEP,
        )
    return [name for name in texts if name in chosen]


def _advanced(method_name: str) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = {
            "positive_weight": number(OWN["positive_weight"], 1, "ilp-weight"),
            "negative_weight": number(OWN["negative_weight"], 1, "ilp-negative"),
            "count_share": number(OWN["count_share"], 0.05, "ilp-count-share"),
        }
    with two:
        with drawing.placeholder():
            if settings["positive_weight"] > settings["negative_weight"]:  # Else no clause is stricter.
                settings["strict_first"] = as_recommended(OWN["strict_first"], "set-ilp-strict")
        settings |= _of_method(method_name)
    with three:
        settings["reserved_literals"] = tick(OWN["reserved_literals"], "set-ilp-reserved")
        settings |= evaluate(OWN)
    return settings


def _of_method(name: str) -> dict[str, Any]:
    if name == "noisy_max":
        return {
            "weigh_alike": as_recommended(OWN["weigh_alike"], "set-ilp-alike"),
            "length_prior": tick(OWN["length_prior"], "set-ilp-prior"),
        }
    if name == "naive":
        return {}
    settings: dict[str, Any] = {"criterion": choice(OWN["criterion"], CRITERIA, "ilp-criterion")}
    if settings["criterion"] == "share":
        settings["min_share"] = number(OWN["min_share"], 0.01, "ilp-min-share")
    return settings
