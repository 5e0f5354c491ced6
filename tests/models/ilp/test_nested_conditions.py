"""Clauses that ask of a row which rows belong to it: candidates, coverage, sensitivity, and what follows from what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from decimal import Decimal
from itertools import combinations_with_replacement, product, repeat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import RequestError
from dpcore.learning.learner import Run
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.generality import Generality
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import MOST_ATOMS, STRATA, Lattice, build_lattice
from dpcore.models.ilp.language.nested_conditions import NestedCondition
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from dpcore.models.ilp.learning import coverage
from dpcore.models.ilp.learning.coverage import check_effort, clause_vector
from dpcore.models.ilp.learning.nesting import nested_slots, nested_work
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.clauses import holds
from tests.support.learning.partitioned import divided
from tests.support.results.prolog_programs import covered, needs_prolog, program
from tests.support.rows import for_each
from tests.support.tables import small_relations
from tests.support.tables.nested_relations import (
    EVERYTHING,
    SCHEMA,
    TARGET,
    VALUES,
    Patients,
    body_of,
    counts_of,
    draw_patients,
    nested_schema,
)

DOMAIN = nested_schema()
#: Few conditions, so that a test can look at every clause.
FEW = ("stay: any", "stay: kind = urgent", "lab: any", "lab: test = k", "lab: value > 4", "drug: any")


def lattice_of(**chosen: object) -> Lattice:
    wanted = {"max_literals": 3, "negation": True, "quantifiers": EVERYTHING, "literals": FEW, **chosen}
    return build_lattice(DOMAIN, TARGET, ILPParameters.model_validate(wanted))


WIDE = lattice_of(literals=None, max_literals=2)
LATTICE = lattice_of(most_counted=2)
SMALL = lattice_of(quantifiers=("exists", "within", "counts"), literals=FEW[:5], most_counted=2)


def patients(most: int = 10) -> st.SearchStrategy[Patients]:
    return st.builds(draw_patients, st.integers(1, most), st.integers(0, 2**32 - 1))


def expected(crowd: Patients, clause: Clause) -> tuple[int, int]:
    body = body_of(clause)
    covered = [
        person[TARGET] for person, rows in zip(crowd.people, crowd.rows, strict=True) if holds(body, person, rows)
    ]
    return covered.count("no"), covered.count("yes")


def high(**said: int) -> NestedCondition:
    return NestedCondition(table="stay", inner="lab", atoms=(Atom(table="lab", column="value", cells=(1,)),), **said)


@pytest.mark.parametrize("lattice", [WIDE, LATTICE], ids=["wide", "long"])
@settings(max_examples=12, deadline=None)
@given(crowd=patients(), seed=st.integers(0, 2**32 - 1))
def test_coverage_of_nested_rows_equals_the_naive_oracle(lattice: Lattice, crowd: Patients, seed: int) -> None:
    counts = counts_of(crowd, lattice)
    for place in np.random.default_rng(seed).choice(len(lattice), 120, replace=False):
        clause = lattice.clause(int(place))
        assert tuple(counts[place]) == expected(crowd, clause), clause


def test_a_clause_over_nested_rows_covers_the_same_people_alone_and_in_its_lattice() -> None:
    crowd = draw_patients(60, 3)
    [partition] = crowd.table(DOMAIN).partitions
    members, counts = partition.class_members(TARGET, "all"), counts_of(crowd, LATTICE)
    for place in range(0, len(LATTICE), 41):
        vector = clause_vector(partition, LATTICE.clause(place))
        assert list(counts[place]) == [int(np.bitwise_count(vector & one).sum()) for one in members]


def test_conditions_on_one_nested_row_are_not_shared_by_two_nor_by_rows_of_another() -> None:
    """A stay with high sodium and low potassium has no high potassium; nor has it, if another stay does."""
    k = Atom(table="lab", column="test", cells=(0,))
    urgent = Atom(table="stay", column="kind", cells=(1,))
    both = NestedCondition(table="stay", inner="lab", atoms=(k, *high().atoms))
    clause = Clause(variables=(Variable(table="stay", atoms=(urgent, both)),))

    def covers(*stays: tuple[str, list[tuple[str, int]]]) -> bool:
        own = [{"kind": kind, "lab": [{"test": t, "value": v} for t, v in labs], "drug": []} for kind, labs in stays]
        whole = Patients([{"sex": "f", TARGET: "yes"}], [own])
        beside = draw_patients(1, 0)
        crowd = Patients(beside.people + whole.people, beside.stays + whole.stays)
        return expected(whole, clause) == (0, 1) and covered_by(crowd, clause)[1]

    assert covers(("urgent", [("k", 7)]))
    assert not covers(("urgent", [("k", 2), ("na", 7)]))
    assert not covers(("urgent", []), ("planned", [("k", 7)]))


def covered_by(crowd: Patients, clause: Clause) -> list[bool]:
    """Whether a clause covers each person, found by giving one after another a class of their own."""
    found = []
    for place in range(len(crowd)):
        marked = [{**person, TARGET: "yes" if n == place else "no"} for n, person in enumerate(crowd.people)]
        [partition] = Patients(marked, crowd.stays).table(DOMAIN).partitions
        vector = clause_vector(partition, clause) & partition.class_members(TARGET, "all")[1]
        found.append(bool(np.bitwise_count(vector).sum()))
    return found


def test_rows_of_a_stay_that_is_cut_are_asked_of_nobody() -> None:
    """The first three stays are kept; what belonged to the fourth goes with it."""
    low, seven = {"test": "k", "value": 2}, {"test": "k", "value": 7}
    stays = [{"kind": "urgent", "lab": [lab], "drug": []} for lab in (low, low, low, seven)]
    stays[0]["drug"] = [{"dose": "low"}]
    crowd = Patients([{"sex": "f", TARGET: "yes"}], [stays])
    urgent = Atom(table="stay", column="kind", cells=(1,))
    [partition] = crowd.table(DOMAIN).partitions
    for variable in (Variable(table="stay", atoms=(urgent, high())), Variable(table="lab", atoms=high().atoms)):
        assert not np.bitwise_count(clause_vector(partition, Clause(variables=(variable,)))).sum()
    any_lab = NestedCondition(table="stay", inner="lab")
    three = Variable(table="stay", atoms=(urgent, any_lab), least=3)
    assert np.bitwise_count(clause_vector(partition, Clause(variables=(three,)))).sum() == 1


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_ingestion_keeps_is_what_clauses_are_asked_of(seed: int) -> None:
    """More rows than are kept: the oracle is asked of what is stored, row by row and link by link."""
    crowd = draw_patients(8, seed, stays=6, labs=4, drugs=3)
    table = crowd.table(DOMAIN, seed % 1000)
    stored = stored_patients(table)
    [partition] = table.partitions
    members = partition.class_members(TARGET, "all")
    for place in np.random.default_rng(seed).choice(len(LATTICE), 40, replace=False):
        clause = LATTICE.clause(int(place))
        vector = clause_vector(partition, clause)
        assert expected(stored, clause) == tuple(int(np.bitwise_count(vector & one).sum()) for one in members)


def stored_patients(table) -> Patients:
    frames = table.public_tables()
    people = frames["patient"][["sex", TARGET]].to_dict("records")
    stays: list[list[dict]] = [[] for _ in people]
    by_key: dict[str, dict] = {}
    for row in frames["stay"].to_dict("records"):
        own = {"kind": row["kind"], "lab": [], "drug": []}
        by_key[row["stay_id"]] = own
        stays[row["id"]].append(own)
    for row in frames["lab"].to_dict("records"):
        by_key[row["of"]]["lab"].append({"test": row["test"], "value": 2 if row["value"] <= 4 else 7})
    for row in frames["drug"].to_dict("records"):
        by_key[row["of"]]["drug"].append({"dose": row["dose"]})
    return Patients(people, stays)


# Sensitivity


STAYS = draw_patients(1, 0)


def beside(crowd: Patients) -> Patients:
    return Patients(STAYS.people + crowd.people, STAYS.stays + crowd.stays)


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(patients(6), st.integers(0, 5))
def test_a_person_with_nested_rows_moves_each_clause_by_one_of_their_own_class(crowd: Patients, place: int) -> None:
    gone = place % len(crowd)
    moved = counts_of(beside(crowd), LATTICE) - counts_of(beside(crowd.without(gone)), LATTICE)
    side = int(crowd.people[gone][TARGET] == "yes")
    assert not moved[:, 1 - side].any()
    assert set(moved[:, side].tolist()) <= {0, 1}
    assert moved[0, side] == 1


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(crowd=patients(1), seed=st.integers(0, 2**32 - 1), others=st.floats(0, 1))
def test_nobody_satisfies_more_clauses_over_nested_rows_than_are_noised_for(
    crowd: Patients, seed: int, others: float
) -> None:
    held = np.flatnonzero((counts_of(beside(crowd), LATTICE) - counts_of(STAYS, LATTICE)).sum(axis=1))
    generator = np.random.default_rng(seed)
    chosen = generator.random(len(LATTICE)) < others * generator.random()
    chosen[generator.permutation(held)[: generator.integers(1, len(held) + 1)]] = True
    positions = np.flatnonzero(chosen)
    assert np.isin(held, positions).sum() <= overlap_bounds(LATTICE).most(positions) <= len(positions)


def one_variable(lattice: Lattice, keep: Callable[[Variable], bool]) -> np.ndarray:
    clauses = ((place, lattice.clause(place)) for place in range(len(lattice)))
    found = [place for place, own in clauses if not own.atoms and len(own.variables) == 1 and keep(own.variables[0])]
    return np.array(found)


@for_each(("least", "most"), [(1, 2), (2, 2), (3, 1)])
def test_nested_rows_that_are_counted_are_shared_out(least: int, most: int) -> None:
    """Attained: of six values, each high or low, both can be there in a stay three times if there were stays enough."""
    schema = nested_schema(children=[{**child, "max_rows_per_person": 4} for child in SCHEMA["children"]])
    literals = ("stay: kind = urgent", "lab: value <= 4", "lab: value > 4")
    chosen = ILPParameters(
        literals=literals, max_literals=3, max_variables=1, quantifiers=("within", "counts", "exists")
    )
    lattice = build_lattice(schema, TARGET, chosen)

    def asks(variable: Variable) -> bool:
        own = [atom for atom in variable.atoms if isinstance(atom, NestedCondition)]
        return variable.least == 1 and len(variable.atoms) == 2 and [atom.least for atom in own] == [least]

    level = one_variable(lattice, asks)
    assert len(level) == 2
    assert overlap_bounds(lattice).most(level) == most
    values = [2, 2, 7, 7] if least < 3 else [7, 7, 7, 7]
    stay = {"kind": "urgent", "lab": [{"test": "k", "value": value} for value in values], "drug": []}
    person = Patients([{"sex": "f", TARGET: "yes"}], [[stay]])
    moved = (counts_of(beside(person), lattice, schema) - counts_of(STAYS, lattice, schema)).sum(axis=1)
    assert moved[level].sum() == most


# Which clauses there are


def every_case() -> list[dict[str, list[dict]]]:
    """Up to two stays, each of either kind with up to two values of four."""
    labs = [{"test": test, "value": value} for test, value in product(VALUES["test"], VALUES["value"])]
    some = [list(own) for count in range(3) for own in combinations_with_replacement(labs, count)]
    stays = [{"kind": kind, "lab": own, "drug": []} for kind in VALUES["kind"][:2] for own in some]
    cases = [list(own) for count in range(3) for own in combinations_with_replacement(stays, count)]
    return [{"stay": own, "lab": [lab for stay in own for lab in stay["lab"]], "drug": []} for own in cases]


CASES = every_case()


def meaning(clause: Clause) -> np.ndarray:
    body = body_of(clause)
    return np.array([holds(body, {}, rows) for rows in CASES])


def test_what_follows_from_nested_rows_is_not_said_again() -> None:
    """Each of two variables is needed, as somebody shows who satisfies the other one alone."""
    meanings: dict[Variable, np.ndarray] = {}
    pairs = 0
    for place in range(len(SMALL)):
        variables = SMALL.clause(place).variables
        for variable in variables:
            if variable not in meanings:
                meanings[variable] = meaning(Clause(variables=(variable,)))
        if len(variables) == 2 and len({item.table for item in variables}) == 2:
            one, other = (meanings[item] for item in variables)
            assert (one & ~other).any(), variables
            assert (other & ~one).any(), variables
            pairs += 1
    assert pairs > 20


def test_that_a_row_has_a_nested_row_is_said_once() -> None:
    """A stay with a high value means that there is one: the shorter way to say it is the only one."""
    seen: dict[bytes, Variable] = {}
    for place in range(len(SMALL)):
        clause = SMALL.clause(place)
        if not clause.atoms and len(clause.variables) == 1:
            known = seen.setdefault(meaning(clause).tobytes(), clause.variables[0])
            assert known == clause.variables[0], (known, clause.variables[0])


def test_all_that_is_said_of_rows_is_said_of_rows_with_nested_rows() -> None:
    """Two stays with a high value, the first stay with one, and a later one with one, beside all others."""
    variables = [own for place in range(len(LATTICE)) for own in LATTICE.clause(place).variables if own.table == "stay"]
    said = {own.form for own in variables}
    assert {form.quantifier for form in said} == {"exists", "counts", "order", "alike"}
    assert {own.form for own in variables if own.nested} == said


def test_clauses_over_nested_rows_are_as_long_as_what_they_say() -> None:
    said = False
    for place in range(0, len(LATTICE), 3):
        clause = LATTICE.clause(place)
        assert LATTICE.lengths[place] == clause.length
        nested = any(variable.nested for variable in clause.variables)
        assert bool(LATTICE.strata[place] % STRATA & 8) == nested
        said |= nested
    assert said


def test_parents_of_clauses_over_nested_rows_are_more_general() -> None:
    generality = Generality(SMALL)
    for place in range(1, len(SMALL), 4):
        clause = SMALL.clause(place)
        parents = generality.parents(place)
        assert parents, clause
        for parent in parents:
            assert SMALL.lengths[parent] < SMALL.lengths[place]
            if not clause.atoms:
                assert not (meaning(clause) & ~meaning(SMALL.clause(parent))).any(), clause


def test_a_language_without_nested_tables_is_what_it_was() -> None:
    """Candidates in the order in which they are drawn from, and a release of the same seed: recorded before."""
    schema = small_relations.ordered_schema()
    asked = ILPParameters(max_literals=3, negation=True, quantifiers=(*small_relations.EVERYTHING_OF_ROWS, "within"))
    lattice = build_lattice(schema, TARGET, asked)
    written = lattice.clauses.tobytes() + lattice.lengths.tobytes()
    assert (len(lattice), hashlib.sha256(written).hexdigest()[:16]) == (13992, "901fbe2788ad98bb")
    schema = small_relations.ordered_schema(max_rows=200)
    table = small_relations.draw_people(150, 5, schema).table(schema)
    learner = get_learner("ilp")
    for method, found in (("noisy_max", "4a42f9ef1b043b34"), ("relevance_aware", "bc1264a40fc4329c")):
        chosen = {"method": method, "max_literals": 2, "quantifiers": small_relations.EVERYTHING_OF_ROWS}
        plan = learner.plan(schema, TARGET, Decimal(4), {**chosen, "weigh_alike": False, "evaluate": False})
        model = learner.run(Run(table, plan, SeededRandom(3)))
        content = model.model_dump_json(exclude={"sides", "sides_margin", "alike"})  # These were added later.
        assert hashlib.sha256(content.encode()).hexdigest()[:16] == found


def test_nested_rows_are_spoken_of_where_there_is_room() -> None:
    learner = get_learner("ilp")
    few = learner.plan(nested_schema(max_rows=20), TARGET, Decimal("0.1"), {}).parameters.quantifiers
    many = learner.plan(nested_schema(max_rows=100_000), TARGET, Decimal(4), {}).parameters.quantifiers
    assert few == ("exists",)
    assert many is not None
    assert "within" in many
    published = learner.plan(nested_schema(max_rows=100_000), TARGET, Decimal(4), {"method": "naive"})
    assert published.parameters.quantifiers == ("exists",)


def too_many() -> Iterator[NestedCondition]:
    yield from repeat(high(), MOST_ATOMS + 1)
    raise AssertionError("no further condition is made once there are too many")


def test_too_many_conditions_on_nested_rows_are_refused_or_not_chosen() -> None:
    codes = [{"name": f"c{i}", "type": "categorical", "categories": [str(n) for n in range(30)]} for i in range(3)]
    lab, stay, drug = SCHEMA["children"]
    schema = nested_schema(children=[lab | {"columns": codes}, stay, drug], max_rows=5_000)
    with pytest.raises(RequestError, match="rows that belong to a row"):
        build_lattice(schema, TARGET, ILPParameters(quantifiers=("exists", "within")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpcore.models.ilp.language.lattice.within_atoms", lambda *_: too_many())
        with pytest.raises(RequestError, match="rows that belong to a row"):
            build_lattice(schema, TARGET, ILPParameters(quantifiers=("exists", "within")))
    plan = get_learner("ilp").plan(schema, TARGET, Decimal(4), {"max_literals": 2})
    assert "within" not in plan.parameters.quantifiers


def test_effort_of_nested_rows_is_counted() -> None:
    """Of each stay's slot the six values, by condition; and each of their slots for each of a stay."""
    slots = {"": 1, "stay": 3, "lab": 6, "drug": 3}
    lattice = lattice_of(quantifiers=("exists", "within"), literals=FEW[:5])
    assert nested_slots(lattice.atoms, slots) == 6 * (3 + 3) + 2 * 4
    assert nested_work(lattice.atoms, slots) == 4 * 6 * 3
    plain = lattice_of(quantifiers=("exists",), literals=FEW[:5])
    assert nested_slots(plain.atoms, slots) == nested_work(plain.atoms, slots) == 0
    rows = 8_000_000
    needed = 8 * (rows // 64) * (nested_slots(lattice.atoms, slots) + 5 * 3 + 2 * len(lattice.factors)) + 2 * rows * 6
    for limit, refused in ((needed, False), (needed - 8 * (rows // 64), True)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(coverage, "MEMORY_LIMIT", limit)
            with pytest.raises(RequestError, match="memory") if refused else nullcontext():
                check_effort(nested_schema(max_rows=rows), lattice.atoms, lattice.factors, len(lattice))


# Partitions


@pytest.mark.parametrize("method", ["noisy_max", "relevance_aware"])
def test_a_release_over_nested_tables_does_not_depend_on_partitions(method: str, tmp_path: Path) -> None:
    schema = nested_schema(max_rows=120)
    learner, table = get_learner("ilp"), draw_patients(100, 9).table(schema)
    chosen = {"method": method, "quantifiers": ("exists", "within", "counts"), "max_variables": 1, "evaluate": False}
    plan = learner.plan(schema, TARGET, Decimal(20), chosen)

    def released(own) -> str:
        return learner.run(Run(own, plan, SeededRandom(4))).model_dump_json()

    whole = released(table)
    assert '"inner":"lab"' in whole.replace(" ", "") or method == "relevance_aware"
    assert released(divided(table, 7, 2)) == whole
    table.save(tmp_path)
    assert released(type(table).open(tmp_path)) == whole


# Prolog


def facts(crowd: Patients) -> list[str]:
    """Facts, and what the predicates mean."""
    lines = [":- style_check(-singleton).", ":- style_check(-discontiguous)."]
    pairs = ("has_stay", "has_lab", "has_drug", "stay_has_lab", "stay_has_drug", "first_stay", "stay_before")
    lines += [f":- dynamic {name}/2." for name in (*pairs, *VALUES)]
    lines += ["value_up_to(X, B) :- value(X, V), V =< B.", "value_above(X, B) :- value(X, V), V > B."]
    for number, (person, stays) in enumerate(zip(crowd.people, crowd.stays, strict=True)):
        lines.append(f"patient(p{number}).")
        lines += [f"{name}(p{number}, {value})." for name, value in person.items()]
        for place, stay in enumerate(stays):
            own = f"stay_{number}_{place}"
            lines += [f"has_stay(p{number}, {own}).", f"kind({own}, {stay['kind']})."]
            lines += [f"stay_before(stay_{number}_{earlier}, {own})." for earlier in range(place)]
            for table in ("lab", "drug"):
                for inner, row in enumerate(stay[table]):
                    name = f"{table}_{number}_{place}_{inner}"
                    lines += [f"has_{table}(p{number}, {name}).", f"stay_has_{table}({own}, {name})."]
                    lines += [f"{column}({name}, {value})." for column, value in row.items()]
        lines += [f"first_stay(p{number}, stay_{number}_0)."] if stays else []
    return lines


@needs_prolog
@pytest.mark.parametrize("lattice", [WIDE, LATTICE], ids=["wide", "long"])
def test_prolog_finds_the_same_people_by_nested_rows(lattice: Lattice, tmp_path: Path) -> None:
    crowd = draw_patients(20, 2)
    generator = np.random.default_rng(1)
    nested = [place for place in range(len(lattice)) if any(item.nested for item in lattice.clause(place).variables)]
    places = sorted(int(place) for place in generator.permutation(nested)[:300])
    found = covered(program(facts(crowd), DOMAIN, lattice, places), tmp_path)
    counts = counts_of(crowd, lattice).sum(axis=1)
    assert len(found) > 50
    assert {place: int(counts[place]) for place in places if counts[place]} == found
