"""Planted theories: what they mean, and how they are written."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from dpcore.demo.hospital import PLANTED, make_hospital
from dpcore.demo.theories import Member, PlantedClause, PlantedTheory, Unit, asks, none, some
from dpcore.demo.trains import CARS, draw_trains, make_trains, two_cars_theory
from dpcore.demo.truth import PlantedCondition
from dpcore.domain.encoding import encode
from dpcore.errors import SchemaError
from dpcore.models.ilp.language.atoms import chosen_atoms
from tests.oracles.theories_oracle import every_record
from tests.support.tables.small_tables import ward

CLOSED = ("flat", "peaked")
SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [50]},
    {"name": "ill", "type": "boolean", "target": True},
    name="visits",
    privacy_unit={"column": "id"},
    entity="person",
    children=[
        {
            "name": "visit",
            "max_rows_per_person": 3,
            "columns": [
                {
                    "name": "code",
                    "type": "categorical",
                    "categories": ["I21", "I50", "it's"],
                    "groups": {"heart": ["I21", "I50"]},
                },
                {"name": "days", "type": "integer", "lower": 0, "upper": 9, "edges": [3]},
            ],
        }
    ],
)


def train(*cars):
    """One train with these (length, roof) cars."""
    rows = pd.DataFrame(cars, columns=["length", "roof"])
    rows.insert(0, "train_id", "T1")
    return pd.DataFrame({"train_id": ["T1"]}), {"car": rows}


def theory(*clauses, **more):
    return PlantedTheory("direction", ("west", "east"), "train", "train_id", clauses, **more)


SHORT = PlantedCondition("length", "=", "short")
ROOFED = Member("roof", "closed", CLOSED)


def test_conditions_on_a_car_must_hold_for_one_and_the_same_car():
    both = theory(PlantedClause(units=(Unit("car", (SHORT, ROOFED)),)))
    apart = theory(PlantedClause(units=(Unit("car", (SHORT,)), Unit("car", (ROOFED,)))))
    mixed = train(("short", "open"), ("long", "flat"))
    assert both.holds(*mixed).tolist() == [False]
    assert apart.holds(*mixed).tolist() == [True]
    assert both.holds(*train(("long", "open"), ("short", "peaked"))).tolist() == [True]


VALUES = {
    "length": ("short", "long"),
    "roof": ("open", "flat", "jagged", "peaked", "arc"),
    "load": ("empty", "circle", "triangle"),
    "shape": ("rectangle", "bucket"),
}


def draw_condition(rng):
    kind = rng.randrange(3)
    if kind == 0:
        group = tuple(rng.sample(VALUES["roof"], 3))
        return Member("roof", "some", group), ("roof", "in", group)
    if kind == 1:
        column, value = rng.choice(("wheels", "load_count", "position")), rng.randrange(1, 4)
        sign = rng.choice(("<=", ">"))
        return PlantedCondition(column, sign, value), (column, sign, value)
    column = rng.choice(list(VALUES))
    value = rng.choice(VALUES[column])
    return PlantedCondition(column, "=", value), (column, "=", value)


def draw_clause(rng):
    """The same clause for the engine and for the oracle."""
    units, plain = [], []
    for _ in range(rng.randrange(1, 4)):
        drawn = [draw_condition(rng) for _ in range(rng.randrange(1, 4))]
        negated = rng.random() < 0.3
        units.append(Unit("car", tuple(first for first, _ in drawn), negated))
        plain.append(("car", [second for _, second in drawn], negated))
    own = PlantedCondition("age", ">", 2)
    if rng.random() < 0.3:
        return PlantedClause((own,), tuple(units)), ([("age", ">", 2)], plain)
    return PlantedClause(units=tuple(units)), ([], plain)


def test_theories_hold_where_a_naive_reading_says_so():
    rng = random.Random(11)
    frame, children = draw_trains(two_cars_theory(), 150, 7)
    frame["age"] = [rng.randrange(6) for _ in range(len(frame))]
    children["car"] = children["car"][children["car"]["train_id"] != frame["train_id"][3]]
    shares = []
    for _ in range(60):
        clauses = [draw_clause(rng) for _ in range(rng.randrange(1, 4))]
        held = theory(*(first for first, _ in clauses)).holds(frame, children)
        wanted = every_record([second for _, second in clauses], frame, "train_id", children)
        np.testing.assert_array_equal(held, wanted)
        shares.append(held.mean())
    assert sum(0.05 < share < 0.95 for share in shares) > 30


def test_clauses_are_written_in_words_and_in_prolog():
    clause = PlantedClause(
        asks(SCHEMA, "", "age > 50"),
        (
            some(SCHEMA, "visit", "code in heart", "days <= 3"),
            none(SCHEMA, "visit", "code = I50"),
            some(SCHEMA, "visit", "code = it's"),
        ),
    )
    ill = PlantedTheory("ill", ("no", "yes"), "person", "id", (clause,))
    assert str(clause) == (
        "age > 50 and some visit with (code in heart and days <= 3) and no visit with (code = I50)"
        " and some visit with (code = it's)"
    )
    assert ill.prolog(clause) == (
        "ill(P, yes) :- age(P, V1), V1 > 50, visit(P, A), code(A, V2), heart(V2), days(A, V3), "
        "V3 =< 3, \\+ (visit(P, B), code(B, 'I50')), visit(P, C), code(C, 'it\\'s')."
    )
    assert ill.prolog(PlantedClause()) == "ill(P, yes)."
    assert clause.asked[0] == ("", PlantedCondition("age", ">", 50))
    assert [table for table, _ in clause.asked] == ["", "visit", "visit", "visit", "visit"]


def test_conditions_are_those_of_the_schema():
    (member,) = asks(SCHEMA, "visit", "code in heart")
    assert member == Member("code", "heart", ("I21", "I50"))
    with pytest.raises(ValueError, match="'code' has no group 'lung'"):
        asks(SCHEMA, "visit", "code in lung")
    with pytest.raises(ValueError, match="'days' has no group"):
        asks(SCHEMA, "visit", "days in heart")
    with pytest.raises(SchemaError, match="no column 'colour'"):
        asks(SCHEMA, "visit", "colour = red")
    with pytest.raises(SchemaError, match="no table 'stay'"):
        some(SCHEMA, "stay", "days > 3")


@pytest.mark.parametrize("make", [make_trains, make_hospital])
def test_planted_conditions_can_be_said_and_are_read_alike_by_the_engine(make):
    demo = make()
    clauses = PLANTED.clauses if demo.name == "hospital" else [PlantedClause(units=CARS)]
    asked = {pair for clause in clauses for pair in clause.asked}
    assert len(asked) >= 7
    for table, condition in asked:
        text = f"{table}: {condition}" if table else str(condition)
        (atom,) = chosen_atoms(demo.schema, demo.schema.targets[0], [text])
        rows = demo.children[table] if table else demo.frame
        codes, _ = encode(demo.schema.table(table).column(atom.column), rows[atom.column])
        np.testing.assert_array_equal(condition.holds(rows), np.isin(codes, atom.cells))
