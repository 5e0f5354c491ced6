"""Relational rules beside other methods on public data: all tables take part."""

from __future__ import annotations

from decimal import Decimal

from dpcore.models.comparison import compare_methods
from tests.support.tables.small_relations import TARGET, draw_people, small_schema


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
