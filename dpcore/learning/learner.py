"""What every learner is: it plans on public inputs, and runs on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import BaseModel

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.privacy.budgets import BudgetSplit, row_epsilon
from dpcore.privacy.losses import pure_epsilon
from dpcore.privacy.randomness import RandomSource
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import check_least, chosen_cuts
from dpcore.released.plan import EVALUATION, RunPlan, check_classes
from dpcore.released.workload import Workload
from dpcore.validation import validated

#: Called with a step name and how many of how many equal units of that step are done. The
#: sequence of calls depends on public inputs, and on nothing else that will not be released.
Progress = Callable[[str, int, int], None]


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Asked:
    """What a plan is asked for. Public, and ``parameters`` are of the learner's own model.

    Attributes
    ----------
    delta : Decimal
        Delta that the run may spend beside epsilon, from an account that composes what its runs
        cost; 0 if there is none.
    rho : Decimal or None
        Rho that such an account gives to a run that can be made at any; ``None``: that of a pure run.
    """

    schema: Schema
    target: str
    epsilon: Decimal
    parameters: Any
    delta: Decimal = Decimal(0)
    rho: Decimal | None = None

    @property
    def row_epsilon(self) -> Decimal:
        """The whole budget at the level of rows."""
        return row_epsilon(self.epsilon, self.schema.privacy_unit.max_rows_per_person)

    @property
    def classes(self) -> int:
        """Number of classes of the target."""
        return len(self.schema.column(self.target).classes)

    def plan(self, split: BudgetSplit, **facts: Any) -> RunPlan:
        """A plan for it, pure, unconditional and with a free evaluation, unless told otherwise."""
        aside = getattr(self.parameters, "evaluate", False) and self.schema.holdout_percent > 0
        composed = self.delta and facts.get("delta") and facts.get("rho")
        share = self.set_aside(facts["rho"]) if composed else self.epsilon
        usual = {
            **{name: value for name, value in vars(self).items() if name != "rho"},
            "delta": Decimal(0),
            "guarantee": "unconditional",
            "parallel": {EVALUATION: share} if aside else {},
        }
        return RunPlan(split=split, **(usual | facts))

    def set_aside(self, rho: Decimal) -> Decimal:
        """Budget of the people set aside in a run that composes: what one in its steps loses.

        The larger of both parts is charged, so that more than the steps cost would not be free.
        """
        return min(self.epsilon, pure_epsilon(rho))


@dataclass(frozen=True)
class Run:
    """One run: a plan, the records to carry it out on, and where noise and progress go.

    Attributes
    ----------
    table : PrivateTable
    plan : RunPlan
    randomness : RandomSource
        Where all noise comes from.
    progress : callable
        See :data:`Progress`.
    """

    table: PrivateTable
    plan: RunPlan
    randomness: RandomSource
    progress: Progress = no_progress

    @property
    def schema(self) -> Schema:
        """Public domain that the plan was made for."""
        return self.plan.schema

    @property
    def target(self) -> str:
        """Column to be predicted; empty if none is."""
        return self.plan.target

    @property
    def part(self) -> Part:
        """Part of the records to learn from."""
        return self.plan.part

    def row_epsilon(self, step: str) -> Decimal:
        """Budget of one step at the level of rows."""
        return self.plan.row_epsilon(step)


class Learner(ABC):
    """One algorithm, as the service sees it: the side of a family that sees records."""

    #: What it releases, and all that is said of it.
    family: ClassVar[ReleasedFamily]
    #: Whether each of its mechanisms is built for all rows of a person together; else some are for one row.
    built_for_people: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Machine name, also the ``kind`` of its releases."""
        return self.family.name

    @property
    def title(self) -> str:
        """Name shown to people."""
        return self.family.title

    @property
    def targeted(self) -> bool:
        """Whether it predicts a column."""
        return self.family.targeted

    @property
    def parameters(self) -> type[BaseModel]:
        """Pydantic model of its parameters."""
        return self.family.parameters

    def plan(
        self,
        schema: Schema,
        target: str,
        epsilon: Decimal,
        parameters: Any,
        delta: Decimal = Decimal(0),
        rho: Decimal | None = None,
    ) -> RunPlan:
        """Validate a request and say what it costs; sees no record.

        Parameters
        ----------
        delta : Decimal
            Delta that an account which composes its runs gives to this one; 0 without account.
        rho : Decimal, optional
            Rho that it gives, if the run is one of those that can be made at any.

        Raises
        ------
        RequestError
            If a parameter or the target cannot be used, or the run would take hours.
        BudgetError
            If epsilon is too small to be divided.
        """
        asked = Asked(schema, target, epsilon, validated(self.parameters, parameters), delta, rho)
        check_least(asked.parameters)
        self._check_target(asked)
        if hasattr(asked.parameters, "cut_points"):
            chosen_cuts(schema, asked.parameters)  # Refused here, if at all: never once a run has begun.
        return self._plan(asked)

    def _check_target(self, asked: Asked) -> None:
        """Refuse a target that it does not predict: all but classes, if nothing else is said."""
        if self.targeted:
            check_classes(asked.schema, asked.target)
        elif asked.target:
            raise RequestError(f"{self.title}: no column is predicted, leave the target out.")

    @abstractmethod
    def _plan(self, asked: Asked) -> RunPlan:
        """Plan a run of valid parameters on a valid target."""

    @abstractmethod
    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do, step by step as it reports them; sees no record."""

    @abstractmethod
    def run(self, run: Run) -> BaseModel:
        """Spend the plan's budget on the table and return the released model."""
