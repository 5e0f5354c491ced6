"""What every learner is: it plans on public inputs, in its pure form or composed by rho, and runs on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.privacy.budgets import BudgetSplit, row_epsilon
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import RHO_STEP, pure_epsilon, selection_epsilon, strength_of
from dpcore.privacy.randomness import RandomSource
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import check_least, chosen_cuts
from dpcore.released.plan import EVALUATION, Composed, RunPlan, check_classes, composed_words
from dpcore.released.workload import Workload
from dpcore.validation import validated

#: Person-level epsilon of a step's selections, together, for which a rho pays; given the step and that rho.
Select = Callable[[str, Decimal], Decimal]
#: Called with a step name and how many of how many equal units of that step are done. The
#: sequence of calls depends on public inputs, and on nothing else that will not be released.
Progress = Callable[[str, int, int], None]
_Model = TypeVar("_Model", bound=BaseModel)


def _nothing(_step: str, _rho: Decimal) -> Decimal:
    return Decimal(0)


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class PlanRequest:
    """What a plan is asked for. Public, and ``parameters`` are of the learner's own model.

    Attributes
    ----------
    epsilon : Decimal
        What the run promises.
    delta : Decimal
        The delta at which it promises this, if its parts are to compose by their rho; else 0.
    """

    schema: Schema
    target: str
    epsilon: Decimal
    parameters: Any
    delta: Decimal = Decimal(0)

    @property
    def rho(self) -> Decimal:
        """What the parts of a run that composes have together: the largest rho that keeps the promise."""
        return largest_rho(self.epsilon, self.delta)

    def pure(self, *, composes: bool = True) -> PlanRequest:
        """The same without delta: as it is, or of about the same cost if it composes, for house rules and shares."""
        epsilon = strength_of(self.rho) if composes and self.delta else self.epsilon
        return replace(self, epsilon=epsilon, delta=Decimal(0))

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
        usual = {
            **vars(self),
            "delta": Decimal(0),
            "guarantee": "unconditional",
            "parallel": {EVALUATION: self.epsilon} if aside else {},
        }
        return RunPlan(split=split, **(usual | facts))

    def composed(
        self, plan: RunPlan, weights: Mapping[str, Decimal], selecting: Collection[str] = (), select: Select = _nothing
    ) -> RunPlan:
        """A plan of which each step has its share of rho, by ``weights``.

        Parameters
        ----------
        plan : RunPlan
            Everything else about the run.
        selecting : collection of str
            Steps that select, for which ``select`` tells an epsilon; all others count with Gaussian noise.

        Raises
        ------
        BudgetError
            If a step would have nothing.
        """
        rhos = _divided(self.rho, weights)
        selections = {step: select(step, own) for step, own in rhos.items() if step in selecting}
        counts = sum((own for step, own in rhos.items() if step not in selecting), Decimal(0))
        if not all([*rhos.values(), *selections.values()]):
            raise BudgetError("This epsilon is too small to be split over the steps of a run.")
        return replace(
            plan,
            epsilon=self.epsilon,
            delta=self.delta,
            split=BudgetSplit.by_weights(self.epsilon, weights),
            definition="approximate",
            # The larger of both parts is charged, so that more than the steps cost would not be free.
            parallel=dict.fromkeys(plan.parallel, min(self.epsilon, pure_epsilon(self.rho))),
            composition=composed_words(self.rho),
            rho=self.rho,
            composed=Composed(selections, counts),
        )


def _divided(rho: Decimal, weights: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Parts of a rho in proportion to weights, in whole steps; what rounding leaves goes to the largest."""
    whole = sum(weights.values(), Decimal(0))
    parts = {step: (rho * own / whole).quantize(RHO_STEP, rounding=ROUND_FLOOR) for step, own in weights.items() if own}
    parts[max(parts, key=lambda step: parts[step])] += rho - sum(parts.values(), Decimal(0))
    return parts


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
    ) -> RunPlan:
        """Validate a request and say what it costs; sees no record.

        Parameters
        ----------
        delta : Decimal
            The delta at which runs compose; 0 for a pure run. Methods without a form that composes stay pure.

        Raises
        ------
        RequestError
            If a parameter or the target cannot be used, or the run would take hours.
        BudgetError
            If epsilon is too small to be divided.
        """
        plan_request = PlanRequest(schema, target, epsilon, validated(self.parameters, parameters), delta)
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


def composed_form(plan_request: PlanRequest, pure: RunPlan, select: Select | None = None) -> RunPlan:
    """The run of a plan for :meth:`PlanRequest.pure` in the form that was asked for, with the same shares.

    Its counts get Gaussian noise, and the other steps select. Proof: ``docs/privacy/accounting.md``.

    Parameters
    ----------
    pure : RunPlan
        Steps that select, and counts that one row moves by one.
    select : callable, optional
        By default, one draw of the exponential mechanism.
    """
    if not plan_request.delta:
        return pure
    selecting = pure.split.parts.keys() - {pure.estimates_step}
    made = plan_request.composed(pure, pure.split.parts, selecting, select or (lambda _, rho: selection_epsilon(rho)))
    return replace(made, noise=tuple(made.noise_on(own.what) for own in pure.noise))
