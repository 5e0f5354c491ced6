"""Atoms from the schema, clauses in Prolog and in words, and made-up cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom, bottom_atoms, chosen_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.hypotheses import people_needed
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.ilp_words import clause_words
from tests.support.results.small_theories import theory_of
from tests.support.rows import for_each
from tests.support.tables.small_relations import SCHEMA, TARGET, small_schema
from tests.support.tables.small_tables import ward

EVERYTHING = [
    "sex = f",
    "sex = m",
    "age <= 30",
    "age > 30",
    "age <= 60",
    "age > 60",
    "drug: any",
    "drug: kind = a",
    "drug: kind = b",
    "drug: kind = c",
    "drug: kind in ab",
    "drug: dose = low",
    "drug: dose = mid",
    "drug: dose = high",
    "drug: dose > low",
    "drug: dose <= mid",
    "test: any",
    "test: value <= 2.5",
    "test: value > 2.5",
    "test: value <= 5",
    "test: value > 5",
    "test: ward = no",
    "test: ward = yes",
]


def atom(text: str) -> Atom:
    return chosen_atoms(small_schema(), TARGET, [text], reserved=True)[0]


def clause(*texts: str, none: tuple[str, ...] = ()) -> Clause:
    """A clause with one variable for each text about a child table; ``&`` joins conditions."""
    about, variables = [], []
    for text, negated in [(text, False) for text in texts] + [(text, True) for text in none]:
        atoms = [atom(part) for part in text.split(" & ")]
        if atoms[0].table:
            kept = tuple(item for item in atoms if not item.exists)
            variables.append(Variable(table=atoms[0].table, atoms=kept, negated=negated))
        else:
            about += atoms
    return Clause(atoms=tuple(about), variables=tuple(variables))


def test_the_schema_declares_every_atom_once() -> None:
    atoms = bottom_atoms(small_schema(), TARGET)
    assert [item.text(small_schema()) for item in atoms] == EVERYTHING


def test_modes_narrow_what_may_be_asked() -> None:
    child = dict(SCHEMA["children"][0])
    child["columns"] = [child["columns"][0] | {"modes": ["member"]}, child["columns"][1] | {"modes": []}]
    schema = small_schema(children=[child])
    texts = [item.text(schema) for item in bottom_atoms(schema, TARGET)]
    assert texts == [*EVERYTHING[:6], "drug: any", "drug: kind in ab"]


def test_missing_and_other_values_are_asked_for_only_if_wanted() -> None:
    atoms = bottom_atoms(small_schema(), TARGET, reserved=True)
    more = {item.text(small_schema()) for item in atoms} - set(EVERYTHING)
    assert more == {
        "sex = (other)",
        "sex = (missing)",
        "age = (missing)",
        "drug: kind = (other)",
        "drug: kind = (missing)",
        "drug: dose = (other)",
        "drug: dose = (missing)",
        "test: value = (missing)",
        "test: ward = (other)",
        "test: ward = (missing)",
    }


def test_a_clause_in_prolog() -> None:
    written = Prolog(small_schema()).clause(
        clause(
            "sex = f",
            "age > 60",
            "drug: kind in ab & drug: dose > low",
            "test: value <= 2.5",
            none=("test: any", "drug: kind = c"),
        ),
        TARGET,
        "yes",
    )
    assert written == (
        "ill(P, yes) :-\n"
        "    sex(P, f),\n"
        "    age_above(P, 60),\n"
        "    has_drug(P, A), kind_in(A, ab), dose_above(A, low),\n"
        "    has_test(P, B), value_up_to(B, 2.5),\n"
        "    \\+ has_test(P, _),\n"
        "    \\+ (has_drug(P, C), kind(C, c))."
    )
    everybody = Prolog(small_schema()).clause(Clause(), TARGET, "yes")
    assert everybody == "ill(P, yes) :-\n    patient(P)."


def test_what_is_negated_comes_last_and_somebody_is_named_before() -> None:
    """Prolog would otherwise ask whether nobody at all has such a row."""
    mixed = Clause(variables=clause(none=("drug: any",)).variables + clause("test: ward = yes").variables)
    writer = Prolog(small_schema())
    assert writer.clause(mixed, TARGET, "yes") == (
        "ill(P, yes) :-\n    has_test(P, A), ward(A, yes),\n    \\+ has_drug(P, _)."
    )
    assert writer.clause(clause(none=("drug: kind = a",)), TARGET, "yes") == (
        "ill(P, yes) :-\n    patient(P),\n    \\+ (has_drug(P, A), kind(A, a))."
    )
    assert writer.clause(clause("sex = f"), TARGET, "yes", [clause("test: any")]) == (
        "ill(P, yes) :-\n    sex(P, f),\n    \\+ has_test(P, A)."
    ).replace("(P, A)", "(P, _)")


def test_names_that_prolog_would_misread_are_quoted_or_changed() -> None:
    schema = ward(
        {"name": "2nd Drug (mg)", "type": "categorical", "categories": ["It's A", "007"]},
        {"name": "Y", "type": "boolean"},
        name="odd",
        max_rows=10,
        entity="Überweisung",
    )
    texts = [Prolog(schema).clause(Clause(atoms=(item,)), "Y", "yes") for item in bottom_atoms(schema, "Y")]
    assert texts == ["y(X, yes) :-\n    c_2nd_drug_mg(X, 'It\\'s A').", "y(X, yes) :-\n    c_2nd_drug_mg(X, '007')."]


def test_no_two_columns_or_tables_share_a_predicate() -> None:
    def flag(name: str) -> dict:
        return {"name": name, "type": "boolean"}

    schema = ward(
        flag("Age"),
        flag("age above"),
        flag("%"),
        flag("#"),
        flag("has drug"),
        {"name": "age", "type": "integer", "lower": 0, "upper": 9, "edges": [5]},
        flag("y"),
        name="odd",
        max_rows=10,
        entity="person",
        privacy_unit={"column": "id"},
        children=[
            {"name": name, "max_rows_per_person": 1, "columns": [flag("y"), flag("Age")]} for name in ("drug", "Drug")
        ],
    )
    writer, said = Prolog(schema), {}
    for item in bottom_atoms(schema, "y"):
        if item.exists:
            goals = writer.body(Clause(variables=(Variable(table=item.table),)))[0]
            text = goals[0].replace("_)", "A)")
        else:
            text = writer.atom(item, "A")
        predicate = text.split("(")[0]
        said.setdefault(predicate, set()).add((item.table, item.column))
    assert all(len(meanings) == 1 for meanings in said.values()), said
    assert "y" not in said, "a clause about the target would ask for itself"


@for_each(
    ("what", "words"),
    [
        (Clause(), "at all"),
        (clause("age > 60"), "with age > 60"),
        (clause("drug: any"), "with at least one drug"),
        (clause("drug: kind in ab & drug: dose = low"), "with a drug that has kind in ab (a, b) and dose = low"),
        (
            clause("drug: kind = a", "drug: dose = low"),
            "with a drug that has kind = a, and a drug that has dose = low (it may be one drug for both)",
        ),
        (clause("drug: kind = a", "drug: kind = b"), "with a drug that has kind = a, and a drug that has kind = b"),
        (clause("sex = f", none=("test: any",)), "with sex = f, and no test"),
        (clause(none=("drug: kind = c",)), "with no drug that has kind = c"),
    ],
)
def test_a_clause_in_words(what: Clause, words: str) -> None:
    assert clause_words(what, small_schema()) == words


@pytest.mark.parametrize("apart", [29, pytest.param(7, marks=pytest.mark.slow)])
def test_made_up_cases_satisfy_their_clause_and_stay_within_the_schema(apart: int) -> None:
    schema = small_schema()
    lattice = build_lattice(schema, TARGET, ILPParameters(max_literals=3, negation=True, reserved_literals=False))
    for place in range(0, len(lattice), apart):
        chosen = lattice.clause(place)
        case = made_up_case(chosen, schema, TARGET, seed=place)
        assert TARGET not in case["patient"]
        assert len(case["patient"]) == 1
        assert all(len(case[child.name]) <= child.max_rows_per_person for child in schema.children)
        assert covers(chosen, case, schema), chosen
        person = case["patient"].iloc[0]
        assert person["sex"] in {"f", "m"}
        assert 0 <= person["age"] <= 90


def covers(chosen: Clause, case: dict, schema: Schema) -> bool:
    """By the released model's own prediction."""
    tables = {schema.entity if name == "patient" else name: rows for name, rows in case.items()}
    return bool(theory_of(chosen).first_clause(tables, schema)[0] == 0)


def test_made_up_cases_differ_by_their_seed_and_by_nothing_else() -> None:
    schema, chosen = small_schema(), clause("drug: kind = a")
    one, again, other = (made_up_case(chosen, schema, TARGET, seed) for seed in (1, 1, 2))
    assert all(one[name].equals(again[name]) for name in one)
    assert any(not one[name].equals(other[name]) for name in one)


def test_there_is_no_case_for_what_the_limits_rule_out() -> None:
    children = [dict(SCHEMA["children"][0], max_rows_per_person=1)]
    schema = small_schema(children=children)
    assert made_up_case(clause("drug: kind = a", "drug: kind = b"), schema, TARGET) == {}
    assert made_up_case(clause("drug: kind = a", none=("drug: any",)), schema, TARGET) == {}
    one = made_up_case(clause("drug: kind = a", "drug: dose = high"), schema, TARGET)
    assert one["drug"][["kind", "dose"]].to_numpy().tolist() == [["a", "high"]]


def numbers(kind: str, lower: float, upper: float, edges: list[float]) -> Schema:
    column = {"name": "n", "type": kind, "lower": lower, "upper": upper, "edges": edges}
    return Schema.from_mapping({"name": "n", "max_rows": 9, "columns": [column, {"name": TARGET, "type": "boolean"}]})


@for_each(
    "schema",
    [
        numbers("integer", 0, 10, [2.2, 2.8, 5]),
        numbers("integer", -1e30, 1e30, [0]),
        numbers("real", 0.14, 0.32, [0.17, 0.2]),
        numbers("real", -5, 1e-9, [0]),
    ],
)
def test_numbers_of_a_case_lie_in_their_bins(schema: Schema) -> None:
    for item in bottom_atoms(schema, TARGET):
        for seed in range(20):
            case = made_up_case(Clause(atoms=(item,)), schema, TARGET, seed)
            assert covers(Clause(atoms=(item,)), {"patient": case["person"]}, schema), case


@for_each(("atoms", "epsilon", "delta", "eta"), [(12, 1.0, 0.9, 0.1), (60, 0.1, 0.95, 0.05), (8, 2, 0.5, 0.2)])
def test_the_lower_bound_is_that_of_the_theorem(atoms: int, epsilon: float, delta: float, eta: float) -> None:
    """Solve the printed inequality for epsilon again, with the people given and one less."""
    people = people_needed(atoms, atoms, epsilon, delta, eta)

    def least(count: int) -> float:
        return np.log(2.0**atoms * (1 - eta)) / (2 * ((1 - delta) * count + 1))

    assert least(people) <= epsilon + 1e-12
    assert people == 1 or least(people - 1) > epsilon
    assert people_needed(1, 1, 10.0) == 1
    assert people_needed(1, 1, 10.0, rho=50.0) == 1
    assert people_needed(atoms, 2, epsilon, delta, eta) <= people


@pytest.mark.parametrize("rho", [0.005, 0.5])
def test_people_needed_by_fanos_inequality_where_runs_compose(rho):
    """One person fewer in every tenth, and the tables are too close together to be told apart."""
    people, possible = people_needed(40, 3, 1.0, rho=rho), sum(math.comb(40, size) for size in range(4))
    told = 0.9 * math.log(possible) - math.log(2)
    assert rho * (2 * (0.1 * people + 1)) ** 2 >= told * (1 - 1e-9)
    assert rho * (2 * (0.1 * (people - 1) + 1)) ** 2 < told
