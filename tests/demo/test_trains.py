"""Trains satisfy the theories that they were drawn for, as often as asked, and are else alike."""

from __future__ import annotations

import numpy as np
import pytest

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
from tests.oracles.theories_oracle import every_record
from tests.support.rows import for_each

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


@for_each("name", THEORIES)
def test_directions_follow_the_theory_where_nothing_is_turned_round(name):
    theory, plain = THEORIES[name]
    frame, children = draw_trains(theory, 800, 5)
    wanted = every_record(plain, frame, "train_id", children)
    assert (frame["direction"] == "east").tolist() == wanted
    assert sum(wanted) == 400


@for_each("clauses", range(1, len(CARS) + 1))
def test_any_number_of_clauses_of_three_conditions(clauses):
    theory = clauses_theory(clauses)
    assert [len(clause.asked) for clause in theory.clauses] == [3] * clauses
    frame, children = draw_trains(theory, 2000, 5, share=0.4)
    assert theory.holds(frame, children).sum() == 800
    for clause in theory.clauses:
        assert clause.holds(frame, "train_id", children).mean() > 0.5 * 0.4 / clauses


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
