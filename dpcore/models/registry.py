"""The learners on offer, by name: the side of each family that sees records."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcore.errors import RequestError
from dpcore.learning.learner import Learner
from dpcore.models.ebm.learning.ebm_learner import EBMLearner
from dpcore.models.ilp.learning.ilp_learner import ILPLearner
from dpcore.models.redescriptions.learning.redescription_learner import RedescriptionLearner
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.summaries.learning.summary_learner import SummaryLearner
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.tree_learner import TreeLearner

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.data.table import PrivateTable
    from dpcore.domain.schemas.schema import Part, Schema
    from dpcore.released.family import ReleasedFamily
    from dpcore.released.plan import RunPlan

#: How many plans a process remembers.
_PLANS = 128
#: One line for each family, in the order of ``dpcore.models.released``.
LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in (
        SummaryLearner(),
        RuleListLearner(),
        TreeLearner(),
        ForestLearner(),
        EBMLearner(),
        RedescriptionLearner(),
        ILPLearner(),
    )
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


@dataclass(frozen=True)
class _Planned:
    """What is planned: public choices and a public schema, which two texts stand for."""

    said: str
    schema_hash: str
    algorithm: str
    schema: Schema = field(compare=False)
    asked: tuple[str, Decimal, Any, Decimal] = field(compare=False)


def plan_run(
    algorithm: str, schema: Schema, target: str, epsilon: Decimal, parameters: object, delta: Decimal
) -> RunPlan:
    """The plan of a run; a page that is drawn again asks for the same few."""
    asked = target, epsilon, parameters, delta
    return _plan(_Planned(repr(asked), schema.hash, algorithm, schema, asked))


@lru_cache(maxsize=_PLANS)
def _plan(run: _Planned) -> RunPlan:
    return get_learner(run.algorithm).plan(run.schema, *run.asked)


def public_records(family: ReleasedFamily, table: PrivateTable, part: Part) -> pd.DataFrame | dict[str, pd.DataFrame]:
    """Records of a public data set as a family's models read them: a frame, or every table."""
    return table.public_tables(part) if family.relational else table.public_frame(part)
