"""What relational rules to look for: class, method, language and, if wanted, the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpcore.domain.schema import Schema
from dpcore.errors import RequestError
from pages.components.families.shared.inputs import KEEP, choice, evaluate, method, number, tick
from pages.components.kit import markup
from pages.components.kit.texts import METHODS, text
from pages.components.visitor import access

CRITERIA = {
    "best": "What cannot beat the best so far",
    "share": "What covers too few",
}


def parameters() -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it.

    Raises
    ------
    RequestError
        If no target or no condition is chosen.
    """
    dataset = access.chosen_dataset()
    assert dataset is not None
    schema, target = dataset.schema, _target(dataset.schema)
    if not schema.children:
        st.info(text("ilp_one_table"))
    chosen: dict[str, Any] = {"positive": _positive(schema, target)}
    left, right = st.columns(2, gap="large")
    with left:
        chosen["method"] = method(
            "How clauses are chosen", METHODS["ilp"], "ilp", texts="ilp"
        )  # fmt: skip
    with right:
        chosen |= _limits(schema)
    place = st.container()
    with st.expander("Advanced settings"):
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
            f"Which value of {markup.plain(target)} should the clauses describe?", classes,
            index=len(classes) - 1, key=f"set-ilp-positive-{schema.hash[:8]}-{target}",
            help=text("ilp_positive"), **KEEP,
        )
    )  # fmt: skip


def _limits(schema: Schema) -> dict[str, Any]:
    one, two = st.columns(2)
    with one:
        settings = {
            "clauses": number(
                "Number of clauses", 2, 1, 10, 1, "ilp-clauses", help=text("ilp_clauses")
            ),
        }
    with two:
        settings["max_literals"] = number("Most conditions in a clause", 3, 1, 8, 1, "ilp-literals")
    if schema.children:
        with one:
            settings["max_variables"] = number(
                "Most rows in a clause", 2, 0, 3, 1, "ilp-variables",
                help=text("ilp_variables"),
            )  # fmt: skip
        settings["negation"] = tick(
            "May say that a row does not exist", "ilp-negation", value=False,
            help=text("ilp_negation"),
        )  # fmt: skip
    return settings


def _literals(schema: Schema, target: str, *, reserved: bool) -> list[str] | None:
    """The conditions that a clause may use; ``None``: all of them."""
    from dpcore.models.ilp.language.hypotheses import condition_texts

    texts = condition_texts(schema, target, reserved=reserved)
    key = f"{schema.hash[:8]}-{target}{'-reserved' if reserved else ''}"
    chosen = [
        name
        for table, own in texts.items()
        if own
        for name in _of_table(table, own, f"{table}-{key}")
    ]
    if not chosen:
        raise RequestError("No condition is left. Choose at least one under 'Conditions'.")
    return None if len(chosen) == sum(map(len, texts.values())) else chosen


def _of_table(table: str, texts: Mapping[str, str], key: str) -> list[str]:
    widget = f"set-ilp-conditions-{key}"
    count = len(st.session_state.get(widget, texts))
    title = f"Conditions on {markup.plain(table)}"
    with st.expander(f"{title}: {count} of {len(texts)}", key=f"open-{widget}"):
        st.markdown(text("ilp_conditions"))
        chosen = st.multiselect(
            title, list(texts), list(texts), format_func=texts.__getitem__,
            placeholder="Choose conditions", wrap=True, label_visibility="collapsed", key=widget,
            **KEEP,
        )  # fmt: skip
    return [name for name in texts if name in chosen]


def _advanced(method_name: str) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = {
            "positive_weight": number(
                "Weight of those described", 1, 1, 100, 1, "ilp-weight", help=text("ilp_weight")
            ),
            "negative_weight": number(
                "Weight of all others", 1, 1, 100, 1, "ilp-negative", help=text("ilp_negative")
            ),
            "count_share": _exact(
                number(
                    "Share of ε for the noisy counts", 0.2, 0.01, 0.99, 0.05, "ilp-count-share",
                    help=text("ilp_count_share"),
                )
            ),
        }  # fmt: skip
    with two:
        settings |= _of_method(method_name)
    with three:
        settings["reserved_literals"] = tick(
            "Ask for 'missing', 'other'", "ilp-reserved", value=False
        )
        settings |= evaluate()
    return settings


def _of_method(name: str) -> dict[str, Any]:
    if name == "noisy_max":
        return {
            "length_prior": tick(
                "Same chance for each length", "ilp-prior", value=True, help=text("ilp_prior")
            )
        }
    if name == "naive":
        return {}
    settings = {
        "criterion": choice("Leave out", CRITERIA, "ilp-criterion", help=text("ilp_criterion"))
    }
    if settings["criterion"] == "share":
        settings["min_share"] = number(
            "Least share that is enough", 0.05, 0.0, 1.0, 0.01, "ilp-min-share"
        )
    return settings


def _exact(share: float) -> str:
    """A share as it was typed: steps of a float are not exact."""
    return f"{share:.6g}"
