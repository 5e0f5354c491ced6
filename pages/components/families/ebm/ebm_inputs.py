"""What machine to fit: method, pairs and, for those who want them, the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import KEEP, FormContext, evaluate, label, method, number
from pages.components.kit import drawing

OWN = parameters_of(EBMParameters)
DIRECTIONS = ("increasing", "decreasing")


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it."""
    place, asked = drawing.placeholder(), drawing.placeholder()
    with st.expander("Advanced settings"):
        chosen: dict[str, Any] = {"method": method(OWN, METHODS["ebm"], "ebm", place)}
        published = chosen["method"] == "random_splits"
        chosen |= _advanced(published=published)
        if not published:
            chosen |= _directions(context.schema)
    with asked:
        if not published:
            chosen["pairs"] = number(OWN["pairs"], 1, "ebm-pairs")
    return chosen


def _directions(schema: Schema) -> dict[str, Any]:
    """Columns whose shapes only rise, and those whose shapes only fall."""
    places = st.columns(2, gap="large")
    return {name: _some(place, schema, name) for place, name in zip(places, DIRECTIONS, strict=True)}


def _some(place: Any, schema: Schema, name: str) -> list[str]:
    chosen = place.multiselect(
        label(OWN[name]),
        [column.name for column in schema if column.ordered],
        format_func=lambda column: called(schema, column),
        placeholder="Choose columns",
        help=OWN[name].description,
        key=f"set-ebm-{name}-{schema.hash[:8]}",
        **KEEP,
    )
    return [str(column) for column in chosen]


def _advanced(*, published: bool) -> dict[str, Any]:
    one, two, three = st.columns(3)
    settings: dict[str, Any] = {}
    with one:
        settings["max_bins"] = number(OWN["max_bins"], 1, "ebm-bins")
        settings["bin_share"] = number(OWN["bin_share"], 0.05, "ebm-bin-share")
    with two:
        settings["epochs"] = number(OWN["epochs"], 10, "ebm-epochs")
        settings["learning_rate"] = number(OWN["learning_rate"], 0.01, "ebm-rate", digits=4)
    with three:
        if published:
            settings["leaves"] = number(OWN["leaves"], 1, "ebm-leaves")
        settings["replicates"] = number(OWN["replicates"], 1, "ebm-replicates")
        settings |= evaluate(OWN)
    return settings
