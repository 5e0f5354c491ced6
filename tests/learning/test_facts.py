"""Bounds, cut points and categories that are learned privately: what they cost, and how good they are."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.suites.budgets import decile_error, real, twenty_columns
from dpcore.audit.replay.loss import Loss
from dpcore.audit.replay.tape import Forced, Recording, pairs
from dpcore.data.building.ingest import ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, IngestError, SchemaError
from dpcore.intake.process.learning import Provisional, learn_schema
from dpcore.learning import facts
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import pure_loss, run_loss, total_loss
from dpcore.privacy.mechanisms import ThresholdMechanism
from dpcore.privacy.prefixes import PrefixSums
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.learning_plan import LearningPlan, plan_learning
from tests.support.rows import for_each

CAP = PrivacyFilter(Decimal(5), Decimal("1e-6"))
PURE = PrivacyFilter(Decimal(5), Decimal(0))


def planned(columns: list[dict[str, Any]], epsilon: str = "0.1", cap: PrivacyFilter = CAP, **more: Any) -> LearningPlan:
    given = LearnableSchema.from_mapping({"name": "ward", "max_rows": 200_000, "columns": columns, **more})
    return plan_learning(given, Decimal(epsilon), cap)


def test_deciles_of_twenty_columns_are_within_two_percentiles(tmp_path: Path) -> None:
    frame, columns = twenty_columns(np.random.default_rng(0), 100_000)
    learned = learn_schema(planned(columns, "0.5"), iter([frame]), SeededRandom(0), tmp_path)
    assert max(decile_error(frame[column.name].to_numpy(), column) for column in learned) <= 0.02


@pytest.mark.crossed
@pytest.mark.parametrize("cap", [CAP, PURE])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_one_person_more_costs_at_most_what_is_charged(cap: PrivacyFilter, rows: int, rounds: int) -> None:
    for seed in range(rounds):
        plan, first, second = neighbours(seed, rows, cap)
        assert cost_of(plan, first, second, seed) <= 1 + 1e-9


@pytest.mark.parametrize("cap", [CAP, PURE])
def test_the_replay_finds_noise_made_for_one_row_of_two(cap: PrivacyFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "PrefixSums", lambda rows, **budget: PrefixSums(1, **budget))
    plan, first, second = neighbours(1, 2, cap)
    assert cost_of(plan, first, second, 1) > 1.01


@pytest.mark.crossed
@pytest.mark.parametrize("cap", [CAP, PURE])
@pytest.mark.parametrize("columns", [1, 3])
def test_whatever_budget_is_accepted_has_a_part_for_every_question(
    cap: PrivacyFilter, columns: int, tmp_path: Path
) -> None:
    """From those on of which a column gets the least that there is."""
    wanted = [real(f"x{number}", 0, 10, {"bins": 2}) for number in range(columns)]
    frame = pd.DataFrame({column["name"]: [1.0, 2.0] for column in wanted})
    least, accepted = Decimal("5e-7" if cap is CAP else "1e-9"), 0
    for times in range(1, 20):
        try:
            plan = planned(wanted, str(times * least), cap, max_rows=10)
        except BudgetError:
            assert not accepted
            continue
        (folder := tmp_path / str(times)).mkdir()
        learn_schema(plan, iter([frame]), SeededRandom(0), folder)
        accepted += 1
        if accepted == 3:
            return
    pytest.fail("So few are never accepted.")


def neighbours(seed: int, rows: int, cap: PrivacyFilter) -> tuple[LearningPlan, PrivateTable, PrivateTable]:
    rng = np.random.default_rng(seed)
    plan = planned(
        [real("x", 0, 1000, {"bins": 4, "bounds": True}), real("n", -5, 20, kind="integer")],
        cap=cap,
        max_rows=1000,
        privacy_unit={"column": "who", "max_rows_per_person": rows},
    )
    people = np.repeat(np.arange(60), rows)
    frame = pd.DataFrame(
        {"who": people, "x": rng.exponential(50, 60).repeat(rows), "n": rng.integers(-9, 30, 60).repeat(rows)}
    )
    return plan, table_of(plan, frame, seed), table_of(plan, frame[frame["who"] != 7], seed)


def table_of(plan: LearningPlan, frame: pd.DataFrame, seed: int) -> PrivateTable:
    provisional = Provisional(plan)
    return ingest(provisional.rows(iter([frame])), provisional.schema, SeededRandom(seed))


def cost_of(plan: LearningPlan, first: PrivateTable, second: PrivateTable, seed: int) -> float:
    """What the real run costs between two tables, as a share of what is charged."""
    recorded = Recording(seed)
    found = Provisional(plan).learned(first, recorded)
    forced = Forced(recorded.events)
    again = Provisional(plan).learned(second, forced)
    forced.finish()
    assert [column.edges for column in found] == [column.edges for column in again]
    loss = Loss.along(pairs(recorded.events, forced.events))
    assert loss.rho > 0
    return max(loss.rho / float(plan.loss.rho), loss.pure / float(plan.asked) if plan.pure else 0.0)


def test_a_person_who_changes_one_cell_attains_the_declared_sensitivity() -> None:
    sums = PrefixSums(1, rho=Decimal("0.5"))
    for cells in (2, 17, 256):
        mechanism, weights = sums.mechanism(cells), sums.weights(cells)
        longest = max(np.linalg.norm(weights[:, cell]) for cell in range(cells))
        assert mechanism.sensitivity - 1 < longest <= mechanism.sensitivity


@for_each("rows", [1, 3])
@for_each("cells", [3, 20])
def test_no_rows_of_a_person_move_the_answers_by_more_than_declared(rows: int, cells: int) -> None:
    """All ways to put up to so many rows into the cells, one by one."""
    for sums, order in ((PrefixSums(rows, rho=Decimal("0.5")), 2), (PrefixSums(rows, epsilon=Decimal(1)), 1)):
        weights, mechanism = sums.weights(cells), sums.mechanism(cells)
        places = itertools.combinations_with_replacement(range(cells), rows)
        farthest = max(np.linalg.norm(weights[:, list(chosen)].sum(axis=1), order) for chosen in places)
        declared = mechanism.sensitivity
        assert declared - 1 < farthest <= declared


def test_cumulative_counts_come_back_without_noise() -> None:
    counts = np.random.default_rng(0).integers(0, 1000, 100)
    for sums in (PrefixSums(1, rho=Decimal("1e9")), PrefixSums(1, epsilon=Decimal("1e6"))):
        assert np.allclose(sums.release(counts, SecureRandom()), counts.cumsum(), atol=1)


@for_each("rows", [1, 3])
@for_each("rho", [0.001, 0.0025, 0.02, 0.5, 2])
@for_each("delta", [1e-7, 2.5e-9])
def test_what_one_person_alone_has_is_released_with_at_most_the_delta(rows: int, rho: float, delta: float) -> None:
    mechanism = ThresholdMechanism(rows, rho, delta)
    assert chance_to_pass(mechanism, rows) <= delta
    assert rows > 1 or chance_to_pass(mechanism, 3) > delta  # No threshold that is far too high.


def chance_to_pass(mechanism: ThresholdMechanism, rows: int) -> float:
    """Exact chance that a value of one person alone passes, whether all rows have one value or each its own."""
    farthest = int(40 * mechanism.scale)
    steps = np.arange(-farthest, farthest + 1)
    weights = np.exp(-(steps**2) / (2 * mechanism.scale**2))
    alone = {count: weights[steps + count >= mechanism.threshold].sum() / weights.sum() for count in (1, rows)}
    return max(alone[rows], -math.expm1(rows * math.log1p(-alone[1])))


@pytest.mark.parametrize("rows", [1, 3])
def test_categories_of_several_columns_together_cost_what_is_charged(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[ThresholdMechanism, Any]] = []

    class Spied(ThresholdMechanism):
        def release(self, values: Any, randomness: Any) -> Any:
            asked.append((self, values))
            return super().release(values, randomness)

    monkeypatch.setattr(facts, "ThresholdMechanism", Spied)
    plan = planned(
        [{"name": name, "type": "categorical", "learn": True} for name in ("ward", "sex")],
        privacy_unit={"column": "who", "max_rows_per_person": rows},
    )
    people = pd.DataFrame({"who": np.repeat(np.arange(400), rows), "ward": "A", "sex": "f"})
    for frame in (people, people[people["who"] != 7]):
        provisional = Provisional(plan)
        provisional.learned(
            ingest(provisional.rows(iter([frame])), provisional.schema, SeededRandom(0)), SeededRandom(0)
        )
    first, second = asked[:2], asked[2:]
    assert len(first) == len(second) == 2
    spent = sum(
        ((values - fewer) ** 2).sum() / mechanism.scale**2 / 2
        for (mechanism, values), (_, fewer) in zip(first, second, strict=True)
    )
    assert 0.99 * float(plan.loss.rho) < spent <= float(plan.loss.rho) * (1 + 1e-9)
    stated = sum(mechanism.delta for mechanism, _ in first)
    assert 0.99 * float(plan.threshold_delta) < stated <= float(plan.threshold_delta)
    assert sum(chance_to_pass(mechanism, rows) for mechanism, _ in first) <= float(plan.threshold_delta)


@pytest.mark.parametrize("source", [SecureRandom(), SeededRandom(3)])
def test_frequent_values_pass_the_threshold_and_rare_ones_do_not(source: Any) -> None:
    mechanism = ThresholdMechanism(1, 0.5, 1e-7)
    noisy = mechanism.release(np.array([1000, 0, 1, 500]), source)
    assert abs(noisy[0] - 1000) < 20
    assert abs(noisy[3] - 500) < 20
    assert list(noisy[1:3]) == [0, 0]


def test_categories_are_the_frequent_values(tmp_path: Path) -> None:
    columns = [
        {"name": "ward", "type": "categorical", "learn": {"most": 2}, "missing_codes": ["?"]},
        {"name": "sex", "type": "categorical", "matching": "loose", "learn": True},
        {"name": "note", "type": "categorical", "learn": True},
    ]
    frame = pd.DataFrame(
        {
            "ward": ["B", "A", "C", "?"] * 1000 + ["Z"],
            "sex": [" Female", "MALE", "male", "female"] * 1000 + ["x" * 200],
            "note": [f"text {i}" for i in range(4001)],
        }
    )
    frame = pd.concat([frame, frame.iloc[:4]], ignore_index=True)
    frame.loc[frame["ward"] == "C", "ward"] = ["C"] * 500 + [None] * (sum(frame["ward"] == "C") - 500)
    learned = learn_schema(planned(columns, "1"), iter([frame]), SeededRandom(0), tmp_path)
    assert learned.column("ward").categories == ("A", "B")
    assert learned.column("sex").categories == ("female", "male")
    assert [column.name for column in learned] == ["ward", "sex"]
    assert learned.learned is not None
    assert learned.learned.left_out == ("note",)
    assert "(to be learned)" not in learned.to_yaml()
    assert {column.origin for column in learned} == {"learned privately"}
    assert Schema.from_text(learned.to_yaml()).hash == learned.hash


def test_bounds_become_quantiles_and_many_equal_values_one_cut(tmp_path: Path) -> None:
    values = np.concatenate([np.zeros(55_000), np.random.default_rng(0).uniform(10, 20, 45_000), [1e6]])
    plan = planned([real("x", 0, 1e6, {"bins": 10, "bounds": True})])
    column = learn_schema(plan, iter([pd.DataFrame({"x": values})]), SeededRandom(0), tmp_path).column("x")
    assert column.lower == 0
    assert 19 < column.upper <= 21
    assert column.edges[0] == 0
    assert all(10 < cut < 20 for cut in column.edges[1:])


def test_values_that_are_too_many_to_count_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"c": [f"private {i}" for i in range(20_001)]})
    with pytest.raises(IngestError, match="'c' has more than 20,000 different values") as refused:
        learn_schema(
            planned([{"name": "c", "type": "categorical", "learn": True}]), iter([frame]), SeededRandom(0), tmp_path
        )
    assert "private" not in str(refused.value)


def test_without_a_delta_no_categories_are_learned() -> None:
    with pytest.raises(BudgetError, match="has none: list the categories of 'c'"):
        planned([{"name": "c", "type": "categorical", "learn": True}], cap=PURE)
    assert planned([real("x", 0, 1)], cap=PURE).loss.delta == 0


def test_categories_are_learned_only_as_the_budget_is_opened() -> None:
    given = LearnableSchema.from_mapping(
        {"name": "w", "max_rows": 9, "columns": [{"name": "c", "type": "categorical", "learn": True}, real("x", 0, 1)]}
    )
    with pytest.raises(BudgetError, match=r"only when a budget is opened.*list the categories of 'c'"):
        plan_learning(given, Decimal(1), CAP, opens=False)


@for_each(
    ("column", "said"),
    [
        ({"name": "b", "type": "boolean", "learn": True}, "only integer, real and categorical"),
        ({"name": "o", "type": "categorical", "categories": ["a"], "learn": True}, "leave out 'categories'"),
        ({"name": "x", "type": "real", "lower": 0, "upper": 1, "bins": 3, "learn": True}, "leave out 'bins'"),
        ({"name": "x", "type": "real", "lower": 0, "upper": 1, "learn": {"bins": 1}}, "'learn' of 'x'"),
        ({"name": "x", "type": "real", "lower": 0, "upper": 1, "learn": 7}, "'learn' of 'x'"),
    ],
)
def test_what_cannot_be_learned_is_refused(column: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        planned([column])


def test_parts_of_a_plan_sum_to_at_most_the_whole() -> None:
    plan = planned([real("x", 0, 1), real("y", 0, 1), {"name": "c", "type": "categorical", "learn": True}], "0.0371")
    assert len(plan.questions) * plan.share <= plan.loss.rho
    assert plan.share_of_delta <= plan.threshold_delta == CAP.threshold_delta
    assert (plan.loss.epsilon, plan.loss.rho) == (
        plan.asked,
        largest_rho(plan.asked, plan.loss.delta - plan.threshold_delta),
    )
    assert replace(CAP, aside=plan.threshold_delta).accepts(total_loss([plan.loss]))
    assert LearningPlan.read(plan.schema, json.loads(json.dumps(plan.written()))) == plan


def test_what_is_set_aside_is_missing_to_all_runs() -> None:
    whole, less = CAP, replace(CAP, aside=CAP.delta / 100)
    assert less.rho == PrivacyFilter(CAP.epsilon, CAP.delta * 99 / 100).rho < whole.rho
    assert less.run_delta < whole.run_delta
    assert not replace(CAP, aside=CAP.delta).accepts(run_loss(Decimal("0.1"), CAP.run_delta, Decimal("0.001")))
    assert replace(CAP, aside=2 * CAP.delta).accepts(pure_loss(Decimal(5)))


def test_the_plainest_number_of_a_range() -> None:
    assert facts.plainest(-0.3, 2.7) == 0
    assert facts.plainest(3, 4) == 4
    assert facts.plainest(139.87, 140.26) == 140
    assert facts.plainest(0.0123, 0.0129) == 0.0125 or facts.plainest(0.0123, 0.0129) == 0.0129
    assert facts.plainest(0, 0.002, closed=True) == 0
    assert facts.plainest(-7.9, -7.2) == -7.2 or -7.9 < facts.plainest(-7.9, -7.2) <= -7.2


def test_facts_of_summaries_are_those_of_one_row_per_person(tmp_path: Path) -> None:
    columns = [
        {**real("visits", 0, 50, {"bins": 2}, "integer"), "summary": "count"},
        {**real("dose", 0, 1000, {"bins": 2}), "summary": "mean"},
        {"name": "ward", "type": "categorical", "learn": True, "summary": "last"},
    ]
    unit = {"column": "who", "order_by": "day"}
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(3000), 3),
            "day": np.tile([1, 2, 3], 3000),
            "dose": np.tile([10.0, 20, 60], 3000),
            "ward": np.tile(["first", "second", "third"], 3000),
        }
    )
    plan = planned(columns, "1", privacy_unit=unit)
    learned = learn_schema(plan, iter([frame]), SeededRandom(0), tmp_path)
    assert learned.column("ward").categories == ("third",)
    assert learned.column("visits").edges in {(2,), (3,)}
    assert 29 < learned.column("dose").edges[0] < 31
