"""What is said of rows beyond that one exists: read, predicted with, asked of unknown values, made up, chosen."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.data.packing import unpack
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language import richness
from dpcore.models.ilp.language.atoms import bottom_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import STRATA, build_lattice
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.language.richness import quantifiers_for
from dpcore.models.ilp.learning.coverage import clause_vector
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.ilp_words import clause_words
from dpcore.models.registry import get_learner
from tests.oracles.clauses import holds
from tests.support.results.small_theories import theory_of
from tests.support.rows import for_each
from tests.support.tables.small_relations import (
    EVERYTHING_OF_ROWS,
    SCHEMA,
    TARGET,
    VALUES,
    body_of,
    draw_people,
    ordered_schema,
    small_schema,
)

ORDERED = ordered_schema()
ATOMS = {atom.text(ORDERED): atom for atom in bottom_atoms(ORDERED, TARGET)}
RICH = ILPParameters(max_literals=3, max_variables=2, negation=True, quantifiers=EVERYTHING_OF_ROWS)


def said(*texts: str, table: str = "drug", later: str = "", **form: Any) -> Clause:
    atoms = tuple(ATOMS[text] for text in texts)
    after = (ATOMS[later],) if later else ()
    return Clause(variables=(Variable(table=table, atoms=atoms, later=after, **form),))


def test_one_row_may_do_for_what_two_variables_ask() -> None:
    clause = Clause(variables=said("drug: kind = a", least=2).variables + said("drug: dose = low").variables)
    assert clause_words(clause, ORDERED).endswith("has dose = low (drug rows may be the same)")
    apart = Clause(variables=said("drug: kind = a", least=2).variables + said("drug: kind = b").variables)
    assert clause_words(apart, ORDERED).endswith("that has kind = b")


@for_each(
    ("clause", "goals"),
    [
        (
            said("drug: kind = a", least=2),
            "patient(P),\n    aggregate_all(count, (has_drug(P, A), kind(A, a)), B), B >= 2",
        ),
        (said("drug: kind = a", row="last"), "last_drug(P, A), kind(A, a)"),
        (
            said("drug: kind = a", later="drug: kind = b"),
            "has_drug(P, A), kind(A, a), has_drug(P, B), kind(B, b), drug_before(A, B)",
        ),
        (said(alike="kind"), "has_drug(P, A), has_drug(P, B), A \\== B, kind(A, C), kind(B, C)"),
        (
            said("drug: kind = a", least=2, negated=True),
            "patient(P),\n    \\+ (aggregate_all(count, (has_drug(P, A), kind(A, a)), B), B >= 2)",
        ),
    ],
)
def test_what_is_said_of_rows_in_prolog(clause: Clause, goals: str) -> None:
    assert Prolog(ORDERED).clause(clause, TARGET, "yes") == f"ill(P, yes) :-\n    {goals}."


def test_variables_of_clauses_that_must_not_hold_are_their_own() -> None:
    """With a name that is taken, Prolog would ask about the row found already."""
    text = Prolog(ORDERED).clause(said("drug: kind = a"), TARGET, "yes", [said("drug: kind = b")])
    assert text == "ill(P, yes) :-\n    has_drug(P, A), kind(A, a),\n    \\+ (has_drug(P, B), kind(B, b))."


@pytest.mark.parametrize("seed", [1, 2])
def test_people_are_predicted_as_they_were_learned(seed: int) -> None:
    """From files, in any order of their rows, as from slots of what was taken in."""
    crowd, generator = draw_people(60, seed), np.random.default_rng(seed)
    [partition] = crowd.table(ORDERED).partitions
    frames = {name: frame.sample(frac=1, random_state=seed) for name, frame in crowd.frames(ORDERED).items()}
    lattice = build_lattice(ORDERED, TARGET, RICH)
    rich = np.flatnonzero(lattice.strata % STRATA)
    for place in generator.choice(rich, 60, replace=False):
        clause = lattice.clause(int(place))
        learned = unpack(clause_vector(partition, clause), 70).sum()
        assert (theory_of(clause).first_clause(frames, ORDERED) == 0).sum() == learned, clause


@pytest.mark.crossed
@pytest.mark.parametrize("order", ["day", "value"], ids=["not stored", "stored in bins"])
@pytest.mark.parametrize("keep", ["first", "last"])
def test_public_rows_are_in_the_order_in_which_they_were_kept(keep: str, order: str) -> None:
    """Also rows that came at once, or that no stored number tells apart; so true counts are those without noise."""
    tests = SCHEMA["children"][1] | {"keep": keep, "order_by": order}
    schema = small_schema(children=[SCHEMA["children"][0], tests])
    table = draw_people(60, 4, schema).table(schema)
    [partition], tables = table.partitions, table.public_tables()
    lattice = build_lattice(schema, TARGET, ILPParameters(max_literals=3, max_variables=1, quantifiers=("order",)))
    members = partition.class_members(TARGET, "all")
    rich = np.flatnonzero(lattice.strata % STRATA)
    for place in np.random.default_rng(1).choice(rich, 40, replace=False):
        clause = lattice.clause(int(place))
        vector = clause_vector(partition, clause)
        learned = tuple(int(np.bitwise_count(vector & one).sum()) for one in members)
        assert theory_of(clause).count_records(tables, schema, TARGET)[0] == learned, clause


def test_rows_without_order_are_those_that_ingestion_keeps_last() -> None:
    last, first = said("drug: kind = a", row="last"), said("test: ward = yes", table="test", row="first")
    frames = {
        "patient": pd.DataFrame({"id": [1]}),
        "drug": pd.DataFrame({"id": [1, 1], "day": [None, 3], "kind": ["b", "a"]}),
        "test": pd.DataFrame({"patient_id": [1, 1], "day": ["?", 3], "ward": ["no", "yes"]}),
    }
    for clause in (last, first):
        assert theory_of(clause).first_clause(frames, ORDERED)[0] == 0, clause


def unknown(rows: list[dict[str, Any]], hidden: list[tuple[int, str]]) -> pd.DataFrame:
    shown = [
        {name: None if (i, name) in hidden else value for name, value in row.items()} for i, row in enumerate(rows)
    ]
    return pd.DataFrame(shown, columns=list(rows[0]), dtype=object)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_what_may_be_where_values_are_unknown(seed: int) -> None:
    """Against every way to fill them in: what is said to be sure is, and what can be is not ruled out."""
    generator = np.random.default_rng(seed)
    lattice = build_lattice(
        ORDERED, TARGET, ILPParameters(max_literals=3, max_variables=1, quantifiers=EVERYTHING_OF_ROWS, negation=True)
    )
    drugs = [
        {"kind": VALUES["kind"][generator.integers(3)], "dose": VALUES["dose"][generator.integers(3)]} for _ in range(3)
    ]
    hidden = [(0, "kind"), (1, "dose"), (2, "kind")][: 1 + seed]
    case = {"patient": pd.DataFrame({"sex": ["f"], "age": [45]}), "drug": unknown(drugs, hidden)}
    both = 0
    for place in np.flatnonzero(lattice.strata % STRATA)[seed::4]:
        clause = lattice.clause(int(place))
        if clause.variables[0].table != "drug":
            continue
        found = theory_of(clause).possible_groups(case, ORDERED)
        surely, possibly = 1 not in found, 0 in found
        truths = set()
        for values in product(*(VALUES[name] for _, name in hidden)):
            rows = [dict(row) for row in drugs]
            for (i, name), value in zip(hidden, values, strict=True):
                rows[i][name] = value
            truths.add(holds(body_of(clause, ORDERED), {"sex": "f", "age": 45}, {"drug": rows, "test": []}))
        assert not surely or truths == {True}, clause
        assert possibly or truths == {False}, clause
        both += surely + (not possibly)
    assert both > 20, "much is known"


def test_rows_whose_order_is_unknown_may_stand_in_any() -> None:
    drugs = [{"kind": "a", "dose": "low"}, {"kind": "b", "dose": "low"}]
    for clause in (said("drug: kind = a", row="last"), said("drug: kind = a", later="drug: kind = b")):
        tables = {"patient": pd.DataFrame({"sex": ["f"]}), "drug": pd.DataFrame(drugs)}
        in_order = theory_of(clause).possible_groups(tables, ORDERED)
        told = {
            theory_of(clause).possible_groups(tables | {"drug": pd.DataFrame(drugs).assign(day=days)}, ORDERED)
            for days in permutations((1, 2))
        }
        assert in_order in told
        assert told == {(0,), (1,)}
        open_order = pd.DataFrame(drugs).assign(day=pd.Series([None, 2], dtype=object))
        assert theory_of(clause).possible_groups(tables | {"drug": open_order}, ORDERED) == (0, 1)


@pytest.mark.parametrize("stored", [False, True])
def test_made_up_cases_satisfy_what_is_said_of_rows(stored: bool) -> None:
    """Also where the column of the order is one of the table's own."""
    schema = ORDERED
    if stored:
        day = {"name": "day", "type": "integer", "lower": 0, "upper": 30, "edges": [10, 20]}
        drug = SCHEMA["children"][0]
        drug = drug | {"keep": "last", "order_by": "day", "columns": [*drug["columns"], day]}
        schema = small_schema(children=[drug, SCHEMA["children"][1]])
    lattice = build_lattice(schema, TARGET, RICH)
    rich = np.flatnonzero(lattice.strata % STRATA)
    made = 0
    for place in np.random.default_rng(1).choice(rich, 150, replace=False):
        clause = lattice.clause(int(place))
        case = made_up_case(clause, schema, TARGET, seed=int(place))
        if case:
            made += 1
            assert all(len(case[child.name]) <= child.max_rows_per_person for child in schema.children)
            assert theory_of(clause).first_clause(case, schema)[0] == 0, clause
    assert made > 135


def plan(schema: Schema = ORDERED, epsilon: float = 1, **chosen: Any) -> Any:
    return get_learner("ilp").plan(schema, TARGET, Decimal(str(epsilon)), chosen).parameters.quantifiers


def test_more_is_said_of_rows_where_there_is_room() -> None:
    """By public facts alone: N times epsilon, the method, the size of the language."""
    large = ordered_schema(max_rows=5000)
    assert plan(large) == ("exists", "counts", "order", "alike")
    assert plan(ORDERED) == ("exists",), "seventy people are not enough"
    assert plan(large, epsilon=0.05) == ("exists",)
    assert plan(large, method="naive") == plan(large, method="relevance_aware") == ("exists",)
    assert plan(small_schema(max_rows=5000)) == ("exists", "counts", "alike"), "no table has an order"
    assert plan(large, epsilon=0.05, quantifiers=("counts",)) == ("counts",), "asked for"
    assert plan(large, max_variables=0) == ("exists",)


def test_a_language_that_grew_too_large_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(richness, "PLENTY", 1000)
    assert quantifiers_for(ordered_schema(max_rows=5000), TARGET, ILPParameters(), 1.0, 5000) == ("exists",)
