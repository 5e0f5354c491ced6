"""Learners that count records, slowly or badly on request, and a data set for them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dpcore.domain.columns import BooleanColumn, IntegerColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner, PlanRequest, Run
from dpcore.privacy.budgets import BudgetSplit
from dpcore.released.blocks import Bullets
from dpcore.released.family import ReleasedFamily
from dpcore.released.plan import RunPlan, target_column
from dpcore.released.workload import Work, Workload
from dpcore.workspace.ledger.requests import RunRequest

if TYPE_CHECKING:
    import pandas as pd

CANARY = "canary-7f3a-ventricular"


class FakeParameters(BaseModel):
    units: int = 3
    gate: str = ""  # After the first unit, wait until this file exists.
    fail: bool = False


class FakeModel(BaseModel):
    rows: int


def _read(*_: Any) -> list[Bullets]:
    return [Bullets.of("Rows")]


class FakeLearner(Learner):
    family = ReleasedFamily(
        "fake", "Fake", FakeParameters, FakeModel, lambda *_: [Bullets.of("Rows")], lambda _, model: model
    )

    def _check_target(self, plan_request: PlanRequest) -> None:
        if target_column(plan_request.schema, plan_request.target).name not in plan_request.schema.targets:
            raise RequestError("The target is not among the targets of the data set.")

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        split = BudgetSplit.by_weights(plan_request.epsilon, {"counts": 1})
        return plan_request.plan(split, sampler="none", estimates_step="counts")

    def workload(self, plan: RunPlan) -> Workload:
        return Workload({"counts": Work(calls=plan.parameters.units)}, 0.0)

    def run(self, run: Run) -> BaseModel:
        assert run.randomness.secure
        chosen = run.plan.parameters
        run.progress("counts", 0, chosen.units)
        while chosen.gate and not Path(chosen.gate).exists():
            time.sleep(0.02)
        if chosen.fail:
            raise ValueError(f"cannot convert {CANARY}")
        for unit in range(chosen.units):
            run.progress("counts", unit + 1, chosen.units)
        return FakeModel(rows=run.table.schema.max_rows)


class FakePairParameters(BaseModel):
    left: tuple[str, ...] = ("ill",)
    right: tuple[str, ...] = ("age",)


class FakePairModel(BaseModel):
    rows: int
    count_margin: int = 7


class FakePairLearner(Learner):
    """A learner that predicts nothing."""

    family = ReleasedFamily(
        "fake_pairs",
        "Fake pairs",
        FakePairParameters,
        FakePairModel,
        _read,
        lambda _, model: model,
        targeted=False,
        views=True,
    )

    def _check_target(self, plan_request: PlanRequest) -> None:
        assert plan_request.target == ""

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        split = BudgetSplit.by_weights(plan_request.epsilon, {"counts": 1})
        return plan_request.plan(split, sampler="none", estimates_step="counts")

    def workload(self, plan: RunPlan) -> Workload:
        return Workload({}, 0.0)

    def run(self, run: Run) -> BaseModel:
        return FakePairModel(rows=run.table.schema.max_rows)


def register() -> None:
    from dpcore.models.registry import LEARNERS

    LEARNERS["fake"] = FakeLearner()


def real_learners() -> dict[str, Any]:
    """The learners on offer, whatever other tests have put among them."""
    from dpcore.models.registry import LEARNERS

    return {name: own for name, own in LEARNERS.items() if not name.startswith("fake")}


def register_pairs(monkeypatch: Any) -> None:
    """Put the learner that predicts nothing among the others, for one test."""
    from dpcore.models import registry, released

    monkeypatch.setitem(registry.LEARNERS, "fake_pairs", FakePairLearner())
    monkeypatch.setitem(released.FAMILIES, "fake_pairs", FakePairLearner.family)


def small_schema(name: str = "small", **changes: Any) -> Schema:
    columns = (
        BooleanColumn(name="ill", target=True),
        IntegerColumn(name="age", lower=0, upper=99, bins=4),
    )
    return Schema(name=name, max_rows=200, columns=columns, **changes)


def small_frame(rows: int = 100) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"ill": ["yes", "no"] * (rows // 2), "age": [i % 100 for i in range(rows)]})


def fake_request(dataset_id: str, epsilon: object = "0.5", **parameters: Any) -> RunRequest:
    return RunRequest(
        dataset_id=dataset_id,
        algorithm="fake",
        target="ill",
        epsilon=epsilon,
        parameters=parameters,
    )
