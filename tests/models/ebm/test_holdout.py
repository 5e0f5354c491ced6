"""Honest evaluation of explainable boosting machines made by hand."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning import holdout
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.privacy.sensitivity import Sensitivity
from dpcore.released.evaluation import counts_summed
from dpcore.released.plan import RunPlan
from dpcore.released.quality import SENSITIVITY, operating_points
from dpcore.released.regression_evaluation import error_edges
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

ROWS = 3000
SCHEMA = ward(
    {"name": "ward", "type": "categorical", "categories": ["a", "b", "c"]},
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 4},
    {"name": "ill", "type": "boolean"},
    {"name": "goes", "type": "categorical", "categories": ["home", "care", "died"]},
    {"name": "stay", "type": "real", "lower": 0, "upper": 50, "bins": 5},
    name="made up",
    max_rows=4000,
    holdout_percent=40,
)
TARGETS = {"binary": "ill", "multiclass": "goes", "regression": "stay"}


def people() -> pd.DataFrame:
    draw = np.random.default_rng(4)
    age = draw.integers(0, 101, ROWS).astype(float)
    ill = draw.random(ROWS) < 1 / (1 + np.exp(-(age - 60) / 12))
    stay = np.clip(age / 4 + 3 * draw.normal(size=ROWS), 0, 50)
    frame = pd.DataFrame(
        {
            "ward": draw.choice(["a", "b", "c", "elsewhere"], ROWS),
            "age": age,
            "ill": np.where(ill, "yes", "no"),
            "goes": np.where(age > 70, "died", np.where(age > 40, "care", "home")),
            "stay": stay,
        }
    )
    frame.loc[::17, "age"] = np.nan
    frame.loc[::19, ["ill", "goes"]] = None
    frame.loc[::23, "stay"] = np.nan
    return frame


TABLE = ingest(frame_chunks(people()), SCHEMA, SeededRandom(1))
AGE = Axis.numeric(SCHEMA.column("age"), (10, 20, 30, 40, 50, 60, 70, 80, 90))
WARD = Axis.categories(SCHEMA.column("ward"), (0, 1, 1, 2, 2))


def term(axes: tuple[Axis, ...], scores: np.ndarray) -> Term:
    bins = len(scores)
    return Term(
        axes=axes,
        scores=tuple(map(tuple, scores.tolist())),
        errors=((0.1,) * scores.shape[1],) * bins,
        noisy_counts=(100,) * bins,
        count_errors=(2.0,) * bins,
        noise_size=0.08,
        p_value=1e-6,
    )


def model(task: str = "binary") -> EBMModel:
    """By age, a little by ward, and by both."""
    centre = np.append(np.arange(5, 100, 10), 50)
    slopes = {"binary": [1 / 12], "multiclass": [-0.1, 0.0, 0.1], "regression": [1 / 4]}[task]
    draw = np.random.default_rng(3)
    outputs = len(slopes)
    bounds = (0.0, 50.0) if task == "regression" else None
    return EBMModel(
        task=task,  # type: ignore[arg-type]
        classes=() if task == "regression" else SCHEMA.column(TARGETS[task]).classes,
        intercept=(12.5,) if task == "regression" else (-0.3,) * outputs,
        intercept_error=(0.1,) * outputs,
        bounds=bounds,
        terms=(
            term((AGE,), np.outer(centre - 55, slopes)),
            term((WARD,), 0.1 * draw.normal(size=(len(WARD), outputs))),
            term((WARD, AGE), 0.1 * draw.normal(size=(len(WARD) * len(AGE), outputs))),
        ),
    )


def plan(task: str, epsilon: str = "2", **changes) -> RunPlan:
    total = Decimal(epsilon)
    fields = {
        "schema": SCHEMA,
        "target": TARGETS[task],
        "epsilon": total,
        "split": BudgetSplit(total, {"boosting": total}),
        "parameters": EBMParameters(),
        "guarantee": "unconditional",
        "sampler": "all_bins",
        "estimates_step": "boosting",
        "definition": "approximate",
        "delta": Decimal("0.00001"),
        "parallel": {"evaluation": total},
    }
    return RunPlan(**{**fields, **changes})


def held_out(task: str) -> pd.DataFrame:
    frame = TABLE.public_frame("holdout")
    target = frame[TARGETS[task]]
    known = target.notna() if task == "regression" else ~target.isin(["(missing)", "(other)"])
    return frame[known]


@for_each("task", TARGETS)
@for_each("block", [64, 1000, 65_536])
def test_scores_of_the_table_are_those_of_its_frame(task, block, monkeypatch):
    monkeypatch.setattr(holdout, "_BLOCK", block)
    scores = holdout.model_scores(TABLE.partitions[0], model(task))
    assert len(scores) == TABLE.partitions[0].rows
    frame = TABLE.public_frame()
    assert np.allclose(scores[: len(frame)], model(task).scores(frame, SCHEMA))


def test_accuracy_and_auc_are_those_of_the_model():
    result = holdout.evaluate(Run(TABLE, plan("binary", "900"), SecureRandom()), model())
    frame = held_out("binary")
    truth = (frame["ill"] == "yes").to_numpy()
    exact = (model().predict(frame, SCHEMA) == truth).mean()
    assert result.accuracy.value == pytest.approx(exact)
    proba = model().predict_proba(frame, SCHEMA)[:, 1]
    assert result.auc.value == pytest.approx(roc_auc_score(truth, proba), abs=0.004)
    assert np.sum(result.noisy_confusion) == len(frame)


def test_accuracy_of_many_classes():
    result = holdout.evaluate(Run(TABLE, plan("multiclass", "900"), SecureRandom()), model("multiclass"))
    frame = held_out("multiclass")
    truth = frame["goes"].map(SCHEMA.column("goes").classes.index).to_numpy()
    predicted = model("multiclass").predict(frame, SCHEMA)
    assert result.accuracy.value == pytest.approx((predicted == truth).mean())
    proba = model("multiclass").predict_proba(frame, SCHEMA)
    assert result.auc.value == pytest.approx(roc_auc_score(truth, proba, multi_class="ovr"), abs=0.03)
    exact = np.zeros((3, 3), dtype=int)
    np.add.at(exact, (truth, predicted), 1)
    assert np.array_equal(result.noisy_confusion, exact)


def test_rmse_is_that_of_the_model():
    result = holdout.evaluate(Run(TABLE, plan("regression", "900"), SecureRandom()), model("regression"))
    frame = held_out("regression")
    errors = model("regression").predict(frame, SCHEMA) - frame["stay"]
    assert result.rmse.value == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.02)
    constant = np.sqrt(np.mean((12.5 - frame["stay"]) ** 2))
    assert result.constant_rmse.value == pytest.approx(constant, rel=0.02)
    assert sum(result.noisy_errors) == len(frame)


def test_both_histograms_share_the_budget(monkeypatch):
    made = []
    kind = holdout.GeometricMechanism
    monkeypatch.setattr(holdout, "GeometricMechanism", lambda *given: made.append(given) or kind(*given))
    holdout.evaluate(Run(TABLE, plan("regression", "3"), SecureRandom()), model("regression"))
    ((sensitivity, epsilon),) = made
    assert sensitivity == 1
    assert 2 * epsilon <= 3
    assert epsilon == Decimal("1.5")


@for_each("task", TARGETS)
def test_figures_with_noise_are_near(task):
    noisy = holdout.evaluate(Run(TABLE, plan(task, "0.5"), SecureRandom()), model(task))
    exact = holdout.evaluate(Run(TABLE, plan(task, "900"), SecureRandom()), model(task))
    name = "rmse" if task == "regression" else "accuracy"
    one, other = getattr(noisy, name), getattr(exact, name)
    # Six margins of 1.96 standard deviations: a false alarm is rarer than 1e-6.
    assert abs(one.value - other.value) <= 6 * one.noise_margin
    assert 0 < one.noise_margin < 0.5 * one.value
    assert noisy.count_margin > exact.count_margin == 0


def test_groups_follow_from_the_model_and_public_values():
    few, many = (holdout.score_cuts(model(), signal) for signal in (10.0, 1e6))
    assert len(few) + 1 == 6
    assert 25 <= len(many) + 1 <= 31
    for cuts in (few, many):
        assert 0.0 in cuts
        assert np.all(np.diff(cuts) > 0)
    assert np.array_equal(many, holdout.score_cuts(model(), 1e6))


def test_groups_are_told_by_where_they_begin_and_by_the_mean_chance_of_drawn_cases():
    rare = model().model_copy(update={"intercept": (-3.0,)})
    result = holdout.evaluate(Run(TABLE, plan("binary", "900"), SecureRandom()), rare)
    frame = held_out("binary")
    chances, truth = rare.predict_proba(frame, SCHEMA)[:, 1], (frame["ill"] == "yes").to_numpy()
    points = [point for point in operating_points(result, 1) if point.figures[SENSITIVITY] is not None]
    assert len(points) >= 5
    assert points[-1].threshold == 0
    for point in points:
        flagged = chances > point.threshold + 1e-12  # Chances in frames and in partitions differ by rounding.
        assert point.figures[SENSITIVITY].value == pytest.approx(truth[flagged].sum() / truth.sum())
    told, limits = np.array(result.group_estimates)[:, 1], np.array([*result.group_limits, 1.0])
    assert ((limits[:-1] <= told) & (told <= limits[1:])).all()
    drawn = rare.probabilities(holdout._drawn_scores(rare))[:, 1]
    assert told[-1] == pytest.approx(drawn[drawn > limits[-2]].mean(), abs=1e-3)
    assert counts_summed(rare.model_copy(update={"evaluation": result})) is not None, "labels are the likeliest classes"


def test_one_record_moves_one_group_of_errors_by_one():
    """Witness of the declared sensitivity."""
    assert Sensitivity(1, "L1", monotone=True) == holdout.ERRORS
    edges = error_edges((0.0, 50.0))
    errors = np.array([0.0, 0.2, 7.0, 49.0])
    one = holdout.count_errors(errors, edges)
    for row in range(len(errors)):
        other = holdout.count_errors(np.delete(errors, row), edges)
        assert np.abs(one - other).sum() == 1
        assert np.all(one >= other)


def test_what_is_released_does_not_look_at_the_training_part():
    frame = people()
    table = ingest(frame_chunks(frame), SCHEMA, SeededRandom(1))
    (own,) = table.partitions
    other = own.members("train")
    assert not np.any(other & own.members("holdout"))
    changed = own.numbers.copy()
    train = np.unpackbits(other.view(np.uint8), bitorder="little")[: own.rows].astype(bool)
    changed[:, train] = 1.0
    own.numbers = changed
    one = holdout.evaluate(Run(table, plan("regression"), SeededRandom(2)), model("regression"))
    two = holdout.evaluate(Run(TABLE, plan("regression"), SeededRandom(2)), model("regression"))
    assert one == two
