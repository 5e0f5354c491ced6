"""The latest results of one family on a data set, at the top of its page."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.numerals import hundredths
from dpcore.privacy.budgets import alike, format_epsilon
from dpcore.released.release import Release
from pages.components.families.registry import Family
from pages.components.families.shared.form_context import FormContext
from pages.components.kit import markup
from pages.components.kit.markup import distinct_labels
from pages.components.releases import library, result, sharing

_MOST = 3


def latest(context: FormContext, family: Family) -> bool:
    """The newest results that the visitor may read, and the one of them that is chosen; whether one is."""
    found = {release.id: release for release in context.releases if release.kind == family.name}
    if not found:
        return False
    by = sharing.others(sharing.read_sharing(context.dataset.id))
    costs = alike(format_epsilon(release.certificate.epsilon) for release in found.values())
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
        result.render(found[chosen], key=f"latest-{chosen}")
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
