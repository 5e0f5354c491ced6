"""The lattice holds every clause within its limits, each once, and none that says no more."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language import cells
from dpcore.models.ilp.language import lattice as module
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.factors import Limits
from dpcore.models.ilp.language.generality import Generality
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from tests.oracles.clauses import Body, Wanted, holds
from tests.support.rows import for_each
from tests.support.tables.small_relations import (
    EVERYTHING_OF_ROWS,
    TARGET,
    VALUES,
    body_of,
    ordered_schema,
    small_schema,
)

LITERALS = (
    "sex = f",
    "age <= 30",
    "age > 30",
    "age > 60",
    "drug: any",
    "drug: kind = a",
    "drug: kind in ab",
    "drug: dose > low",
    "test: ward = yes",
)


def lattice_of(schema: Schema | None = None, **chosen: object) -> Lattice:
    parameters = ILPParameters.model_validate({"literals": LITERALS, **chosen})
    return build_lattice(schema or small_schema(), TARGET, parameters)


@for_each("negation", [False, True])
@for_each("variables", [0, 1, 2, 3])
def test_clauses_stand_in_lexicographic_order_each_once(variables: int, negation: bool) -> None:
    """The position of a clause is what is drawn: it must not depend on how clauses are listed."""
    clauses = lattice_of(max_literals=4, max_variables=variables, negation=negation).clauses.tolist()
    assert clauses == sorted(clauses)
    assert len({tuple(clause) for clause in clauses}) == len(clauses)


def size(body: Body) -> int:
    return len(body.conditions) + sum(max(1, len(item.conditions)) for item in body.wanted)


def every_case() -> list[tuple[dict, dict[str, list[dict]]]]:
    """A person of each kind with rows of up to two kinds in each table."""
    people = [{"sex": sex, "age": age} for sex, age in product(VALUES["sex"], VALUES["age"])]
    drugs = [{"kind": kind, "dose": dose} for kind, dose in product(VALUES["kind"], ("low", "mid"))]
    tests = [{"value": 1.0, "ward": ward} for ward in VALUES["ward"]]

    def some(rows: list[dict]) -> list[list[dict]]:
        return [list(chosen) for count in range(3) for chosen in combinations(rows, count)]

    return [
        (person, {"drug": own, "test": asked})
        for person, own, asked in product(people[::2], some(drugs), some(tests)[:3])
    ] + [(person, {"drug": [drugs[0]], "test": []}) for person in people]


def meaning(body: Body, cases: list) -> bytes:
    return bytes(holds(body, person, rows) for person, rows in cases)


def all_bodies(longest: int, variables: int, *, negation: bool) -> list[Body]:
    """Every conjunction of the literals, however foolish, written down without the lattice."""
    own = [("sex", frozenset({"f"})), ("age", frozenset({12})), ("age", frozenset({45, 77})), ("age", frozenset({77}))]
    rows = {
        "drug": [("kind", frozenset({"a"})), ("kind", frozenset({"a", "b"})), ("dose", frozenset({"mid", "high"}))],
        "test": [("ward", frozenset({"yes"}))],
    }
    wanted = [Wanted("drug", (), False)]
    for table, conditions in rows.items():
        for count in range(1, longest + 1):
            wanted += [Wanted(table, chosen, False) for chosen in combinations(conditions, count)]
    if negation:
        wanted += [Wanted("drug", (), True)]
        wanted += [Wanted(table, (one,), True) for table, all_ in rows.items() for one in all_]
    bodies = [
        Body(about, asked)
        for about_count in range(longest + 1)
        for about in combinations(own, about_count)
        for count in range(variables + 1)
        for asked in combinations(wanted, count)
    ]
    return [body for body in bodies if size(body) <= longest]


@pytest.mark.crossed
@pytest.mark.parametrize("negation", [False, True])
@pytest.mark.parametrize(("longest", "variables"), [(1, 1), (2, 2), (3, 1), (3, 2)])
def test_every_meaning_is_in_the_lattice_as_short_as_can_be(longest: int, variables: int, negation: bool) -> None:
    cases = every_case()
    lattice = lattice_of(max_literals=longest, max_variables=variables, negation=negation)
    own: dict[bytes, int] = {}
    for place in range(len(lattice)):
        body = body_of(lattice.clause(place), small_schema())
        assert size(body) == lattice.lengths[place] == lattice.clause(place).length
        what = meaning(body, cases)
        own[what] = min(own.get(what, 99), size(body))
    never = bytes(len(cases))
    shortest: dict[bytes, int] = {}
    for body in all_bodies(longest, variables, negation=negation):
        what = meaning(body, cases)
        shortest[what] = min(shortest.get(what, 99), size(body))
    shortest.pop(never, None)
    own.pop(never, None)
    assert own == shortest


@for_each("quantifiers", [None, EVERYTHING_OF_ROWS])
@for_each("negation", [False, True])
def test_no_clause_is_written_twice(negation: bool, quantifiers: tuple[str, ...] | None) -> None:
    schema, longest = (ordered_schema(), 3) if quantifiers else (None, 4)
    lattice = lattice_of(schema, max_literals=longest, max_variables=3, negation=negation, quantifiers=quantifiers)
    written = set()
    for place in range(len(lattice)):
        clause = lattice.clause(place)
        written.add(
            (
                frozenset(clause.atoms),
                frozenset(
                    (item.table, frozenset(item.atoms), item.negated, item.form, frozenset(item.later))
                    for item in clause.variables
                ),
            )
        )
    assert len(written) == len(lattice)
    assert lattice.clause(0) == Clause()


@pytest.mark.parametrize("negation", [False, True])
def test_what_follows_from_something_said_of_rows_is_not_said_again(negation: bool) -> None:
    """By what conditions contain: each variable is needed, as somebody shows who satisfies all others."""
    schema = ordered_schema()
    lattice = lattice_of(
        schema,
        literals=("drug: any", "drug: kind = a", "drug: kind in ab", "drug: dose > low"),
        max_literals=3,
        max_variables=2,
        negation=negation,
        quantifiers=EVERYTHING_OF_ROWS,
    )
    rows = [{"kind": kind, "dose": dose} for kind, dose in product("abc", VALUES["dose"])]
    cases = [({}, {"drug": list(own), "test": []}) for count in range(4) for own in product(rows, repeat=count)]
    meanings: dict[Variable, int] = {}

    def who(variable: Variable) -> int:
        if variable not in meanings:
            holding = meaning(body_of(Clause(variables=(variable,)), schema), cases)
            meanings[variable] = int.from_bytes(holding, "big")
        return meanings[variable]

    for place in range(len(lattice)):
        variables = lattice.clause(place).variables
        if len(variables) == 2:
            one, other = map(who, variables)
            assert one & ~other, variables
            assert other & ~one, variables


def test_clauses_are_as_long_as_what_they_say() -> None:
    schema = ordered_schema()
    lattice = lattice_of(schema, max_literals=4, negation=True, quantifiers=EVERYTHING_OF_ROWS)
    said = set()
    for place in range(0, len(lattice), 3):
        clause = lattice.clause(place)
        assert lattice.lengths[place] == clause.length
        quantifiers = {variable.form.quantifier for variable in clause.variables} - {"exists"}
        assert (lattice.strata[place] % module.STRATA == 0) == (not quantifiers)
        assert lattice.strata[place] // module.STRATA == clause.length
        said |= quantifiers
    assert said == {"counts", "order", "alike"}


def test_twelve_atoms_of_one_row_make_the_whole_lattice() -> None:
    columns = [{"name": f"c{i}", "type": "categorical", "categories": ["u", "v"]} for i in range(12)]
    schema = Schema.from_mapping(
        {
            "name": "rows",
            "max_rows": 10,
            "privacy_unit": {"column": "id"},
            "columns": [{"name": "y", "type": "boolean"}],
            "children": [{"name": "row", "max_rows_per_person": 2, "columns": columns}],
        }
    )
    literals = tuple(f"row: c{i} = u" for i in range(12))
    chosen = ILPParameters(literals=literals, max_literals=4, max_variables=1)
    assert len(build_lattice(schema, "y", chosen)) == sum(comb(12, size) for size in range(5))


def test_too_large_a_lattice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module._lattice.cache_clear()
    monkeypatch.setattr(module, "MOST_CLAUSES", 100)
    with pytest.raises(RequestError, match="and at most 100 can be"):
        lattice_of(max_literals=4)
    monkeypatch.setattr(cells, "MOST_FACTORS", 40)
    module._lattice.cache_clear()
    with pytest.raises(RequestError, match="fewer conditions"):
        lattice_of(max_literals=4)
    module._lattice.cache_clear()


def test_conjunctions_that_nobody_satisfies_or_one_condition_says_are_left_out() -> None:
    column = {
        "name": "c",
        "type": "ordinal",
        "categories": ["a", "b", "c"],
        "groups": {"ab": ["a", "b"], "bc": ["b", "c"], "ac": ["a", "c"]},
    }
    schema = Schema.from_mapping({"name": "one", "max_rows": 9, "columns": [column, {"name": "y", "type": "boolean"}]})
    lattice = build_lattice(schema, "y", ILPParameters(max_literals=3, max_variables=0))
    assert lattice.lengths.max() == 1
    assert len(lattice) == 1 + 6, "three categories, and all pairs of them"


def test_too_many_conditions_are_refused_at_once() -> None:
    columns = [{"name": f"c{i}", "type": "integer", "lower": 0, "upper": 10**6, "bins": 250} for i in range(6)]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 9, "columns": columns})
    with pytest.raises(RequestError, match="at most 2,000"):
        build_lattice(schema, "c5", ILPParameters(max_literals=1))


def test_the_bound_on_the_size_is_one() -> None:
    for longest, variables in product((1, 2, 3, 4), (0, 1, 2, 3)):
        lattice = lattice_of(max_literals=longest, max_variables=variables, negation=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MOST_CLAUSES", len(lattice) - 1)
            with pytest.raises(RequestError):
                module._check_size(lattice.factors, Limits(longest, variables, negation=True))


def implied(general: Body, special: Body) -> bool:
    """Whether each condition of one body is among those of another, variable by variable."""
    return set(general.conditions) <= set(special.conditions) and all(
        any(
            item.table == other.table
            and item.negated == other.negated
            and set(item.conditions) <= set(other.conditions)
            and (not item.negated or item.conditions == other.conditions)
            for other in special.wanted
        )
        for item in general.wanted
    )


@pytest.mark.parametrize("negation", [False, True])
def test_parents_of_what_is_said_of_rows_are_more_general(negation: bool) -> None:
    schema = ordered_schema()
    lattice = lattice_of(schema, max_literals=3, negation=negation, quantifiers=EVERYTHING_OF_ROWS)
    generality, cases = Generality(lattice), every_case()
    for place in range(1, len(lattice), 5):
        parents = generality.parents(place)
        assert parents
        covered = np.frombuffer(meaning(body_of(lattice.clause(place), schema), cases), dtype=np.uint8)
        for parent in parents:
            assert lattice.lengths[parent] < lattice.lengths[place]
            general = body_of(lattice.clause(parent), schema)
            assert np.all(covered <= np.frombuffer(meaning(general, cases), dtype=np.uint8))


@pytest.mark.parametrize("negation", [False, True])
def test_parents_are_more_general_by_one_condition(negation: bool) -> None:
    schema = small_schema()
    lattice = lattice_of(max_literals=3, max_variables=2, negation=negation)
    generality, cases = Generality(lattice), every_case()
    for place in range(len(lattice)):
        body = body_of(lattice.clause(place), schema)
        parents = generality.parents(place)
        assert (len(parents) > 0) == (lattice.lengths[place] > 0)
        covered = np.frombuffer(meaning(body, cases), dtype=np.uint8)
        for parent in parents:
            general = body_of(lattice.clause(parent), schema)
            assert lattice.lengths[parent] < lattice.lengths[place]
            assert implied(general, body)
            assert np.all(covered <= np.frombuffer(meaning(general, cases), dtype=np.uint8))


def test_deleting_a_clause_deletes_all_that_add_conditions_to_it() -> None:
    schema = small_schema()
    lattice = lattice_of(max_literals=3, max_variables=2)
    bodies = [body_of(lattice.clause(place), schema) for place in range(len(lattice))]
    for gone in np.flatnonzero(lattice.lengths == 1):
        generality = Generality(lattice)
        assert len(generality.left_at(0)) == 1
        assert gone in generality.left_at(1)
        generality.delete(np.array([gone]))
        for level in (2, 3):
            here = np.flatnonzero(lattice.lengths == level)
            wanted = bodies[gone].wanted
            if wanted and not wanted[0].conditions:
                # A row need exist for any condition on it; but adding one replaces that.
                continue
            left = [place for place in here if not implied(bodies[gone], bodies[place])]
            assert generality.left_at(level).tolist() == left
