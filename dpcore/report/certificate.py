"""The certificate of a release, in words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from dpcore.domain.schemas.origins import words_of
from dpcore.domain.schemas.protected import shared_things
from dpcore.numerals import small, whole
from dpcore.privacy.budgets import delta_sentence, plain_epsilon
from dpcore.released.release import Certificate, Release
from dpcore.report.names import sampler_name, step_name
from dpcore.report.spending import rho_sentence, states_rho
from dpcore.report.timing import time_sentence

_ALLOWED = "runs on this data set whose guarantee is conditional on convergence"


def certificate_lines(release: Release) -> dict[str, str]:
    """Name and value of each line of the certificate, every epsilon to its last digit."""
    card = release.certificate
    parallel = _parts(card.parallel_split)
    return {
        **_promise(card),
        "Kind of guarantee": card.guarantee,
        **({"Allowed by the custodian": _ALLOWED} if card.conditional_allowed else {}),
        f"Who {'is' if card.private else 'would be'} protected": card.privacy_unit,
        **({"Who is not": shared} if (shared := shared_things(release.domain)) else {}),
        "Data sets compared": card.neighboring_relation,
        "Rows kept per person, at most": str(card.max_rows_per_person),
        "Public row limit": whole(card.max_rows),
        "How ε was split": _parts(card.budget_split),
        **({"How the parts add up": card.composition} if card.composition else {}),
        **({"Beside other results": rho_sentence(card.rho or Decimal(0))} if states_rho(card) else {}),
        **({"On other people, at no extra cost": parallel} if parallel else {}),
        "How it was chosen": sampler_name(card.sampler),
        "Source of the noise": card.randomness,
        "Where bounds and categories come from": words_of(card.origins),
        **({"Cut points of numbers": f"told by the first look {card.cuts_from}"} if card.cuts_from else {}),
        **({"What was learned of them": learned.words} if (learned := release.domain.learned) else {}),
        "Time that the run took": time_sentence(card),
        "Schema": f"SHA-256 {card.schema_hash[:16]}…",
        "Engine": card.engine_version,
        "Made": f"{card.created:%Y-%m-%d %H:%M} UTC",
        "Result number": release.id,
    }


def _promise(card: Certificate) -> dict[str, str]:
    """What is promised; or that nothing is, and why."""
    budget = f"ε = {plain_epsilon(card.epsilon)}"
    budget += f", δ = {small(card.delta)}" if card.delta else ""
    if not card.private:
        return {"Promise": f"none. Not private: {' '.join(card.problems)}", "Noise as for": budget}
    if card.delta:
        return {"Promise": budget, "What δ means": delta_sentence(card.delta)}
    return {"Promise": f"{budget} (pure differential privacy, no δ)"}


def _parts(split: Mapping[str, Decimal]) -> str:
    return "; ".join(f"{step_name(step)} ε {plain_epsilon(part)}" for step, part in split.items() if part)
