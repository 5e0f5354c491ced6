"""Coverage on packed bits equals the naive count of every clause, and Prolog's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.packing import unpack
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.learning import coverage
from dpcore.models.ilp.learning.coverage import check_effort, clause_vector, count_clauses, fold_factors
from tests.oracles.clauses import holds
from tests.support.results.prolog_programs import covered, needs_prolog, program
from tests.support.rows import for_each
from tests.support.tables.small_relations import (
    EVERYTHING_OF_ROWS,
    SCHEMA,
    TARGET,
    VALUES,
    People,
    body_of,
    counts_of,
    draw_people,
    ordered_schema,
    people,
    small_schema,
)

WIDE = ILPParameters(max_literals=3, max_variables=2, negation=True)
RICH = WIDE.model_copy(update={"quantifiers": EVERYTHING_OF_ROWS})


def expected(crowd: People, clause: Clause, schema: Schema) -> tuple[int, int]:
    body = body_of(clause, schema)
    covered = [
        person[TARGET] for person, rows in zip(crowd.people, crowd.rows, strict=True) if holds(body, person, rows)
    ]
    return covered.count("no"), covered.count("yes")


@pytest.mark.parametrize(("schema", "language"), [(small_schema(), WIDE), (ordered_schema(), RICH)])
@settings(max_examples=15, deadline=None)
@given(crowd=people(), seed=st.integers(0, 2**32 - 1))
def test_coverage_equals_the_naive_oracle(schema: Schema, language: ILPParameters, crowd: People, seed: int) -> None:
    lattice = build_lattice(schema, TARGET, language)
    counts = counts_of(crowd, lattice, schema)
    chosen = np.random.default_rng(seed).choice(len(lattice), 150, replace=False)
    for place in chosen:
        clause = lattice.clause(int(place))
        assert tuple(counts[place]) == expected(crowd, clause, schema), clause


def test_every_clause_of_a_lattice_is_counted_over_several_words() -> None:
    schema = ordered_schema(max_rows=200)
    crowd = draw_people(150, 5)
    literals = ("sex = f", "drug: kind = a", "drug: dose > low", "test: any", "test: value <= 5")
    chosen = ILPParameters(
        literals=literals, max_literals=3, max_variables=3, negation=True, quantifiers=EVERYTHING_OF_ROWS
    )
    lattice = build_lattice(schema, TARGET, chosen)
    counts = counts_of(crowd, lattice, schema)
    for place in range(len(lattice)):
        assert tuple(counts[place]) == expected(crowd, lattice.clause(place), schema)


def test_conditions_on_one_row_are_not_shared_by_two() -> None:
    """A patient with a low dose of a and a high dose of b takes no high dose of a."""
    schema = small_schema()
    person = {"sex": "f", "age": 12, TARGET: "yes"}
    apart = [{"kind": "a", "dose": "low"}, {"kind": "b", "dose": "high"}]
    together = [{"kind": "a", "dose": "high"}]
    crowd = People(
        [person, person], [{"drug": rows, "test": [{"value": 1.0, "ward": "no"}]} for rows in (apart, together)]
    )
    a = Atom(table="drug", column="kind", cells=(0,))
    high = Atom(table="drug", column="dose", cells=(2,))
    one = Clause(variables=(Variable(table="drug", atoms=(a, high)),))
    two = Clause(variables=(Variable(table="drug", atoms=(a,)), Variable(table="drug", atoms=(high,))))
    [partition] = crowd.table(schema).partitions
    assert unpack(clause_vector(partition, one), 70).sum() == 1
    assert unpack(clause_vector(partition, two), 70).sum() == 2


def test_a_clause_covers_the_same_people_alone_and_in_its_lattice() -> None:
    schema, crowd = ordered_schema(), draw_people(60, 3)
    lattice = build_lattice(schema, TARGET, RICH)
    [partition] = crowd.table(schema).partitions
    members = partition.class_members(TARGET, "all")
    counts = count_clauses(lattice, fold_factors(partition, lattice), members)
    for place in range(0, len(lattice), 97):
        vector = clause_vector(partition, lattice.clause(place))
        assert list(counts[place]) == [int(np.bitwise_count(vector & one).sum()) for one in members]


@for_each("form", [{"row": "first"}, {"row": "last"}, {"least": 2}, {"alike": "kind"}])
def test_places_without_a_row_are_no_rows(form: dict) -> None:
    """Their codes are zero, as those of the first category are: nobody may be covered for that."""
    keep = form.get("row", "last")
    drug = SCHEMA["children"][0] | {"keep": keep, "order_by": "day"}
    schema = small_schema(children=[drug, SCHEMA["children"][1]])
    person = {"sex": "f", "age": 12, TARGET: "yes"}
    tests = [{"value": 1.0, "ward": "no"}]
    rows = [[], [{"kind": "a", "dose": "low"}], [{"kind": "a", "dose": "low"}, {"kind": "a", "dose": "mid"}]]
    crowd = People([person] * 3, [{"drug": own, "test": tests} for own in rows])
    a = Atom(table="drug", column="kind", cells=(0,))
    [partition] = crowd.table(schema).partitions
    asked = [Variable(table="drug", atoms=atoms, **form) for atoms in ((a,), ())]
    least = 1 if "row" in form else 2
    for variable in asked:
        covered = unpack(clause_vector(partition, Clause(variables=(variable,))), 70)
        assert covered.sum() == sum(len(own) >= least for own in rows)


def test_the_first_slot_holds_the_row_that_order_names() -> None:
    """Four of six drugs are kept, the last: the first of these is not the first of all."""
    schema = ordered_schema()
    person = {"sex": "f", "age": 12, TARGET: "yes"}
    drugs = [{"kind": kind, "dose": "low"} for kind in "aabbcb"]
    crowd = People([person], [{"drug": drugs, "test": [{"value": 1.0, "ward": "no"}]}])
    [partition] = crowd.table(schema).partitions

    def covers(**said: object) -> bool:
        variable = Variable(table="drug", **said)
        return bool(np.bitwise_count(clause_vector(partition, Clause(variables=(variable,)))).sum())

    a, b, c = (Atom(table="drug", column="kind", cells=(cell,)) for cell in range(3))
    assert covers(atoms=(b,), row="last")
    assert not covers(atoms=(c,), row="last")
    assert covers(atoms=(b,), later=(c,))
    assert covers(atoms=(c,), later=(b,))
    assert not covers(atoms=(c,), later=(c,))
    assert not covers(atoms=(a,)), "not kept"
    assert covers(atoms=(b,), least=3)
    assert not covers(atoms=(b,), least=4)


def test_two_rows_that_lack_a_value_do_not_share_it() -> None:
    schema = small_schema()
    person = {"sex": "f", "age": 12, TARGET: "yes"}
    tests = [{"value": 1.0, "ward": "no"}]
    pairs = [(None, None), ("zzz", "zzz"), ("a", "a"), ("a", "b")]
    crowd = People(
        [person] * 4, [{"drug": [{"kind": kind, "dose": "low"} for kind in own], "test": tests} for own in pairs]
    )
    [partition] = crowd.table(schema).partitions
    shared = clause_vector(partition, Clause(variables=(Variable(table="drug", alike="kind"),)))
    assert unpack(shared, 70).sum() == 1


def test_nobody_is_covered_where_there_is_no_record() -> None:
    """Not to have a row must not hold for places that no person fills."""
    schema, crowd = small_schema(), draw_people(3, 1)
    none = Clause(variables=(Variable(table="drug", negated=True),))
    assert unpack(clause_vector(crowd.table(schema).partitions[0], none), 70).sum() <= 3


def test_missing_and_other_values_satisfy_nothing_but_their_own_conditions() -> None:
    schema = small_schema()
    crowd = People(
        [{"sex": None, "age": None, TARGET: "yes"}],
        [{"drug": [{"kind": "zzz", "dose": None}], "test": [{"value": None, "ward": "no"}]}],
    )
    usual = build_lattice(schema, TARGET, ILPParameters(max_literals=1))
    counts = counts_of(crowd, usual)
    texts = [
        (*usual.clause(place).atoms, *(a for v in usual.clause(place).variables for a in v.atoms))
        for place in np.flatnonzero(counts[:, 1])
    ]
    assert {atom.condition(schema) for atoms in texts for atom in atoms} == {"ward = no"}
    asked = build_lattice(schema, TARGET, ILPParameters(max_literals=1, reserved_literals=True))
    assert counts_of(crowd, asked)[:, 1].sum() == counts[:, 1].sum() + 5


def test_effort_beyond_reason_is_refused_before_anything_is_read() -> None:
    huge = small_schema(max_rows=100_000_000)
    longer = WIDE.model_copy(update={"max_literals": 4, "reserved_literals": True})
    lattice = build_lattice(small_schema(), TARGET, longer)
    with pytest.raises(RequestError, match="memory"):
        check_effort(huge, lattice.atoms, lattice.factors, len(lattice))
    few = build_lattice(small_schema(), TARGET, ILPParameters(max_literals=1))
    with pytest.raises(RequestError, match="hours"):
        check_effort(small_schema(), few.atoms, few.factors, coverage.WORK_LIMIT)
    check_effort(small_schema(max_rows=100_000), lattice.atoms, lattice.factors, len(lattice))


def facts(crowd: People, schema: Schema) -> list[str]:
    """Facts, and what the predicates mean."""
    lines = [":- style_check(-singleton).", ":- style_check(-discontiguous)."]
    names = sorted({*VALUES, "has_drug", "has_test", "last_drug", "first_test", "drug_before", "test_before"})
    lines += [f":- dynamic {name}/2." for name in names]
    for table in (schema, *schema.children):
        for column in table.columns:
            name = column.name
            if isinstance(column, NumericColumn):
                lines += [f"{name}_up_to(X, B) :- {name}(X, V), V =< B.", f"{name}_above(X, B) :- {name}(X, V), V > B."]
            elif column.ordered:
                order = ", ".join(column.categories)
                lines += [
                    f"{name}_rank(V, R) :- nth0(R, [{order}], V).",
                    f"{name}_up_to(X, B) :- {name}(X, V), {name}_rank(V, R), {name}_rank(B, S), R =< S.",
                    f"{name}_above(X, B) :- {name}(X, V), {name}_rank(V, R), {name}_rank(B, S), R > S.",
                ]
            for group in getattr(column, "groups", ()):
                members = ", ".join(group.members)
                lines.append(f"{name}_in(X, {group.name}) :- {name}(X, V), member(V, [{members}]).")
    for number, (person, rows) in enumerate(zip(crowd.people, crowd.rows, strict=True)):
        lines.append(f"patient(p{number}).")
        lines += [f"{name}(p{number}, {value})." for name, value in person.items()]
        for table, content in rows.items():
            for place, row in enumerate(content):
                own = f"{table}_{number}_{place}"
                lines.append(f"has_{table}(p{number}, {own}).")
                lines += [f"{name}({own}, {value})." for name, value in row.items()]
                lines += [f"{table}_before({table}_{number}_{earlier}, {own})." for earlier in range(place)]
        lines += [f"last_drug(p{number}, drug_{number}_{len(rows['drug']) - 1})."] if rows["drug"] else []
        lines += [f"first_test(p{number}, test_{number}_0)."] if rows["test"] else []
    return lines


@needs_prolog
@pytest.mark.parametrize("seed", [1, 2])
def test_prolog_finds_the_same_people(seed: int, tmp_path: Path) -> None:
    schema, crowd = (small_schema(), ordered_schema())[seed - 1], draw_people(20, seed)
    lattice = build_lattice(schema, TARGET, (WIDE, RICH)[seed - 1])
    generator = np.random.default_rng(seed)
    places = sorted(int(place) for place in generator.choice(len(lattice), 400, replace=False))
    found = covered(program(facts(crowd, schema), schema, lattice, places), tmp_path)
    counts = counts_of(crowd, lattice, schema).sum(axis=1)
    assert len(found) > 100
    assert {place: int(counts[place]) for place in places if counts[place]} == found
