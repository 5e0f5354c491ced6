"""Methods side by side, on public data only."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.comparison import compare_methods, compare_redescriptions
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_relations import TARGET, draw_people, small_schema
from tests.support.tables.small_tables import ward

METHODS = [("tree", {"method": "lookahead", "blocks": (2,)}), ("rule_list", {"pool_size": 500})]


def schema(holdout=30):
    return ward(
        {"name": "a", "type": "boolean"},
        {"name": "b", "type": "categorical", "categories": ["x", "y", "z"]},
        {"name": "c", "type": "boolean", "target": True},
        name="planted",
        max_rows=2000,
        holdout_percent=holdout,
    )


def frame(rows=2000):
    generator = np.random.default_rng(4)
    a, b = generator.integers(0, 2, rows), generator.choice(["x", "y", "z"], rows)
    c = np.where(generator.random(rows) < 0.9, (a == 1) & (b == "x"), generator.random(rows) < 0.5)
    return pd.DataFrame({"a": a, "b": b, "c": c.astype(int)})


def table(holdout=30):
    return ingest(frame_chunks(frame()), schema(holdout), SeededRandom(0))


def test_more_budget_predicts_better_and_progress_counts_every_fit():
    told = []
    scores = compare_methods(table(), "c", METHODS, [Decimal("0.0001"), Decimal(10)], 5, lambda *at: told.append(at))
    assert told == [(done, 20) for done in range(1, 21)]
    assert [(s.method, s.epsilon) for s in scores] == [
        (0, Decimal("0.0001")),
        (0, Decimal(10)),
        (1, Decimal("0.0001")),
        (1, Decimal(10)),
    ]
    for low, high in (scores[:2], scores[2:]):
        assert high.mean > 0.9
        assert high.mean > low.mean
        assert low.low <= low.mean <= low.high


@for_each(
    ("methods", "epsilons", "repeats", "sentence"),
    [
        ([], ["1"], 1, "Choose methods"),
        (METHODS, ["1"], 400, "Choose methods"),
        ([("none", {})], ["1"], 1, "no algorithm"),
        ([("tree", {"depth": -1})], ["1"], 1, "depth"),
    ],
)
def test_what_cannot_be_compared_is_refused(methods, epsilons, repeats, sentence):
    with pytest.raises(RequestError, match=sentence):
        compare_methods(table(), "c", methods, [Decimal(e) for e in epsilons], repeats, lambda *_: None)


def test_a_refusal_names_the_method_and_the_epsilon():
    methods = [METHODS[1], ("tree", {"method": "diffp_id3"})]
    epsilons = [Decimal(1), Decimal("0.000000003")]
    with pytest.raises(RequestError, match=r"^Tree diffp_id3, ε = 0.0001: This epsilon is too"):
        compare_methods(table(), "c", methods[1:], epsilons, 1, lambda *_: None)


def numbers() -> PrivateTable:
    columns = [
        {"name": "age", "type": "integer", "lower": 0, "upper": 99, "bins": 4, "target": True},
        {"name": "ill", "type": "boolean"},
    ]
    schema = Schema.from_mapping({"name": "n", "max_rows": 500, "columns": columns})
    age = np.arange(400) % 100
    people = pd.DataFrame({"age": age.astype(float), "ill": np.where(age < 50, "yes", "no")})
    people.loc[::7, "age"] = np.nan
    return ingest(frame_chunks(people), schema, SeededRandom(0))


def test_numbers_are_compared_by_their_error():
    """Ages are spread evenly: a constant is off by 28.9, two halves by 14.4."""
    weak, strong = compare_methods(
        numbers(), "age", [("ebm", {})], [Decimal("0.001"), Decimal(100)], 2, lambda *_: None
    )
    assert strong.measure == weak.measure == "RMSE"
    assert strong.mean == pytest.approx(14.4, rel=0.15)
    assert weak.mean > strong.mean
    assert strong.low <= strong.mean <= strong.high


def test_what_is_a_number_for_some_is_not_compared_with_its_groups():
    mixed = [("ebm", {}), METHODS[1]]
    with pytest.raises(RequestError, match="compare them apart"):
        compare_methods(numbers(), "age", mixed, [Decimal(1)], 1, lambda *_: None)
    [groups] = compare_methods(numbers(), "age", METHODS[1:], [Decimal(1)], 1, lambda *_: None)
    assert groups.measure == "accuracy"
    assert 0 <= groups.mean <= 1


def test_ranking_is_measured_by_the_area_under_the_curve():
    scores = compare_methods(table(), "c", METHODS[:1], [Decimal("0.0001"), Decimal(10)], 3, lambda *_: None, "AUC")
    weak, strong = scores
    assert {score.measure for score in scores} == {"AUC"}
    assert 0 <= weak.low <= weak.mean <= weak.high <= 1
    assert strong.mean > 0.8


def test_redescriptions_are_judged_by_the_exact_records():
    sides = {"left": ["a", "c"], "right": ["b"], "starts": 2}
    told = []
    scores = compare_redescriptions(table(), [sides], [Decimal("0.001"), Decimal(20)], 2, lambda *at: told.append(at))
    assert [score.measure for score in scores] == ["Jaccard index"] * 2
    assert told[-1] == (4, 4)
    assert all(0 <= score.low <= score.mean <= score.high <= 1 for score in scores)
    assert scores[0].people == len(table().public_frame("all"))
    with pytest.raises(RequestError, match="1 to"):
        compare_redescriptions(table(), [], [Decimal(1)], 1, lambda *_: None)


def test_rules_over_several_tables_are_compared_by_all_of_them() -> None:
    """Whoever takes a high dose of a is ill: a tree sees the main table only."""
    schema = small_schema(max_rows=2000, holdout_percent=30)
    crowd = draw_people(1500, 1, schema)
    for person, rows in zip(crowd.people, crowd.rows, strict=True):
        high = any(row == {"kind": "a", "dose": "high"} for row in rows["drug"])
        person[TARGET] = "yes" if high else "no"
    rules = {"max_literals": 2, "clauses": 1}
    told: list[tuple[int, int]] = []
    scores = compare_methods(
        crowd.table(schema), TARGET, [("ilp", rules), ("tree", {})], [Decimal(5)], 1, lambda *done: told.append(done)
    )
    assert scores[0].mean == 1
    assert scores[1].mean < 0.9
    assert told == [(1, 2), (2, 2)]
