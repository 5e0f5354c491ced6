"""First looks, as all who read them know the family."""

from __future__ import annotations

from typing import Final

from dpcore.models.summaries.released.summary_derived import rebuilt_look
from dpcore.models.summaries.released.summary_evidence import SummaryEvidence
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import SummaryParameters
from dpcore.models.summaries.released.summary_text import summary_text
from dpcore.released.family import ReleasedFamily

SUMMARIES: Final = ReleasedFamily(
    name="summaries",
    title="First look",
    lead="How many, how old, how much is missing, how do groups differ: the distribution of every column, "
    "counted privately.",
    parameters=SummaryParameters,
    model=SummaryModel,
    text=summary_text,
    rebuilt=rebuilt_look,
    evidence=SummaryEvidence,
    methods={"weighted": "Noise where it disturbs least (recommended)", "equal": "The same for every table"},
    targeted=False,
    relational=True,
)
