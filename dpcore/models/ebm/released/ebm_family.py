"""Explainable boosting machines, as all who read them know the family."""

from __future__ import annotations

from typing import Final

from dpcore.models.ebm.released.ebm_derived import rebuilt_machine
from dpcore.models.ebm.released.ebm_evidence import EBMEvidence
from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.models.ebm.released.ebm_reading import read_machine
from dpcore.released.family import ReleasedFamily

EBM: Final = ReleasedFamily(
    name="ebm",
    title="Shape functions",
    lead="One curve per column: how much each of its values raises or lowers what is predicted. Learned privately.",
    parameters=EBMParameters,
    model=EBMModel,
    read=read_machine,
    rebuilt=rebuilt_machine,
    evidence=EBMEvidence,
    methods={"all_bins": "All bins at once (recommended)", "random_splits": "Random splits, as published"},
    counted="the count of the widest bin",
    numbers=True,
    needs_delta=True,
    thorough=True,
)
