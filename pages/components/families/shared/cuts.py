"""Where columns of numbers may be cut: at all cut points of the schema, or where a first look tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.reading import cut_points
from dpcore.models.summaries.released.summary_parameters import Axis
from dpcore.privacy.budgets import format_epsilon
from dpcore.released.release import Release
from pages.components.families.shared.form_context import FormContext
from pages.components.families.shared.inputs import KEEP, Own, explained, label
from pages.components.kit import markup

_ALL = ""


def cuts_from(context: FormContext, own: Own, family: str) -> dict[str, Any]:
    """Which first look tells the cut points of numbers; asked only if there is one that tells any."""
    looks = {
        release.id: release for release in context.releases if release.kind == "summaries" and _look_tells(release)
    }
    if not looks:
        return {}
    chosen = st.selectbox(
        label(own["cuts_from"]),
        [_ALL, *looks],
        format_func=lambda key: _look_named(looks[key]) if key else "None: all cut points of the schema",
        key=f"{family}-cuts-{context.dataset.id}",
        help=explained(own["cuts_from"]),
        **KEEP,
    )
    if not chosen:
        return {}
    points = cut_points(parse_model(looks[chosen]), looks[chosen].domain)
    st.caption(markup.plain(f"Cut points: {_listed(points, context.schema)}."))
    return {"cuts_from": chosen}


def cuts_asked(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Where a run may cut numbers, for its review, if that is not everywhere."""
    look = parameters.get("cuts_from")
    return {"Cut points of numbers": f"those of the first look {look[:6]}"} if look else {}


def _look_tells(look: Release) -> bool:
    """Whether it looked at a column of numbers that has cut points. Its tables, which may be large, are not read."""
    return any(Axis.model_validate(axis).edges for axis in look.model["axes"])


def _look_named(look: Release) -> str:
    card = look.certificate
    return f"First look of {card.created:%Y-%m-%d %H:%M} UTC · ε {format_epsilon(card.epsilon)} · {look.id[:6]}"


def _listed(points: tuple[str, ...], schema: Schema) -> str:
    """Each column by its label: ``Age at 40, 60; Systolic pressure at 120, 140``."""
    pairs = (text.rpartition(": ") for text in points)
    return "; ".join(f"{called(schema, name)} at {numbers}" for name, _, numbers in pairs)
