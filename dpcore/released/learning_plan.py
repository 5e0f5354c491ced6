"""What learning facts of a schema will cost, said before a record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.learnable_schema import LearnableSchema, named
from dpcore.domain.schemas.learned import ColumnQuestion, LearningCertificate
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, SchemaError
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.filters import DELTA_STEP, PrivacyFilter, largest_rho
from dpcore.privacy.losses import RHO_STEP, Loss, pure_loss, run_loss
from dpcore.version import __version__

_NOTHING = "No column is marked 'learn: true', so there is nothing to spend an epsilon on: mark some, or leave it out."
_NO_DELTA = (
    "Categories are learned with a delta, and this budget has none: list the categories of {names}, or give the "
    "budget a delta. Cut points and bounds can be learned without."
)
_JOINS = (
    "Categories are learned only when a budget is opened, as a part of its delta has to be set aside from the start: "
    "list the categories of {names}, for example those of the data set whose budget is shared. Cut points and bounds "
    "can be learned here too."
)

#: Shares of the budget of a column of numbers: of the questions about one grid after the other.
ROUNDS: Final = (Decimal("0.25"), Decimal("0.25"), Decimal("0.5"))


@dataclass(frozen=True)
class LearningPlan:
    """What is learned of which columns, and what it costs. Public."""

    schema: Schema
    """With stand-ins for what is to be learned."""
    questions: Mapping[str, ColumnQuestion]
    asked: Decimal
    """Epsilon of all columns together."""
    loss: Loss
    """What the account is charged. Its delta holds ``threshold_delta`` too."""
    threshold_delta: Decimal
    """Set aside from the delta of the account: chance that the rho does not hold. See ``docs/privacy/learned.md``."""

    def written(self) -> dict[str, object]:
        """All but the schema, as JSON can hold it."""
        return {
            "wishes": {name: question.model_dump() for name, question in self.questions.items()},
            "asked": str(self.asked),
            "loss": [str(part) for part in astuple(self.loss)],
            "threshold_delta": str(self.threshold_delta),
        }

    @classmethod
    def read(cls, schema: Schema, content: Mapping[str, Any]) -> LearningPlan:
        """What :meth:`written` gave."""
        wishes = {name: ColumnQuestion.model_validate(wish) for name, wish in content["wishes"].items()}
        loss = Loss(*map(Decimal, content["loss"]))
        return cls(schema, wishes, Decimal(content["asked"]), loss, Decimal(content["threshold_delta"]))

    @property
    def pure(self) -> bool:
        """Whether noise is two-sided geometric."""
        return not self.loss.delta

    @property
    def listed(self) -> tuple[str, ...]:
        """Columns whose categories are learned."""
        return tuple(name for name in self.questions if not _is_numeric(self.schema, name))

    @property
    def share(self) -> Decimal:
        """Of each column: epsilon of a pure run, rho of another one."""
        whole = self.asked if self.pure else self.loss.rho
        return self._floored(whole / len(self.questions))

    def share_of_round(self, share: Decimal) -> Decimal:
        """Of the questions about one grid, which have one of :data:`ROUNDS`: epsilon or rho, as above."""
        return self._floored(self.share * share)

    def _floored(self, part: Decimal) -> Decimal:
        return part.quantize(EPSILON_STEP if self.pure else RHO_STEP, rounding=ROUND_FLOOR)

    @property
    def share_of_delta(self) -> Decimal:
        """Of each column whose categories are learned."""
        return (self.threshold_delta / max(1, len(self.listed))).quantize(DELTA_STEP, rounding=ROUND_FLOOR)

    @property
    def note(self) -> str:
        """What the ledger says of it."""
        return f"facts of {len(self.questions)} columns, privately"

    def certificate(self, left_out: tuple[str, ...] = ()) -> LearningCertificate:
        """What is on record when it has been done."""
        law = "two-sided geometric" if self.pure else "discrete Gaussian"
        quantiles = f"quantiles from cumulative counts with {law} noise"
        threshold = "counts of categories with discrete Gaussian noise, above a threshold"
        used = {quantiles: len(self.questions) > len(self.listed), threshold: bool(self.listed)}
        return LearningCertificate(
            columns=tuple(self.questions),
            left_out=left_out,
            mechanisms=tuple(name for name, is_used in used.items() if is_used),
            definition="pure" if self.pure else "approximate",
            asked=self.asked,
            epsilon=self.loss.epsilon,
            delta=self.loss.delta,
            rho=self.loss.rho,
            threshold_delta=self.threshold_delta,
            rows_per_person=self.schema.privacy_unit.max_rows_per_person,
            max_rows=self.schema.max_rows,
            time=datetime.now(UTC).replace(microsecond=0),
            engine_version=__version__,
        )


def plan_learning(wanted: LearnableSchema, epsilon: Decimal, cap: PrivacyFilter, *, opens: bool = True) -> LearningPlan:
    """Plan what is learned, in the form that fits an account: composed by rho if it has a delta.

    Parameters
    ----------
    opens : bool
        Whether the account is opened with it. Only then can categories be learned.

    Raises
    ------
    SchemaError
        If nothing is to be learned.
    BudgetError
        If categories are, and the account has no delta for it, or so small an epsilon has no parts.
    """
    if not wanted.questions:
        raise SchemaError(_NOTHING)
    listed = wanted.listed
    if listed and not (opens and cap.threshold_delta):
        raise BudgetError((_JOINS if cap.threshold_delta else _NO_DELTA).format(names=named(listed)))
    loss, threshold = learning_loss(epsilon, cap, listed=bool(listed))
    plan = LearningPlan(wanted.schema, wanted.questions, epsilon, loss, threshold)
    numbers = len(wanted.questions) > len(listed)
    least = plan.share_of_round(min(ROUNDS)) if numbers else plan.share
    if not least or (listed and not plan.share_of_delta):
        raise BudgetError("This epsilon is too small to be divided among so many columns: use a larger one.")
    return plan


def learning_loss(epsilon: Decimal, cap: PrivacyFilter, *, listed: bool) -> tuple[Loss, Decimal]:
    """What learning costs under a cap, and the delta to be set aside if categories are ``listed``."""
    if not cap.run_delta:
        return pure_loss(epsilon), Decimal(0)
    threshold = cap.threshold_delta if listed else Decimal(0)
    delta = replace(cap, aside=cap.aside + threshold).run_delta
    return run_loss(epsilon, delta + threshold, largest_rho(epsilon, delta)), threshold


def _is_numeric(schema: Schema, name: str) -> bool:
    return isinstance(schema.column(name), NumericColumn)
