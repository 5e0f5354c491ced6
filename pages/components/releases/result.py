"""One release, in full, each family in its own form."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.models.readable import readable
from dpcore.models.released import parse_model
from dpcore.numerals import hundredths, small, whole
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.blocks import Headline
from dpcore.released.quality import verdict
from dpcore.released.release import Imported, Release
from pages.components.families import registry
from pages.components.families.registry import Family
from pages.components.families.shared import blocks
from pages.components.families.shared.inputs import FormContext
from pages.components.kit import drawing, markup
from pages.components.kit.markup import distinct_labels, text
from pages.components.releases import library, sharing
from pages.components.visitor import access

_MOST = 3


def render(release: Release, *, key: str, rehearsal: bool = False) -> None:
    """What was released first, then everything that can be derived from it for free."""
    release = drawing.once(readable, release)
    model = drawing.once(parse_model, release)
    public = False if rehearsal or isinstance(release, Imported) else _is_public(release)
    _banners(release, rehearsal=rehearsal, public=public)
    family = registry.of_release(release)
    markup.facts(drawing.once(_facts, release, rehearsal))
    if family.targeted:  # How good it is stands before anything that could be read as a finding.
        blocks.render(drawing.once(_verdict, release))
    with st.container(key=f"{key}-body"):
        family.body(release, model, key, public=public)


def _facts(release: Release, rehearsal: bool) -> dict[str, str]:
    family, model = registry.of_release(release), drawing.once(parse_model, release)
    most = "at most " if family.methods else ""
    return {
        "Result": family.describe(release.parameters),
        **registry.predicted("Predicts", release.target),
        "Spent": "nothing" if rehearsal else _spent(release),
        "Guarantee": "none: rehearsal" if rehearsal else _guarantee(release),
        f"Noise on {family.released.counted}": f"{most}±{whole(model.count_margin)}, 95%",
    }


def _verdict(release: Release) -> Headline:
    model = drawing.once(parse_model, release)
    return verdict(model.evaluation, release.target, getattr(model, "classes", ()))


def not_private(release: Release) -> str:
    """Why a result has no guarantee; empty if it is private."""
    problems = release.certificate.problems
    return " ".join((*problems, "It carries no privacy guarantee.")) if problems else ""


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
        markup.notice("amber", "Imported.", text("imported"))
    if not rehearsal and (problems := drawing.once(not_private, release)):
        markup.notice("amber", "Not private.", problems)
    if public:
        markup.banner("public", "public_banner")


def latest(context: FormContext, family: Family) -> bool:
    """The newest results that the visitor may read, and the one of them that is chosen; whether one is."""
    found = {release.id: release for release in context.releases if release.kind == family.name}
    if not found:
        return False
    by = sharing.others(sharing.read_sharing(context.dataset.id))
    costs = [plain_epsilon(release.certificate.epsilon) for release in found.values()]
    words = distinct_labels(
        {
            release.id: _words(release, cost, by.get(release.id, ""))
            for release, cost in zip(found.values(), costs, strict=True)
        }
    )
    with st.container(border=True, key=f"card-latest-{family.name}"):
        st.markdown("**Latest results**")
        # One box above all else, so that nothing moves away under a click when a newer result comes.
        chosen = st.selectbox(
            "Read a result",
            list(found),
            index=None,
            format_func=words.__getitem__,
            placeholder=f"{len(found)} so far",
            key=f"latest-{family.name}-{context.dataset.id}",
        )
        markup.sentences([told for number, told in words.items() if number != chosen][:_MOST])
    if chosen is not None:
        render(found[chosen], key=f"latest-{chosen}")
    return chosen is not None


def _words(release: Release, cost: str, by: str) -> str:
    card, auc = release.certificate, library.figure(release, "auc")
    parts = [
        called(release.domain, release.target),
        "" if auc is None else f"AUC {hundredths(auc)}",
        f"ε {cost}",
        f"{card.created:%Y-%m-%d %H:%M} UTC",
        f"by {by}" if by else "",
    ]
    return " · ".join(part for part in parts if part)
