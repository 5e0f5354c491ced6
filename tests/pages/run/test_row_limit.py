"""What a row limit far above the number of rows does is told where it is chosen, and before a run."""

from __future__ import annotations

from decimal import Decimal

from dpcore.domain.schemas.schema import Schema
from dpcore.service.advice import limit_far_above
from pages.components.visitor import access
from tests.support.pages.page_tools import open_page, press, words
from tests.support.pages.ward_runs import SCHEMA, submit, ward
from tests.support.texts import lacking


def _limited(max_rows: int) -> Schema:
    return Schema.from_mapping({**SCHEMA.model_dump(mode="json", exclude_none=True), "max_rows": max_rows})


def test_a_review_says_what_follows_from_a_limit_far_above_the_rows() -> None:
    service = access.installation()
    dataset_id = service.add_dataset(ward(300), _limited(20_000), budget=Decimal(3)).id
    assert not limit_far_above(service.releases(dataset_id), _limited(20_000)), "nobody told how many rows there are"
    submit(dataset_id, "summaries", "1", "")
    app = open_page("tree")
    told = words(press(app, "Review and spend"))
    assert not lacking(told, "the row limit is 20,000", "which may be more than so few can answer")
