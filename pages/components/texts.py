"""Help texts, kept as Markdown files in ``assets/help``, and words used in several places."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
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
#: Titles of the methods of a family; each has a help text ``method_<name>``, those of
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


@cache
def text(name: str) -> str:
    """The help text called ``name``."""
    return (ASSETS / "help" / f"{name}.md").read_text(encoding="utf-8").strip()


def small(delta: Decimal) -> str:
    """A delta, rounded up to two digits."""
    shown = delta.normalize(Context(prec=2, rounding=ROUND_CEILING))
    return f"{shown:f}" if shown >= Decimal("0.000000001") else f"{shown:e}"


def step_name(step: str) -> str:
    """What a step of a run is called; a tree may have several blocks of questions."""
    if step.startswith("block "):
        return f"the questions of {step}"
    return STEPS.get(step, step)
