"""The learners on offer, by name: the one place where a new family is plugged in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.ebm.learner import EBMLearner
from dpcore.ebm.model import EBMModel
from dpcore.errors import RequestError
from dpcore.ilp.learner import ILPLearner
from dpcore.ilp.model import ILPModel
from dpcore.plan import Learner
from dpcore.redescriptions.learner import RedescriptionLearner
from dpcore.redescriptions.model import RedescriptionModel
from dpcore.release import Release
from dpcore.rules.learner import RuleListLearner
from dpcore.rules.model import RuleListModel
from dpcore.trees.forest_learner import ForestLearner
from dpcore.trees.forest_model import ForestModel
from dpcore.trees.learner import TreeLearner
from dpcore.trees.model import TreeModel

if TYPE_CHECKING:
    from dpcore.table import Part, PrivateTable

LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in (
        RuleListLearner(),
        TreeLearner(),
        ForestLearner(),
        EBMLearner(),
        RedescriptionLearner(),
        ILPLearner(),
    )
}
_MODELS: dict[str, Any] = {
    RuleListLearner.name: RuleListModel,
    TreeLearner.name: TreeModel,
    ForestLearner.name: ForestModel,
    EBMLearner.name: EBMModel,
    RedescriptionLearner.name: RedescriptionModel,
    ILPLearner.name: ILPModel,
}


def get_learner(name: str) -> Learner:
    """Return the learner called ``name``.

    Raises
    ------
    RequestError
        If there is none.
    """
    if name not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise RequestError(f"There is no algorithm '{name}'. Known algorithms: {known}.")
    return LEARNERS[name]


def public_records(kind: str, table: PrivateTable, part: Part) -> Any:
    """Records of a public data set as a family's models read them: a frame, or every table."""
    return table.public_tables(part) if kind == ILPLearner.name else table.public_frame(part)


def parse_model(release: Release) -> Any:
    """The released model in its family's own form, for prediction and reading."""
    get_learner(release.kind)
    return _MODELS[release.kind].model_validate(release.model)
