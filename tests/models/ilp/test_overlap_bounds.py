"""How many clauses one person can satisfy: never more than said, and as many where it matters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.clause import Variable
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from tests.support.rows import for_each
from tests.support.tables.small_relations import (
    EVERYTHING_OF_ROWS,
    TARGET,
    VALUES,
    People,
    counts_of,
    draw_people,
    ordered_schema,
    people,
    small_schema,
)
from tests.support.tables.small_relations import SCHEMA as FIELDS

SCHEMA = small_schema()
#: Somebody whose rows keep every table from being empty.
STAYS = draw_people(1, 0)


def lattice_of(schema: Schema = SCHEMA, **chosen: Any) -> Lattice:
    return build_lattice(schema, TARGET, ILPParameters.model_validate(chosen))


ORDERED = ordered_schema()
LATTICES = {
    "exists": (SCHEMA, lattice_of(max_literals=3, negation=True)),
    "all": (ORDERED, lattice_of(ORDERED, max_literals=3, negation=True, quantifiers=EVERYTHING_OF_ROWS)),
}
LATTICE = LATTICES["exists"][1]


def satisfied(person: dict, rows: dict, lattice: Lattice = LATTICE, schema: Schema = SCHEMA):
    """Positions of the clauses that hold for one person, as the learner counts them."""

    def counts(crowd: People) -> np.ndarray:
        return counts_of(crowd, lattice, schema).sum(axis=1)

    whole = counts(People([*STAYS.people, person], [*STAYS.rows, {"drug": [], "test": []} | rows]))
    return np.flatnonzero(whole - counts(STAYS))


def rows_per_person(drugs: int, tests: int) -> Schema:
    drug, test = FIELDS["children"]
    return small_schema(children=[drug | {"max_rows_per_person": drugs}, test | {"max_rows_per_person": tests}])


@pytest.mark.parametrize("language", list(LATTICES))
@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(crowd=people(most=1), seed=st.integers(0, 2**32 - 1), others=st.floats(0, 1))
def test_nobody_satisfies_more_clauses_than_are_noised_for(
    language: str, crowd: People, seed: int, others: float
) -> None:
    """Against the worst choice of clauses, those that hold and some of the others."""
    schema, lattice = LATTICES[language]
    held = satisfied(crowd.people[0], crowd.rows[0], lattice, schema)
    generator = np.random.default_rng(seed)
    chosen = generator.random(len(lattice)) < others * generator.random()
    chosen[generator.permutation(held)[: generator.integers(1, len(held) + 1)]] = True
    positions = np.flatnonzero(chosen)
    most = overlap_bounds(lattice).most(positions)
    assert np.isin(held, positions).sum() <= most <= len(positions)
    for length in range(4):
        level = np.flatnonzero(lattice.lengths == length)
        assert np.isin(held, level).sum() <= overlap_bounds(lattice).most(level) <= len(level)


@for_each(("least", "most"), [(2, 2), (3, 1), (4, 1)])
def test_rows_that_are_counted_are_shared_out(least: int, most: int) -> None:
    """Attained: of four drugs, two kinds can be there twice, and one three or four times."""
    literals = [f"drug: kind = {kind}" for kind in "abc"]
    lattice = lattice_of(literals=literals, max_literals=2, quantifiers=["counts"], most_counted=4)
    level = np.array(
        [place for place in range(len(lattice)) if [item.least for item in lattice.clause(place).variables] == [least]]
    )
    assert len(level) == 3
    assert overlap_bounds(lattice).most(level) == most
    person = {"sex": "f", "age": 45, TARGET: "yes"}
    kinds = "aabb" if least == 2 else "aaaa"
    rows = {"drug": [{"kind": kind, "dose": "low"} for kind in kinds]}
    assert np.isin(satisfied(person, rows, lattice), level).sum() == most


def test_pairs_of_rows_that_share_a_value_are_shared_out() -> None:
    """Attained: of four drugs of one dose, two may be of kind a and two of kind b."""
    literals = [*(f"drug: kind = {kind}" for kind in "abc"), "drug: dose = low"]
    lattice = lattice_of(literals=literals, max_literals=3, quantifiers=["alike"])
    level = clauses_of_one_variable(lattice, lambda item: item.alike == "dose" and item.atoms[0].column == "kind")
    assert len(level) == 3
    assert overlap_bounds(lattice).most(level) == 2
    rows = {"drug": [{"kind": kind, "dose": "low"} for kind in "aabb"]}
    assert np.isin(satisfied({"sex": "f", "age": 45, TARGET: "yes"}, rows, lattice), level).sum() == 2


def test_rows_come_after_each_other_in_all_their_pairs() -> None:
    """Attained: of three drugs of kinds a, b and c, in this order, three pairs come one after the other."""
    drug, test = FIELDS["children"]
    in_order = drug | {"max_rows_per_person": 3, "keep": "last", "order_by": "day"}
    schema = small_schema(children=[in_order, test])
    literals = [f"drug: kind = {kind}" for kind in "abc"]
    lattice = lattice_of(schema, literals=literals, max_literals=3, quantifiers=["order"])
    level = clauses_of_one_variable(lattice, lambda item: bool(item.later))
    assert len(level) == 6
    assert overlap_bounds(lattice).most(level) == 3
    rows = {"drug": [{"kind": kind, "dose": "low"} for kind in "abc"]}
    assert np.isin(satisfied({"sex": "f", "age": 45, TARGET: "yes"}, rows, lattice, schema), level).sum() == 3


def clauses_of_one_variable(lattice: Lattice, wanted: Callable[[Variable], bool]) -> np.ndarray:
    """Positions of the clauses that say one thing of rows, and that a thing which is wanted."""
    said = [lattice.clause(place).variables for place in range(len(lattice))]
    return np.array([place for place, items in enumerate(said) if len(items) == 1 and wanted(items[0])])


@for_each(("length", "most"), [(0, 1), (1, 3), (2, 3), (3, 1)])
def test_conditions_on_the_person_exclude_each_other(length: int, most: int) -> None:
    """Attained: a woman of 45 meets one of two sexes, two of four sides of edges, and so on."""
    lattice = lattice_of(max_literals=3, max_variables=0)
    level = np.flatnonzero(lattice.lengths == length)
    assert overlap_bounds(lattice).most(level) == most
    everybody = [
        np.isin(satisfied({"sex": sex, "age": age, TARGET: "yes"}, {}, lattice), level).sum()
        for sex, age in product(VALUES["sex"], VALUES["age"])
    ]
    assert max(everybody) == most
    assert len(level) > most or length == 0


@for_each(("drugs", "most"), [(1, 2), (2, 4), (4, 4)])
def test_rows_meet_more_conditions_the_more_there_may_be(drugs: int, most: int) -> None:
    """One row of kind a is of the group ab, too; with a second one of kind c, three hold."""
    schema, texts = rows_per_person(drugs, 1), ("a", "b", "c")
    literals = [*(f"drug: kind = {kind}" for kind in texts), "drug: kind in ab"]
    lattice = lattice_of(schema, literals=literals, max_literals=1)
    level = np.flatnonzero(lattice.lengths == 1)
    assert overlap_bounds(lattice).most(level) == most
    person = {"sex": "f", "age": 45, TARGET: "yes"}
    rows = {"drug": [{"kind": kind, "dose": "low"} for kind in texts[:drugs]]}
    held = np.isin(satisfied(person, rows, lattice, schema), level).sum()
    assert held == {1: 2, 2: 3, 4: 4}[drugs] <= most
    assert held > 2 or drugs == 1, "the bound of a single row would be exceeded"


def test_negated_conditions_may_all_hold() -> None:
    """Nobody's rows: all that must not exist does not."""
    lattice = lattice_of(max_literals=1, negation=True)
    level = np.flatnonzero(lattice.lengths == 1)
    negated = [p for p in level if any(v.negated for v in lattice.clause(int(p)).variables)]
    assert overlap_bounds(lattice).most(np.array(negated)) == len(negated) > 5
    person = {"sex": "f", "age": 45, TARGET: "yes"}
    assert np.isin(negated, satisfied(person, {}, lattice)).all()
