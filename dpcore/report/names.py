"""What methods and steps are called wherever people read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcore.models.released import FAMILIES

#: What the steps of a run are called, wherever a budget is divided among them.
STEPS = {
    "antecedents": "finding conditions",
    "list": "choosing the list",
    "estimates": "noisy counts",
    "evaluation": "hold-out check",
    "leaves": "noisy counts of the groups",
    "tree": "growing the tree",
    "trees": "the trees",
    "bins": "counting records",
    "residual sizes": "the size of errors",
    "shapes": "the shapes",
    "choice of pairs": "choosing pairs",
    "pairs": "the pairs",
    "starting points": "finding where to start",
    "pairs of leaves": "noisy counts of pairs of groups",
    "left leaves": "noisy counts of the left groups",
    "clauses": "choosing clauses",
    "columns": "counting columns",
    "columns by groups": "counting columns in groups",
    "pairs found": "counting the pairs that are found",
}
#: Titles of the methods of each family that has several.
METHODS = {name: family.methods for name, family in FAMILIES.items() if family.methods}
#: Titles of the ways in which a rule list is chosen.
RULE_LIST_SAMPLERS = {
    "lookahead": "Two rules at a time (recommended)",
    "pool": "Candidate pool",
    "mcmc": "Random walk (MCMC, as published)",
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
