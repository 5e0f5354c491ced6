"""What is released, by the name of its family: title and model. No record is seen here."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel

from dpcore.errors import RequestError
from dpcore.models.ebm.released.model import EBMModel
from dpcore.models.ilp.released.model import ILPModel
from dpcore.models.redescriptions.released.model import RedescriptionModel
from dpcore.models.rules.released.model import RuleListModel
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.released.release import Release


class Family(NamedTuple):
    """A family of models as its releases show it."""

    title: str
    model: type[BaseModel]


FAMILIES: dict[str, Family] = {
    "rule_list": Family("Rule list", RuleListModel),
    "tree": Family("Tree", TreeModel),
    "forest": Family("Forest", ForestModel),
    "ebm": Family("Shape functions", EBMModel),
    "redescriptions": Family("Redescriptions", RedescriptionModel),
    "ilp": Family("Relational rules", ILPModel),
}


def family_of(release: Release) -> Family:
    """The family of a release.

    Raises
    ------
    RequestError
        If it is none of those on offer.
    """
    if release.kind not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise RequestError(f"There is no algorithm '{release.kind}'. Known algorithms: {known}.")
    return FAMILIES[release.kind]


def parse_model(release: Release) -> Any:
    """The released model in its family's own form, for prediction and reading."""
    return family_of(release).model.model_validate(release.model)
