"""Trains satisfy the theories that they were drawn for, as often as asked, and are else alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.demo.theories import PlantedClause, PlantedTheory, Unit, asks, none
from dpcore.demo.trains import (
    CARS,
    NOISE,
    PLANTED,
    TRAINS,
    clauses_theory,
    draw_trains,
    make_trains,
    trains_schema,
    two_cars_theory,
)
from dpcore.demo.truth import PlantedCondition
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.theories_oracle import every_record

#: Six standard errors: a correct generator leaves this band with probability below 1e-8.
STANDARD_ERRORS = 6
CLOSED = ("flat", "jagged", "peaked", "arc")
FIRST = (
    "car",
    [("length", "=", "short"), ("roof", "in", CLOSED), ("load", "=", "triangle")],
    False,
)
SECOND = (
    "car",
    [("length", "=", "long"), ("double_sided", "=", True), ("load", "=", "circle")],
    False,
)
THEORIES = {
    "one": (clauses_theory(1), [([], [FIRST])]),
    "two": (clauses_theory(2), [([], [FIRST]), ([], [SECOND])]),
    "six conditions": (two_cars_theory(), [([], [FIRST, SECOND])]),
}


def planted(*units):
    return PlantedTheory("direction", ("west", "east"), "train", "train_id", (PlantedClause(units=units),))


@pytest.mark.parametrize("name", THEORIES)
def test_directions_follow_the_theory_where_nothing_is_turned_round(name):
    theory, plain = THEORIES[name]
    frame, children = draw_trains(theory, 800, 5)
    wanted = every_record(plain, frame, "train_id", children)
    assert (frame["direction"] == "east").tolist() == wanted
    assert sum(wanted) == 400


@pytest.mark.parametrize("clauses", range(1, len(CARS) + 1))
def test_any_number_of_clauses_of_three_conditions(clauses):
    theory = clauses_theory(clauses)
    assert [len(clause.asked) for clause in theory.clauses] == [3] * clauses
    frame, children = draw_trains(theory, 2000, 5, share=0.4)
    assert theory.holds(frame, children).sum() == 800
    for clause in theory.clauses:
        assert clause.holds(frame, "train_id", children).mean() > 0.5 * 0.4 / clauses


def test_one_clause_asks_six_conditions_of_two_cars():
    (clause,) = two_cars_theory().clauses
    assert [len(unit.conditions) for unit in clause.units] == [3, 3]


def test_clauses_are_counted():
    for clauses in (0, 7):
        with pytest.raises(ValueError, match="between 1 and 6"):
            clauses_theory(clauses)


def test_the_same_seed_draws_the_same_trains():
    first, second, other = (draw_trains(PLANTED, 300, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first[0], second[0])
    pd.testing.assert_frame_equal(first[1]["car"], second[1]["car"])
    assert not first[1]["car"].equals(other[1]["car"])


def test_cars_are_well_formed():
    frame, children = draw_trains(PLANTED, 3000, 9)
    cars = children["car"]
    assert frame["train_id"].is_unique
    assert set(cars["train_id"]) == set(frame["train_id"])
    places = cars.groupby("train_id")["position"].agg(sorted)
    assert {tuple(found) for found in places} == {(1, 2), (1, 2, 3), (1, 2, 3, 4)}
    assert ((cars["load"] == "empty") == (cars["load_count"] == 0)).all()


def test_directions_are_wrong_as_often_as_stated():
    frame, children = draw_trains(clauses_theory(1, noise=0.2), 20_000, 4)
    held = clauses_theory(1).holds(frame, children)
    wrong = np.mean((frame["direction"] == "east") != held)
    assert held.sum() == 10_000
    assert abs(wrong - 0.2) < STANDARD_ERRORS * np.sqrt(0.2 * 0.8 / len(frame))


@pytest.mark.parametrize("east", [True, False])
def test_what_the_theory_does_not_ask_for_is_drawn_alike(east):
    frame, children = draw_trains(clauses_theory(1), 20_000, 6)
    chosen = frame["train_id"][(frame["direction"] == "east") == east]
    cars = children["car"][children["car"]["train_id"].isin(chosen)]
    band = STANDARD_ERRORS * np.sqrt(0.25 / len(cars))
    for value in ("rectangle", "u_shaped", "bucket", "hexagon", "ellipse"):
        assert abs(np.mean(cars["shape"] == value) - 0.2) < band
    assert abs(np.mean(cars["wheels"] == 3) - 0.5) < band
    assert abs(np.mean(cars["double_sided"]) - 0.4) < band


def test_trains_that_no_theory_shapes_have_the_stated_cars():
    """Rejection shifts trains towards those that satisfy the theory, by weighing alone."""
    theory = clauses_theory(1)
    frame, children = draw_trains(theory, 20_000, 8)
    numbers = children["car"]["train_id"].value_counts().reindex(frame["train_id"])
    held = (frame["direction"] == "east").to_numpy()
    fits = 0.5 * 0.6 * 0.15
    chances = np.array([1 - (1 - fits) ** cars for cars in (2, 3, 4)])
    for flags, weights in ((held, chances), (~held, 1 - chances)):
        shares = weights / weights.sum()
        for cars, share in zip((2, 3, 4), shares, strict=True):
            found = np.mean(numbers.to_numpy()[flags] == cars)
            assert abs(found - share) < STANDARD_ERRORS * np.sqrt(0.25 / flags.sum())


def test_theories_without_both_kinds_of_trains_are_refused():
    schema = trains_schema()
    never = planted(Unit("car", asks(schema, "car", "length = long", "length = short")))
    always = planted(none(schema, "car", "length = long", "length = short"))
    with pytest.raises(ValueError, match="none satisfies it"):
        draw_trains(never, 10, 1)
    with pytest.raises(ValueError, match="every one satisfies it"):
        draw_trains(always, 10, 1)
    own = PlantedTheory(
        "direction", ("west", "east"), "train", "train_id", (PlantedClause((PlantedCondition("age", ">", 3),)),)
    )
    with pytest.raises(ValueError, match="about cars alone"):
        draw_trains(own, 10, 1)


def conditions(column):
    """How many conditions a clause can ask of a column, from its declaration alone."""
    number = {"boolean": lambda: 2, "categorical": lambda: len(column.categories)}
    ways = {
        "equal": lambda: number[column.type](),
        "threshold": lambda: 2 * (len(column.categories) - 1),
        "member": lambda: len(column.groups),
    }
    return sum(ways[way]() for way in column.asked_by)


@pytest.mark.parametrize(
    "theory",
    [*map(clauses_theory, range(1, 7)), two_cars_theory()],
    ids=lambda t: str(len(t.clauses)),
)
def test_every_theory_fits_a_language_of_twelve_conditions(theory):
    schema = trains_schema(theory, columns=4, max_rows=100_000)
    car = schema.children[0]
    assert schema.max_rows == 100_000
    assert {column.name for column in car.columns} == {"length", "roof", "load", "double_sided"}
    assert sum(map(conditions, car.columns)) == 12


def test_smaller_languages_keep_what_the_theory_asks_for():
    names = [column.name for column in trains_schema(clauses_theory(1), 3).children[0].columns]
    assert names == ["length", "roof", "load"]
    wheels = planted(Unit("car", asks(trains_schema(), "car", "wheels > 2", "roof = flat")))
    car = trains_schema(wheels, 3).children[0]
    assert {c.name: c.asked_by for c in car.columns} == {
        "length": ("equal",),
        "roof": ("equal",),
        "wheels": ("threshold",),
    }
    with pytest.raises(ValueError, match="asks about 3 columns"):
        trains_schema(clauses_theory(1), 2)


def test_the_whole_language_is_that_of_the_file():
    assert trains_schema() == make_trains().schema
    assert len(trains_schema(clauses_theory(1)).children[0].columns) == 8


def test_a_smaller_language_reads_the_same_records():
    theory = clauses_theory(2)
    frame, children = draw_trains(theory, 400, 3)
    schema = trains_schema(theory, 4)
    table = ingest(frame_chunks(frame), schema, SeededRandom(1), {"car": [children["car"]]})
    cars, owner = table.public_child("car")
    kept = table.public_frame()
    cars["train_id"] = owner
    kept["train_id"] = np.arange(len(kept))
    cars["double_sided"] = cars["double_sided"] == "yes"
    wanted = every_record(THEORIES["two"][1], kept, "train_id", {"car": cars})
    assert (kept["direction"] == "east").tolist() == wanted


def test_demonstration_data_hold_what_was_planted():
    demo = make_trains()
    held = PLANTED.holds(demo.frame, demo.children)
    east = (demo.frame["direction"] == "east").to_numpy()
    wanted = every_record(THEORIES["two"][1], demo.frame, "train_id", demo.children)
    assert held.tolist() == wanted
    assert len(east) == TRAINS == 2 * held.sum()
    band = STANDARD_ERRORS * np.sqrt(NOISE * (1 - NOISE) / held.sum())
    assert abs(east[held].mean() - (1 - NOISE)) < band
    assert abs(east[~held].mean() - NOISE) < band
    assert demo.schema.column("direction").classes[-1] == "east"
    for clause in PLANTED.clauses:
        covered = clause.holds(demo.frame, "train_id", demo.children)
        assert covered.mean() > 0.15
        assert f"| {clause} | {covered.sum():,} |" in demo.truth
        assert PLANTED.prolog(clause) in demo.truth
