"""What every learner is: it plans on public inputs, in its pure form or composed by rho, and runs on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.privacy.budgets import BudgetSplit, row_epsilon
from dpcore.privacy.filters import smallest_epsilon
from dpcore.privacy.losses import RHO_STEP, counting_rho, pure_epsilon, pure_rho, selection_epsilon
from dpcore.privacy.randomness import RandomSource
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import check_least, chosen_cuts
from dpcore.released.plan import EVALUATION, Composed, RunPlan, check_classes, composed_words
from dpcore.released.workload import Workload
from dpcore.validation import validated

#: Called with a step name and how many of how many equal units of that step are done. The
#: sequence of calls depends on public inputs, and on nothing else that will not be released.
Progress = Callable[[str, int, int], None]
_Model = TypeVar("_Model", bound=BaseModel)


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class PlanRequest:
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


def with_evaluation(run: Run, model: _Model, evaluate: Callable[[Run, _Model], object]) -> _Model:
    """The model with its evaluation on people set aside, if the plan has one."""
    run.progress("checking on people set aside", 0, 1)
    evaluation = evaluate(run, model) if run.plan.evaluated else None
    run.progress("checking on people set aside", 1, 1)
    return model.model_copy(update={"evaluation": evaluation})


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
        parameters: object,
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
        plan_request = PlanRequest(schema, target, epsilon, validated(self.parameters, parameters), delta, rho)
        check_least(plan_request.parameters)
        self._check_target(plan_request)
        if hasattr(plan_request.parameters, "cut_points"):
            chosen_cuts(schema, plan_request.parameters)  # Refused here, if at all: never once a run has begun.
        return self._plan(plan_request)

    def _check_target(self, plan_request: PlanRequest) -> None:
        """Refuse a target that it does not predict: all but classes, if nothing else is said."""
        if self.targeted:
            check_classes(plan_request.schema, plan_request.target)
        elif plan_request.target:
            raise RequestError(f"{self.title}: no column is predicted, leave the target out.")

    @abstractmethod
    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        """Plan a run of valid parameters on a valid target."""

    @abstractmethod
    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do, step by step as it reports them; sees no record."""

    @abstractmethod
    def run(self, run: Run) -> BaseModel:
        """Spend the plan's budget on the table and return the released model."""


_NEEDS_DELTA = (
    "This method needs a delta, and only pure runs are taken here: choose another method, or ask "
    "the custodian of the data set for a delta."
)


def composed_form(
    plan_request: PlanRequest,
    pure: RunPlan,
    select: Callable[[str, Decimal], Decimal] = lambda _, rho: selection_epsilon(rho),
) -> RunPlan:
    """The run of a pure plan with less noise, at the rho of that plan and the delta asked for.

    Its counts get Gaussian noise, no wider than their geometric noise was. What this leaves of
    rho goes to the other steps, which select, in equal parts. Proof: ``docs/privacy/accounting.md``.

    Parameters
    ----------
    pure : RunPlan
        Steps that select, and counts that one row moves by one.
    select : callable
        Person-level epsilon of a step's selection for which a rho pays.

    Returns
    -------
    RunPlan
        The pure plan itself, if no delta was asked for or some selection would not gain.
    """
    counts = counting_rho(pure.split[pure.estimates_step], pure.schema.privacy_unit.max_rows_per_person)
    steps = [step for step, part in pure.split.parts.items() if part and step != pure.estimates_step]
    if not plan_request.delta or counts >= pure_rho(pure.split[pure.estimates_step]):
        return pure
    whole = pure_rho(pure.epsilon) if pure.rho is None else min(pure.rho, pure_rho(pure.epsilon))
    share = ((whole - counts) / len(steps)).quantize(RHO_STEP, rounding=ROUND_FLOOR)
    selections = {step: select(step, share) for step in steps if share > 0}
    if not selections or any(selections[step] <= pure.split[step] for step in steps):
        return pure
    rhos = {**dict.fromkeys(steps, share), pure.estimates_step: counts}
    rho = sum(rhos.values(), Decimal(0))
    aside = plan_request.set_aside(rho)
    epsilon = max(smallest_epsilon(rho, plan_request.delta), aside)  # Less than that only for a delta near 1.
    made = replace(
        pure,
        epsilon=epsilon,
        split=BudgetSplit.by_weights(epsilon, rhos),
        definition="approximate",
        delta=plan_request.delta,
        parallel=dict.fromkeys(pure.parallel, aside),
        composition=composed_words(rho),
        rho=rho,
        composed=Composed(selections, counts),
        asked=plan_request.epsilon,
    )
    return replace(made, noise=tuple(made.noise_on(own.what) for own in pure.noise))
