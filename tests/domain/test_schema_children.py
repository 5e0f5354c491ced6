"""Schemas with child tables: what may be declared, and that older schemas stay what they were."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from tests.support.rows import for_each

CAR: dict[str, Any] = {
    "name": "car",
    "max_rows_per_person": 6,
    "columns": [
        {"name": "length", "type": "categorical", "categories": ["short", "long"]},
        {"name": "wheels", "type": "integer", "lower": 2, "upper": 3, "edges": [2]},
    ],
}
TRAIN: dict[str, Any] = {
    "name": "trains",
    "entity": "train",
    "max_rows": 1000,
    "privacy_unit": {"column": "train_id"},
    "columns": [{"name": "direction", "type": "boolean", "target": True}],
    "children": [CAR],
}
PLAIN = {"name": "plain", "max_rows": 9, "columns": [{"name": "a", "type": "boolean"}]}
#: SHA-256 of ``PLAIN``, taken when schemas had no child tables.
PLAIN_HASH_INPUT = '{"columns": [{"name": "a", "type": "boolean"}], "max_rows": 9, "name": "plain", "version": 1}'


def with_car(**fields: Any) -> dict[str, Any]:
    return TRAIN | {"children": [CAR | fields]}


def column(**fields: Any) -> dict[str, Any]:
    listed = {"name": "roof", "type": "categorical", "categories": ["open", "flat", "peaked"]}
    return with_car(columns=[listed | fields])


@pytest.mark.parametrize("form", ["to_yaml", "to_json"])
def test_a_schema_with_children_outlives_its_written_form(form: str) -> None:
    schema = Schema.from_mapping(column(groups={"closed": ["flat", "peaked"]}, modes=["member"]))
    again = Schema.from_text(getattr(schema, form)())
    assert again == schema
    assert again.hash == schema.hash
    roof = again.children[0].column("roof")
    assert [(group.name, group.members) for group in roof.groups] == [("closed", ("flat", "peaked"))]
    assert roof.asked_by == ("member",)


def test_the_hash_of_a_schema_without_children_is_what_it_was() -> None:
    import hashlib

    expected = hashlib.sha256(PLAIN_HASH_INPUT.encode()).hexdigest()
    assert Schema.from_mapping(PLAIN).hash == expected
    assert Schema.from_mapping(TRAIN).hash != Schema.from_mapping(TRAIN | {"children": []}).hash


def test_every_part_of_a_child_counts_for_the_hash() -> None:
    variants = [
        TRAIN,
        with_car(max_rows_per_person=5),
        with_car(key="of_train"),
        with_car(name="waggon"),
        with_car(columns=CAR["columns"][:1]),
        TRAIN | {"entity": "engine"},
    ]
    assert len({Schema.from_mapping(variant).hash for variant in variants}) == len(variants)


@for_each(
    ("fields", "modes"),
    [
        ({}, ("equal",)),
        ({"groups": {"closed": ["flat", "peaked"]}}, ("equal", "member")),
        ({"type": "ordinal"}, ("threshold", "equal")),
        ({"modes": []}, ()),
        ({"type": "ordinal", "modes": ["threshold"]}, ("threshold",)),
    ],
)
def test_a_column_says_how_rules_may_ask_about_it(fields: dict[str, Any], modes: tuple) -> None:
    assert Schema.from_mapping(column(**fields)).children[0].columns[0].asked_by == modes


@for_each(
    ("content", "sentence"),
    [
        (with_car(name="train"), "distinct names"),
        (TRAIN | {"children": [CAR, CAR]}, "distinct names"),
        (TRAIN | {"privacy_unit": {}}, "must name the key"),
        (TRAIN | {"privacy_unit": {"column": "train_id", "max_rows_per_person": 2}}, "one row per person"),
        (with_car(max_rows_per_person=0), "max_rows_per_person"),
        (with_car(max_rows_per_person=1001), "max_rows_per_person"),
        ({**with_car(max_rows_per_person=1000), "max_rows": 1_000_000}, "must not exceed"),
        (with_car(key="length"), "cannot also be a stored column"),
        (TRAIN | {"privacy_unit": {"column": "length"}}, "cannot also be a stored column"),
        (with_car(columns=[]), "at least one"),
        (with_car(columns=CAR["columns"][:1] * 2), "must be distinct"),
        (column(target=True), "cannot be a target"),
        (column(view="left"), "side of redescriptions"),
        (column(modes=["member"]), "cannot ask 'member'"),
        (column(modes=["threshold"]), "cannot ask 'threshold'"),
        (column(groups={"closed": ["flat", "glass"]}), "holds 'glass'"),
        (column(groups={"closed": ["flat"]}), "at least two categories"),
        (column(groups={"flat": ["peaked"]}), "a name of its own"),
        (column(groups={"closed": []}), "at least one"),
        (with_car(colour="red"), "not known here"),
    ],
)
def test_what_cannot_be_declared_gets_a_sentence(content: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_mapping(content)
    assert sentence in str(caught.value)


LOAD: dict[str, Any] = {
    "name": "load",
    "parent": "car",
    "parent_key": "car_no",
    "max_rows_per_person": 9,
    "columns": [{"name": "shape", "type": "categorical", "categories": ["circle", "square"]}],
}


def with_load(car: dict[str, Any] | None = None, **load: Any) -> dict[str, Any]:
    return TRAIN | {"children": [CAR | {"row_key": "car_no"} | (car or {}), LOAD | load]}


def test_rows_of_a_table_may_belong_to_rows_of_another() -> None:
    schema = Schema.from_mapping(with_load())
    car, load = schema.children
    assert schema.parent_of(load) is car
    assert schema.parent_of(car) is None
    assert car.file_columns == ("length", "wheels", "car_no")
    assert load.file_columns == ("shape", "car_no")
    for text in (schema.to_yaml(), schema.to_json()):
        assert Schema.from_text(text) == schema
        assert "parent_key" in text


@for_each(
    ("content", "sentence"),
    [
        (with_load(parent_key=None), "say with 'parent_key' which column names them"),
        (with_load(parent=None), "say with 'parent' of which"),
        (with_load(parent="wagon"), "'wagon', which is no further table: there are 'car'"),
        (with_load(parent="train"), "'train', which is no further table"),
        (with_load(parent="load"), "belongs to rows that belong to its own"),
        (with_load({"parent": "load", "parent_key": "of"}, row_key="no"), "belongs to rows that belong to its own"),
        (with_load({"row_key": None}), "say there with 'row_key' what tells them apart"),
        (with_load(parent_key="train_id"), "'train_id' names the person in 'load'"),
        (with_load(parent_key="shape"), "'shape' tells rows of 'load' apart"),
        (with_load({"row_key": "length"}), "'length' tells rows of 'car' apart"),
        (with_load(from_rows=True), "belong to the person: leave out 'parent'"),
    ],
)
def test_links_that_cannot_be_are_told(content: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_mapping(content)
    assert sentence in str(caught.value)


def test_one_table_may_lie_between_a_person_and_rows_not_two() -> None:
    third = LOAD | {"name": "label", "parent": "load", "parent_key": "load_no"}
    content = TRAIN | {"children": [CAR | {"row_key": "car_no"}, LOAD | {"row_key": "load_no"}, third]}
    with pytest.raises(SchemaError, match="one table may lie between a person and rows, not two"):
        Schema.from_mapping(content)
