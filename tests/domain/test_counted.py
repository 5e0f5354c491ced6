"""People are counted where each has one row, and records where one of them may have several."""

from __future__ import annotations

from typing import Any

from dpcore.domain.counted import PEOPLE, RECORDS, Noun, counted
from dpcore.domain.schemas.schema import Schema
from tests.support.rows import for_each

_SEVERAL = {"privacy_unit": {"column": "id", "max_rows_per_person": 2}}


def schema_with(**more: Any) -> Schema:
    columns = [{"name": "ill", "type": "boolean"}]
    return Schema.from_mapping({"name": "ward", "max_rows": 100, "columns": columns} | more)


@for_each(
    ("more", "noun"),
    [
        ({}, PEOPLE),
        ({"privacy_unit": {"column": "id"}}, PEOPLE),
        (_SEVERAL, RECORDS),
        ({"entity": "train"}, RECORDS),
        ({"entity": "stay", **_SEVERAL}, RECORDS),
    ],
)
def test_what_is_counted_follows_from_the_schema(more: dict[str, Any], noun: Noun) -> None:
    assert counted(schema_with(**more)) is noun
