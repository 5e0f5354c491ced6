"""The families of models by name, as their releases show them. No record is seen here."""

from __future__ import annotations

from typing import Any

from dpcore.errors import RequestError
from dpcore.models.ebm.released.ebm_family import EBM
from dpcore.models.ilp.released.ilp_family import ILP
from dpcore.models.redescriptions.released.redescription_family import REDESCRIPTIONS
from dpcore.models.rules.released.rule_list_family import RULE_LIST
from dpcore.models.summaries.released.summary_family import SUMMARIES
from dpcore.models.trees.released.tree_family import FOREST, TREE
from dpcore.released.family import ReleasedFamily
from dpcore.released.release import Release

#: One line for each family; the order is that of pages and lists.
FAMILIES: dict[str, ReleasedFamily] = {
    family.name: family for family in (SUMMARIES, RULE_LIST, TREE, FOREST, EBM, REDESCRIPTIONS, ILP)
}


def get_family(name: str) -> ReleasedFamily:
    """Return the family called ``name``.

    Raises
    ------
    RequestError
        If there is none.
    """
    if name not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise RequestError(f"There is no algorithm '{name}'. Known algorithms: {known}.")
    return FAMILIES[name]


def family_of(release: Release) -> ReleasedFamily:
    """The family of a release.

    Raises
    ------
    RequestError
        If it is none of those on offer.
    """
    return get_family(release.kind)


def parse_model(release: Release) -> Any:
    """The released model in its family's own form, for prediction and reading."""
    return family_of(release).model.model_validate(release.model)
