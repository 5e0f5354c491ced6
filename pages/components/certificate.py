"""The certificate of a release, in words."""

from __future__ import annotations

import streamlit as st

from dpcore.privacy import format_epsilon
from dpcore.release import Release
from pages.components import markup
from pages.components.texts import METHODS, step_name, text

_SAMPLERS = {
    "pool": "candidate pool",
    "mcmc": "random walk (MCMC)",
    **{name: title for titles in reversed(METHODS.values()) for name, title in titles.items()},
}


def show(release: Release) -> None:
    """Every field of the certificate."""
    st.markdown(text("certificate"))
    markup.pairs_table("Certificate", ("What", "Value"), lines(release))


def lines(release: Release) -> dict[str, str]:
    """Name and value of each line of the certificate."""
    card = release.certificate
    split = "; ".join(
        f"{step_name(step)} ε {format_epsilon(part)}"
        for step, part in card.budget_split.items()
        if part
    )
    return {
        "Promise": f"ε = {format_epsilon(card.epsilon)}"
        + (f", δ = {card.delta:f}" if card.delta else " (pure differential privacy, no δ)"),
        "Kind of guarantee": card.guarantee,
        "Who is protected": card.privacy_unit,
        "Data sets compared": card.neighboring_relation,
        "Rows kept per person, at most": str(card.max_rows_per_person),
        "Public row limit": f"{card.max_rows:,}",
        "How ε was split": split,
        **({"How the parts add up": card.composition} if card.composition else {}),
        **_parallel(release),
        "How it was chosen": _SAMPLERS.get(card.sampler, card.sampler),
        "Source of the noise": card.randomness,
        "Schema": f"SHA-256 {card.schema_hash[:16]}…",
        "Engine": card.engine_version,
        "Made": f"{card.created:%Y-%m-%d %H:%M} UTC",
        "Result number": release.id,
    }


def _parallel(release: Release) -> dict[str, str]:
    parts = release.certificate.parallel_split
    words = "; ".join(
        f"{step_name(step)} ε {format_epsilon(part)}" for step, part in parts.items() if part
    )
    return {"On other people, at no extra cost": words} if words else {}
