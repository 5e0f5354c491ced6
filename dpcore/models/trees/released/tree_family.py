"""Trees and forests, as all who read them know the families."""

from __future__ import annotations

from typing import Final

from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_derived import rebuilt_forest, rebuilt_tree
from dpcore.models.trees.released.tree_evidence import ForestEvidence, TreeEvidence
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_parameters import ForestParameters, TreeParameters
from dpcore.models.trees.released.tree_reading import read_forest, read_tree
from dpcore.released.family import ReleasedFamily

TREE: Final = ReleasedFamily(
    name="tree",
    title="Tree",
    lead="A decision tree: a few questions, one after another, that predict one column. Learned privately.",
    parameters=TreeParameters,
    model=TreeModel,
    read=read_tree,
    rebuilt=rebuilt_tree,
    evidence=TreeEvidence,
    methods={
        "lookahead": "Exact lookahead (recommended)",
        "adiffp": "ADiffP (adaptive budget)",
        "diffp_id3": "DiffP-ID3 (same budget on every level)",
        "diffp_c45": "DiffP-C4.5 (as DiffP-ID3, then pruned)",
        "sulq_id3": "SuLQ-ID3 (noisy counts only)",
    },
    thorough=True,
)
# Not thorough: how close rehearsals of forests, or after them, come has not been measured.
FOREST: Final = ReleasedFamily(
    name="forest",
    title="Forest",
    lead="Small decision trees, whose chances for one column are averaged. Learned privately. A forest is harder to "
    "read than one tree.",
    parameters=ForestParameters,
    model=ForestModel,
    read=read_forest,
    rebuilt=rebuilt_forest,
    evidence=ForestEvidence,
    methods={
        "random_trees": "Random decision trees (recommended)",
        "rfdiffp": "RFDiffP (adaptive trees on random columns)",
    },
)
