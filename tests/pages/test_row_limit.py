"""What a row limit far above the number of rows does is told where it is chosen, and before a run."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.released.plan import RunPlan
from pages.components.kit.texts import text
from pages.components.run.told_rows import limit_far_above
from pages.components.visitor import access
from tests.support.page_tools import SCHEMA, add_ward, button, checked, open_page, submit, ward, words


def _limited(max_rows: int) -> Schema:
    return Schema.from_mapping({**SCHEMA.model_dump(mode="json", exclude_none=True), "max_rows": max_rows})


def _tree(max_rows: int) -> RunPlan:
    """The plan of a tree that asks about five columns, each of eight ranges."""
    numbers = [{"name": f"x{place}", "type": "integer", "lower": 0, "upper": 40, "bins": 8} for place in range(5)]
    columns = [{"name": "died", "type": "boolean"}, *numbers]
    schema = Schema.from_mapping({"name": "w", "max_rows": max_rows, "columns": columns})
    return LEARNERS["tree"].plan(schema, "died", Decimal(1), {})


def test_the_help_on_row_limits_tells_what_plans_do() -> None:
    few, many, told = _tree(300), _tree(100_000), text("max_rows")
    assert f"up to {2 ** sum(many.parameters.blocks)} groups with a limit of 100,000" in told
    assert f"up to {2 ** sum(few.parameters.blocks)}, with half of the noise on each count, with a limit of 300" in told
    assert many.count_margin() == pytest.approx(2 * few.count_margin(), abs=1)


def test_a_review_says_what_follows_from_a_limit_far_above_the_rows() -> None:
    service = access.installation()
    dataset_id = service.add_dataset(ward(300), _limited(20_000), budget=Decimal(3)).id
    assert not limit_far_above(dataset_id, _limited(20_000)), "nobody told how many rows there are"
    submit(dataset_id, "summaries", "1", "")
    app = open_page("tree")
    button(app, "Review and spend").click().run()
    told = words(checked(app))
    assert "the row limit is 20,000" in told
    assert "which may be more than so few can answer" in told


def test_a_limit_near_the_rows_is_not_spoken_of() -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "1", "")
    assert not limit_far_above(dataset_id, SCHEMA)
