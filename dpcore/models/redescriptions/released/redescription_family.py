"""Redescriptions, as all who read them know the family."""

from __future__ import annotations

from typing import Final

from dpcore.models.redescriptions.released.redescription_derived import rebuilt_pairs
from dpcore.models.redescriptions.released.redescription_evidence import RedescriptionEvidence
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_parameters import RedescriptionParameters
from dpcore.models.redescriptions.released.redescription_text import release_text
from dpcore.released.family import ReleasedFamily

REDESCRIPTIONS: Final = ReleasedFamily(
    name="redescriptions",
    title="Redescriptions",
    lead="Two ways of naming nearly the same people: one by the columns on the left, such as "
    "diagnoses, one by those on the right, such as treatments. Learned privately.",
    parameters=RedescriptionParameters,
    model=RedescriptionModel,
    text=release_text,
    rebuilt=rebuilt_pairs,
    evidence=RedescriptionEvidence,
    methods={
        "exact_pairs": "Both sides at once (recommended)",
        "lookahead": "Back and forth, exact trees",
        "alt_expm": "AltExpM (question by question)",
        "alt_mcmc": "AltMCMC (random walk over trees)",
        "mcmc_tree_pair": "MCMCTreePair (both trees together)",
    },
    targeted=False,
    views=True,
    counted="a count of one pair of groups",
    rehearsed={"pool_size": 20_000, "steps": 10_000},
)
