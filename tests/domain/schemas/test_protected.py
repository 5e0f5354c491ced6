"""Records that are about several things: what the promise leaves out is told from the schema's names."""

from __future__ import annotations

from dpcore.domain.schemas.protected import shared_things
from dpcore.domain.schemas.schema import Schema
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward


def schema(entity: str, key: str | None) -> Schema:
    return ward({"name": "y", "type": "boolean"}, name="any", max_rows=10, entity=entity, privacy_unit={"column": key})


@for_each(
    ("entity", "key"), [("pair", "id"), ("pair of molecules", None), ("Interaction", "id"), ("record", "edge_id")]
)
def test_pairs_are_told_of(entity: str, key: str | None) -> None:
    told = shared_things(schema(entity, key))
    assert told.startswith(f"Protected is each {entity} alone.")


@for_each(("entity", "key"), [("patient", "patient_id"), ("person", None), ("repair", "gamete")])
def test_people_are_not(entity: str, key: str | None) -> None:
    assert shared_things(schema(entity, key)) == ""
