"""Relational rules, as all who read them know the family."""

from __future__ import annotations

from typing import Final

from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.released.ilp_derived import rebuilt_theory
from dpcore.models.ilp.released.ilp_evidence import ILPEvidence
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_reading import read_theory
from dpcore.released.family import ReleasedFamily

ILP: Final = ReleasedFamily(
    name="ilp",
    title="Relational rules",
    lead="Rules that predict one column from several tables, such as patients and their "
    "prescriptions. Learned privately.",
    parameters=ILPParameters,
    model=ILPModel,
    read=read_theory,
    rebuilt=rebuilt_theory,
    evidence=ILPEvidence,
    methods={
        "noisy_max": "Report noisy max (recommended)",
        "relevance_aware": "Level by level, as published",
        "naive": "Every clause counted, as published",
    },
    counted="a count of a clause",
    relational=True,
)
