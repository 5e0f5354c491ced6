"""The certificate of a release, in words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from dpcore.privacy import format_epsilon
from dpcore.release import Release
from dpcore.report.names import sampler_name, step_name


def certificate_lines(release: Release) -> dict[str, str]:
    """Name and value of each line of the certificate."""
    card = release.certificate
    parallel = _parts(card.parallel_split)
    return {
        "Promise": f"ε = {format_epsilon(card.epsilon)}"
        + (f", δ = {card.delta:f}" if card.delta else " (pure differential privacy, no δ)"),
        "Kind of guarantee": card.guarantee,
        "Who is protected": card.privacy_unit,
        "Data sets compared": card.neighboring_relation,
        "Rows kept per person, at most": str(card.max_rows_per_person),
        "Public row limit": f"{card.max_rows:,}",
        "How ε was split": _parts(card.budget_split),
        **({"How the parts add up": card.composition} if card.composition else {}),
        **({"On other people, at no extra cost": parallel} if parallel else {}),
        "How it was chosen": sampler_name(card.sampler),
        "Source of the noise": card.randomness,
        "Schema": f"SHA-256 {card.schema_hash[:16]}…",
        "Engine": card.engine_version,
        "Made": f"{card.created:%Y-%m-%d %H:%M} UTC",
        "Result number": release.id,
    }


def _parts(split: Mapping[str, Decimal]) -> str:
    told = (f"{step_name(step)} ε {format_epsilon(part)}" for step, part in split.items() if part)
    return "; ".join(told)
