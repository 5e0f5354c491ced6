"""Relational rules over tables whose rows belong to rows of other tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dpcore.data.building.ingest import ingest
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.nested_conditions import NestedCondition
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.learning.coverage import clause_vector
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.fulfilled import fulfilling_rows
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_words import clause_words
from dpcore.privacy.randomness import SeededRandom
from tests.support.results.small_theories import theory_of
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "died", "type": "boolean", "target": True},
    name="clinic",
    entity="patient",
    max_rows=64,
    privacy_unit={"column": "who"},
    children=[
        {
            "name": "stay",
            "row_key": "stay_id",
            "max_rows_per_person": 3,
            "columns": [{"name": "kind", "type": "categorical", "categories": ["planned", "emergency"]}],
        },
        {
            "name": "lab",
            "parent": "stay",
            "parent_key": "of",
            "max_rows_per_person": 9,
            "columns": [{"name": "value", "type": "integer", "lower": 0, "upper": 9, "edges": [4]}],
        },
    ],
)
HIGH = Atom(table="lab", column="value", cells=(1,))
WITH_HIGH = NestedCondition(table="stay", inner="lab", atoms=(HIGH,))


def test_rows_that_belong_to_no_row_count_neither_in_learning_nor_in_prediction() -> None:
    main = pd.DataFrame({"who": [1, 2, 3], "died": ["yes", "no", "no"]})
    tables = {
        "stay": pd.DataFrame({"who": [1, 2], "stay_id": [7, 7], "kind": "planned"}),
        "lab": pd.DataFrame({"who": [1, 2, 3, 2], "of": [7, 8, 7, None], "value": 9}),
    }
    clause = Clause(variables=(Variable(table="lab", atoms=(HIGH,)),))
    [part] = ingest([main], SCHEMA, SeededRandom(0), {name: [frame] for name, frame in tables.items()}).partitions
    assert sum(int(word).bit_count() for word in clause_vector(part, clause)) == 1
    model = theory_of(clause)
    assert model.first_clause({"patient": main, **tables}, SCHEMA).tolist() == [0, 1, 1]
    # Where keys of rows are not given, as of one case, nobody knows what belongs to what.
    unlinked = {"stay": tables["stay"].drop(columns="stay_id"), "lab": tables["lab"]}
    assert model.first_clause({"patient": main, **unlinked}, SCHEMA).tolist() == [0, 0, 0]


def test_clauses_ask_of_a_row_what_belongs_to_it() -> None:
    """The same people by learning, by prediction and by what a visitor tells of a case."""
    main = pd.DataFrame({"who": [1, 2, 3, 4], "died": ["yes", "no", "no", "no"]})
    stays = {"who": [1, 1, 2, 2, 3], "stay_id": [7, 8, 7, 8, 7], "kind": ["emergency", "planned"] * 2 + ["emergency"]}
    labs = {"who": [1, 2, 3, 4, 3], "of": [7, 8, 9, 7, 7], "value": [9, 9, 9, 9, 0]}
    tables = {"stay": pd.DataFrame(stays), "lab": pd.DataFrame(labs)}
    emergency = Atom(table="stay", column="kind", cells=(1,))
    clause = Clause(variables=(Variable(table="stay", atoms=(emergency, WITH_HIGH)),))
    [part] = ingest([main], SCHEMA, SeededRandom(0), {name: [frame] for name, frame in tables.items()}).partitions
    assert sum(int(word).bit_count() for word in clause_vector(part, clause)) == 1
    model = theory_of(clause)
    assert model.first_clause({"patient": main, **tables}, SCHEMA).tolist() == [0, 1, 1, 1]
    for who, groups in ((1, (0,)), (2, (1,)), (3, (1,)), (4, (1,))):
        own = {name: frame[frame["who"] == who] for name, frame in {"patient": main, **tables}.items()}
        assert model.possible_groups(own, SCHEMA) == groups
    assert ILPModel.model_validate_json(model.model_dump_json()) == model


def test_which_rows_belong_to_which_must_be_told() -> None:
    main = pd.DataFrame({"who": [1]})
    tables = {"stay": pd.DataFrame({"who": [1], "kind": "emergency"}), "lab": pd.DataFrame({"who": [1], "value": 9})}
    model = theory_of(Clause(variables=(Variable(table="stay", atoms=(WITH_HIGH,), least=2),)))
    with pytest.raises(RequestError, match="the one table needs the column 'of' and the other one 'stay_id'"):
        model.first_clause({"patient": main, **tables}, SCHEMA)
    nobody = {"patient": main, "stay": tables["stay"], "lab": tables["lab"].iloc[:0]}
    assert model.first_clause(nobody, SCHEMA).tolist() == [1]


@for_each(
    ("stays", "labs", "groups"),
    [
        ([("1", "emergency")], [("1", 9)], (0,)),
        ([("1", "emergency")], [("2", 9)], (1,)),
        ([("1", "emergency"), ("2", "planned")], [("2", 9)], (1,)),
        ([("1", "emergency")], [(None, 9)], (0, 1)),
        ([("1", "emergency"), ("2", "planned")], [(None, 9)], (0, 1)),
        ([(None, "emergency")], [("1", 9)], (0, 1)),
        ([("1", None)], [("1", 9)], (0, 1)),
        ([("1", "emergency")], [("1", None)], (0, 1)),
        ([("1", "planned")], [(None, None)], (1,)),
        ([("1", "emergency"), ("1", "planned")], [("1", 9)], (0,)),
        ([("1", "planned"), ("1", "emergency")], [("1", 9)], (1,)),
    ],
)
def test_a_case_of_which_not_all_is_known(stays: list[Any], labs: list[Any], groups: tuple[int, ...]) -> None:
    emergency = Atom(table="stay", column="kind", cells=(1,))
    model = theory_of(Clause(variables=(Variable(table="stay", atoms=(emergency, WITH_HIGH)),)))
    tables = {
        "patient": pd.DataFrame({"who": [1]}),
        "stay": pd.DataFrame(stays, columns=["stay_id", "kind"], dtype=object),
        "lab": pd.DataFrame(labs, columns=["of", "value"], dtype=object),
    }
    assert model.possible_groups(tables, SCHEMA) == groups


LOW = Atom(table="lab", column="value", cells=(0,))
EMERGENCY = Atom(table="stay", column="kind", cells=(1,))
IN_ORDER = SCHEMA.model_copy(
    update={
        "children": (SCHEMA.children[0].model_copy(update={"keep": "first", "order_by": "day"}), *SCHEMA.children[1:])
    }
)
TWO_HIGH = WITH_HIGH.model_copy(update={"least": 2})


@for_each(
    "variables",
    [
        [Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH))],
        [Variable(table="stay", atoms=(TWO_HIGH,)), Variable(table="lab", atoms=(LOW,), least=3)],
        [Variable(table="stay", atoms=(WITH_HIGH,), least=2)],
        [Variable(table="stay", atoms=(WITH_HIGH,), later=(EMERGENCY, TWO_HIGH))],
        [Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH), negated=True), Variable(table="lab", atoms=(HIGH,))],
        [Variable(table="lab", atoms=(HIGH,), least=9)],
        [Variable(table="stay", atoms=(TWO_HIGH,), negated=True), Variable(table="lab", atoms=(HIGH,), least=3)],
    ],
)
def test_made_up_cases_have_rows_that_belong_to_rows(variables: list[Variable]) -> None:
    clause = Clause(variables=tuple(variables))
    model, found = theory_of(clause), 0
    for seed in range(8):
        tables = made_up_case(clause, IN_ORDER, "died", seed)
        if tables:
            assert model.first_clause(tables, IN_ORDER).tolist() == [0]
            assert set(tables["lab"]["of"]) <= set(tables["stay"]["stay_id"])
            assert len(tables["stay"]) <= 3
            assert len(tables["lab"]) <= 9
            found += 1
    assert found > 4


def test_rows_that_belong_to_the_row_meant_are_marked() -> None:
    tables = {
        "stay": pd.DataFrame({"stay_id": [1, 2], "kind": ["emergency", "planned"]}),
        "lab": pd.DataFrame({"of": [1, 2, 1, 9], "value": [9, 9, 0, 9]}),
    }
    clause = Clause(variables=(Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH)),))
    found = fulfilling_rows(clause, SCHEMA, tables)
    assert found["stay"].tolist() == [True, False]
    assert found["lab"].tolist() == [True, False, False, False]
    none = Clause(variables=(Variable(table="stay", atoms=(EMERGENCY, TWO_HIGH)),))
    assert not any(marks.any() for marks in fulfilling_rows(none, SCHEMA, tables).values())


@for_each(
    ("variables", "words"),
    [
        (
            [Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH))],
            "a stay that has kind = emergency and a lab with value > 4",
        ),
        ([Variable(table="stay", atoms=(TWO_HIGH,))], "a stay that has at least 2 lab rows, each with value > 4"),
        (
            [Variable(table="stay", atoms=(EMERGENCY, NestedCondition(table="stay", inner="lab")), least=2)],
            "at least 2 stay rows, each with kind = emergency and at least one lab",
        ),
        (
            [Variable(table="stay", atoms=(TWO_HIGH,), negated=True)],
            "no stay that has at least 2 lab rows, each with value > 4",
        ),
        (
            [Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH)), Variable(table="lab", atoms=(HIGH,), least=2)],
            "a stay that has kind = emergency and a lab with value > 4, and at least 2 lab rows, each with value > 4 "
            "(lab rows may be the same)",
        ),
        (
            [Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH)), Variable(table="lab", atoms=(LOW,))],
            "a stay that has kind = emergency and a lab with value > 4, and a lab that has value <= 4",
        ),
    ],
)
def test_nested_rows_in_words(variables: list[Variable], words: str) -> None:
    assert clause_words(Clause(variables=tuple(variables)), SCHEMA) == f"with {words}"


def test_nested_rows_in_prolog() -> None:
    writer = Prolog(SCHEMA)
    clause = Clause(variables=(Variable(table="stay", atoms=(EMERGENCY, WITH_HIGH)),))
    assert writer.clause(clause, "died", "yes") == (
        "died(P, yes) :-\n    has_stay(P, A), kind(A, emergency), stay_has_lab(A, B), value_above(B, 4)."
    )
    clause = Clause(variables=(Variable(table="stay", atoms=(TWO_HIGH,), least=2),))
    assert writer.body(clause)[1:] == [
        [
            "aggregate_all(count, (has_stay(P, A), once((aggregate_all(count, (stay_has_lab(A, B), value_above(B, 4)), "
            "C), C >= 2))), D)",
            "D >= 2",
        ]
    ]
