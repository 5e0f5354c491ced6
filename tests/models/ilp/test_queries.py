"""Neighbours: one person with all rows comes or goes. How far that can move what is asked."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.queries import CAPTURES, capture_counts
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from dpcore.models.ilp.language.sensitivities import counts_sensitivity, coverage, coverage_sensitivity
from dpcore.models.ilp.learning.coverage import clause_vector, clause_vectors
from dpcore.privacy.mechanisms import NoisyMax
from tests.support.tables.small_relations import (
    EVERYTHING_OF_ROWS,
    TARGET,
    People,
    counts_of,
    draw_people,
    ordered_schema,
    people,
    small_schema,
)
from tests.support.tables.small_relations import SCHEMA as SCHEMA_FIELDS

SCHEMA = ordered_schema()
LATTICE = build_lattice(SCHEMA, TARGET, ILPParameters(max_literals=3, negation=True, quantifiers=EVERYTHING_OF_ROWS))


def sides(crowd: People, lattice: Lattice = LATTICE) -> np.ndarray:
    """Negatives and positives covered; a table always has some row, whoever leaves."""
    return counts_of(crowd, lattice, SCHEMA)


#: Somebody whose rows keep every table from being empty, and who never leaves.
STAYS = draw_people(1, 0)


def beside(crowd: People) -> People:
    return People(STAYS.people + crowd.people, STAYS.rows + crowd.rows)


@settings(max_examples=settings.default.max_examples // 3)
@given(people(most=6), st.integers(0, 5), st.integers(1, 4), st.integers(1, 4))
def test_a_person_moves_all_coverages_one_way_and_by_the_weight_at_most(
    crowd: People, place: int, others: int, weight: int
) -> None:
    gone = place % len(crowd)
    whole, without = sides(beside(crowd)), sides(beside(crowd.without(gone)))
    weights = others, weight
    moved = coverage(whole, weights) - coverage(without, weights)
    reach = coverage_sensitivity(weights)
    assert reach.norm == "Linf"
    assert reach.monotone
    assert np.abs(moved).max() <= reach.value
    positive = crowd.people[gone][TARGET] == "yes"
    assert np.all(moved >= 0) if positive else np.all(moved <= 0)
    assert np.any(moved == (weight if positive else -others))


@settings(max_examples=settings.default.max_examples // 3)
@given(people(most=6), st.integers(0, 5), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_counting_clauses_one_by_one_moves_by_their_number_at_most(
    crowd: People, place: int, clauses: int, seed: int
) -> None:
    chosen = np.random.default_rng(seed).choice(len(LATTICE), clauses, replace=False)
    whole, without = sides(beside(crowd)), sides(beside(crowd.without(place % len(crowd))))
    reach = counts_sensitivity(overlap_bounds(LATTICE).most(chosen))
    assert reach.norm == "L1"
    assert np.abs(whole[chosen] - without[chosen]).sum() <= reach.value


def test_a_witness_of_every_sensitivity() -> None:
    """A person with many rows, covered by every clause that asks for what they have."""
    rows = {
        "drug": [{"kind": kind, "dose": "mid"} for kind in "abab"],
        "test": [{"value": value, "ward": "yes"} for value in (1.0, 4.0, 9.5)],
    }
    for label, side, sign in (("yes", 1, 3), ("no", 0, -2)):
        added = People([{"sex": "f", "age": 45, TARGET: label}], [rows])
        moved = sides(beside(added)) - sides(STAYS)
        assert np.all(moved[:, 1 - side] == 0)
        covering = np.flatnonzero(moved[:, side])
        assert len(covering) > 100
        # Attained by clauses that all cover them, and with the weight.
        most = overlap_bounds(LATTICE).most(covering[:100])
        assert np.abs(moved[covering[:100]]).sum() == counts_sensitivity(most).value == 100
        assert set(coverage(moved[covering], (2, 3))) == {sign}
    assert coverage_sensitivity((2, 3)).value == coverage_sensitivity((3, 2)).value == 3


def test_neighbours_that_move_scores_apart_are_no_neighbours_here() -> None:
    """What the factor of two would be for: it cannot happen, as the sides do not mix."""
    crowd = draw_people(6, 11)
    whole = sides(beside(crowd))
    for gone in range(len(crowd)):
        moved = coverage(whole, (1, 1)) - coverage(sides(beside(crowd.without(gone))), (1, 1))
        assert not (np.any(moved > 0) and np.any(moved < 0))
    # The mechanism is told so, and costs half of what it would otherwise.
    apart = NoisyMax(1, Decimal(1), monotone=False).scale
    assert NoisyMax(1, Decimal(1), monotone=True).scale == pytest.approx(apart / 2)


@settings(max_examples=settings.default.max_examples // 3)
@given(people(most=6), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_one_person_is_in_one_group_of_a_theory(crowd: People, place: int, seed: int) -> None:
    chosen = np.random.default_rng(seed).choice(len(LATTICE), 3, replace=False)
    clauses = [LATTICE.clause(int(number)) for number in chosen]

    def groups(those: People) -> np.ndarray:
        table = those.table(SCHEMA)
        return capture_counts(table, TARGET, "all", partial(clause_vectors, clauses=clauses))

    moved = groups(beside(crowd)) - groups(beside(crowd.without(place % len(crowd))))
    assert moved.sum() == np.abs(moved).sum() == CAPTURES.value


def test_cover_removal_depends_on_the_person_and_the_clause_alone() -> None:
    """After a person has left, everybody else is covered, or not, as before."""
    crowd = draw_people(12, 21)
    clause = Clause(variables=(Variable(table="drug", negated=True),))
    before = [covered(crowd, clause, place) for place in range(len(crowd))]
    for gone in range(1, len(crowd)):
        others = crowd.without(gone)
        after = [covered(others, clause, place) for place in range(len(others))]
        assert after == before[:gone] + before[gone + 1 :]


def covered(crowd: People, clause: Clause, place: int) -> bool:
    """Whether a clause covers one person, found by giving the others another class."""
    marked = [{**person, TARGET: "yes" if number == place else "no"} for number, person in enumerate(crowd.people)]
    [partition] = People(marked, crowd.rows).table(SCHEMA).partitions
    vector = clause_vector(partition, clause) & partition.class_members(TARGET, "all")[1]
    return bool(np.bitwise_count(vector).sum())


def test_a_person_with_very_many_rows_moves_no_more_than_one_with_few() -> None:
    """Hundreds of rows, in every slot and beyond the limit."""
    children = [
        dict(child, max_rows_per_person=300, keep=keep, order_by="day")
        for child, keep in zip(SCHEMA_FIELDS["children"], ("last", "first"), strict=True)
    ]
    schema = small_schema(children=children)
    rows = {
        "drug": [{"kind": kind, "dose": dose} for kind in "abc" for dose in ("low", "mid", "high")],
        "test": [{"value": value, "ward": ward} for value in (1.0, 9.5) for ward in ("no", "yes")],
    }
    many = {name: content * 100 for name, content in rows.items()}
    added = People([{"sex": "f", "age": 45, TARGET: "yes"}], [many])

    moved = counts_of(beside(added), LATTICE, schema) - counts_of(STAYS, LATTICE, schema)
    assert set(moved[:, 1]) == {0, 1}
    assert moved[:, 1].mean() > 0.2
    assert not moved[:, 0].any()
