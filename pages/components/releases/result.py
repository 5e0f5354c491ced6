"""One release, in full, each family in its own form."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.models.readable import readable
from dpcore.models.released import parse_model
from dpcore.numerals import small, whole
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.quality import verdict
from dpcore.released.release import Imported, Release
from pages.components.families import registry
from pages.components.families.shared import blocks
from pages.components.kit import markup
from pages.components.visitor import access


def render(release: Release, *, key: str, rehearsal: bool = False) -> None:
    """What was released first, then everything that can be derived from it for free."""
    release = readable(release)
    model = parse_model(release)
    public = False if rehearsal or isinstance(release, Imported) else _is_public(release)
    _banners(release, rehearsal=rehearsal, public=public)
    family = registry.of_release(release)
    most = "at most " if family.methods else ""
    markup.facts(
        {
            "Result": family.describe(release.parameters),
            **registry.predicted("Predicts", release.target),
            "Spent": "nothing" if rehearsal else _spent(release),
            "Guarantee": "none: rehearsal" if rehearsal else _guarantee(release),
            f"Noise on {family.released.counted}": f"{most}±{whole(model.count_margin)}, 95%",
        }
    )
    if family.targeted:
        _verdict(release, model)
    with st.container(key=f"{key}-body"):
        family.body(release, model, key, public=public)


def _verdict(release: Release, model: Any) -> None:
    """How good it is, in one sentence, before anything that could be read as a finding."""
    blocks.render(verdict(model.evaluation, release.target, getattr(model, "classes", ())))


def not_private(release: Release) -> str:
    """Why a result has no guarantee."""
    return " ".join((*release.certificate.problems, "It carries no privacy guarantee."))


def _guarantee(release: Release) -> str:
    said = release.certificate.guarantee
    return f"{said}, as its file says" if isinstance(release, Imported) else said


def _spent(release: Release) -> str:
    card = release.certificate
    delta = f", δ {small(card.delta)}" if card.delta else ""
    return f"ε {plain_epsilon(card.epsilon)}{delta}"


def _is_public(release: Release) -> bool:
    info, _ = access.attempt(lambda: access.service().dataset(release.dataset_id))
    return info is not None and info.public


def _banners(release: Release, *, rehearsal: bool, public: bool) -> None:
    if rehearsal:
        markup.banner("rehearsal", "rehearsal_banner")
    elif isinstance(release, Imported):
        markup.banner("amber", "imported")
    if not rehearsal and not release.certificate.private:
        markup.notice("amber", "Not private.", not_private(release))
    if public:
        markup.banner("public", "public_banner")
