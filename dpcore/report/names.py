"""What methods and steps are called wherever people read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What the steps of a run are called, wherever a budget is divided among them.
STEPS = {
    "antecedents": "finding conditions",
    "list": "choosing the list",
    "estimates": "noisy counts",
    "evaluation": "hold-out check",
    "leaves": "noisy counts of the groups",
    "tree": "growing the tree",
    "trees": "growing the trees",
    "bins": "counting records",
    "residual sizes": "the size of errors",
    "shapes": "the shapes",
    "choice of pairs": "choosing pairs",
    "pairs": "the shapes of pairs",
    "starting points": "finding where to start",
    "pairs of leaves": "counting people in pairs of groups",
    "left leaves": "counting people in the left groups",
    "clauses": "choosing clauses",
}
#: Titles of the methods of a family. Each has a help text: ``method_<name>``, those of
#: redescriptions ``pairs_<name>``, those of relational rules ``ilp_<name>``.
METHODS = {
    "tree": {
        "lookahead": "Exact lookahead (recommended)",
        "adiffp": "ADiffP (adaptive budget)",
        "diffp_id3": "DiffP-ID3 (same budget on every level)",
        "diffp_c45": "DiffP-C4.5 (as DiffP-ID3, then pruned)",
        "sulq_id3": "SuLQ-ID3 (noisy counts only)",
    },
    "forest": {
        "rfdiffp": "RFDiffP (adaptive trees on random columns)",
        "random_trees": "Random decision trees (questions drawn at random)",
    },
    "ebm": {
        "all_bins": "All bins at once (recommended)",
        "random_splits": "Random splits, as published",
    },
    "redescriptions": {
        "exact_pairs": "Both sides at once (recommended)",
        "lookahead": "Back and forth, exact trees",
        "alt_expm": "AltExpM (question by question)",
        "alt_mcmc": "AltMCMC (random walk over trees)",
        "mcmc_tree_pair": "MCMCTreePair (both trees together)",
    },
    "ilp": {
        "noisy_max": "Report noisy max (recommended)",
        "relevance_aware": "Level by level, as published",
        "naive": "Every clause counted, as published",
    },
}
_SAMPLERS = {
    "pool": "candidate pool",
    "mcmc": "random walk (MCMC)",
    **{name: title for titles in reversed(METHODS.values()) for name, title in titles.items()},
}
_BEST = " (recommended)"


def step_name(step: str) -> str:
    """What a step of a run is called; a tree may have several blocks of questions."""
    if step.startswith("block "):
        return f"the questions of {step}"
    return STEPS.get(step, step)


def sampler_name(sampler: str) -> str:
    """What the sampler of a certificate is called."""
    return _SAMPLERS.get(sampler, sampler)


def method_name(kind: str, parameters: Mapping[str, Any]) -> str:
    """The method of a result; empty if its family has only one."""
    return METHODS.get(kind, {}).get(parameters.get("method", ""), "").removesuffix(_BEST)
