"""The picture of a train: every known part is there, and what is unknown is grey and dashed."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.demo.trains import draw_trains, make_trains, two_cars_theory
from dpcore.domain.columns import MISSING, OTHER
from dpcore.domain.schemas.schema import Schema
from dpcore.plots.ilp.train import is_train, train_alt, train_figure
from dpcore.privacy.randomness import SeededRandom
from tests.support.tables.small_tables import ward

FULL = {
    "position": 1,
    "length": "short",
    "shape": "u_shaped",
    "double_sided": True,
    "roof": "peaked",
    "wheels": 3,
    "load": "triangle",
    "load_count": 2,
}
LOADS = ("circle", "triangle", "rectangle", "hexagon", "diamond", "inverted_triangle")
SHAPES = ("rectangle", "u_shaped", "bucket", "hexagon", "ellipse")


def cars(*rows):
    return pd.DataFrame(list(rows))


def outlines(figure, name):
    """Shapes of one trace, each a list of points."""
    (item,) = (item for item in figure.data if item.name == name)
    found, shape = [], []
    for x, y in zip(item.x, item.y, strict=True):
        if x is None:
            found.append(shape)
            shape = []
        else:
            shape.append((x, y))
    return found


def counts(figure):
    names = [item.name for item in figure.data if item.mode == "lines"]
    return {name: len(outlines(figure, name)) for name in names}


def width(shape):
    return max(x for x, _ in shape) - min(x for x, _ in shape)


def test_every_part_of_a_known_car_is_drawn():
    found = counts(train_figure(cars(FULL)))
    assert (found["bodies"], found["double sides"], found["roofs"]) == (1, 1, 1)
    assert (found["wheels"], found["hubs"], found["loads"]) == (3, 3, 2)
    assert not any(number for name, number in found.items() if name.startswith("unknown"))


def test_what_a_car_has_not_is_not_drawn():
    bare = {**FULL, "double_sided": False, "roof": "open", "load": "empty", "load_count": 0}
    found = counts(train_figure(cars(bare)))
    assert (found["double sides"], found["roofs"], found["loads"]) == (0, 0, 0)
    assert not any(number for name, number in found.items() if name.startswith("unknown"))


@pytest.mark.parametrize("empty", [{"load": "empty"}, {"load_count": 0}])
def test_either_of_two_columns_can_say_that_a_car_is_empty(empty):
    found = counts(train_figure(cars({"length": "long", **empty})))
    assert found["loads"] == found["unknown loads"] == 0
    assert "no load" in train_alt(cars({"length": "long", **empty}))


def test_what_is_unknown_is_grey_and_dashed():
    figure = train_figure(cars({"length": "short"}, {"shape": "bucket"}, {"roof": "closed"}))
    found = counts(figure)
    assert (found["bodies"], found["unknown bodies"]) == (0, 3)
    assert (found["roofs"], found["unknown roofs"], found["roofs of any kind"]) == (0, 2, 1)
    assert (found["wheels"], found["unknown wheels"]) == (0, 6)
    assert (found["loads"], found["unknown loads"]) == (0, 3)
    for item in figure.data:
        if item.name.startswith("unknown"):
            assert item.line.dash in {"dash", "dot"}
            assert item.line.color == "#7b8b92"


@pytest.mark.parametrize("value", [None, float("nan"), MISSING, OTHER, "(2, 3]", "something else"])
def test_values_that_are_not_known_there_count_as_unknown(value):
    row = dict.fromkeys(FULL, value)
    assert counts(train_figure(cars(row))) == counts(train_figure(cars({"name": "x"})))
    assert train_alt(cars(row)) == "A train of 1 car. Car 1: nothing known."


def test_cars_stand_in_the_order_of_their_positions_without_overlap():
    rows = [{**FULL, "position": 2, "length": "long"}, {**FULL, "position": 3}, {**FULL, "position": 1}]
    shuffled, ordered = train_figure(cars(*rows)), train_figure(cars(rows[2], rows[0], rows[1]))
    assert shuffled == ordered
    bodies = outlines(shuffled, "bodies")
    assert width(bodies[1]) > width(bodies[0])
    for first, second in itertools.pairwise(bodies):
        assert max(x for x, _ in first) < min(x for x, _ in second)


@pytest.mark.crossed
@pytest.mark.parametrize("shape", [*SHAPES, None])
@pytest.mark.parametrize("length", ["short", "long"])
def test_loads_lie_inside_the_car_and_everything_inside_the_picture(shape, length):
    row = {**FULL, "shape": shape, "length": length, "load_count": 3}
    figure = train_figure(cars(*({**row, "position": place, "load": load} for place, load in enumerate(LOADS, 1))))
    (low, high), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert figure.layout.meta["width"] == high
    for name in counts(figure):
        for x, y in (point for outline in outlines(figure, name) for point in outline):
            assert low <= x <= high
            assert top <= y <= bottom
    bodies, loads = outlines(figure, "bodies" if shape else "unknown bodies"), outlines(figure, "loads")
    assert len(loads) == 3 * len(bodies) == 3 * len(LOADS)
    for place, body in enumerate(bodies):
        left, right = min(x for x, _ in body), max(x for x, _ in body)
        for load in loads[3 * place : 3 * place + 3]:
            assert all(left < x < right for x, _ in load)


def test_words_tell_what_is_drawn():
    second = {"position": 2, "length": "long", "roof": "open", "load": "inverted_triangle"}
    text = train_alt(cars(FULL, second))
    assert text == (
        "A train of 2 cars. Car 1: short, U-shaped, double-sided, peaked roof, 3 wheels, "
        "load: 2 triangles. Car 2: long, open, load: inverted triangle, the rest unknown."
    )
    figure = train_figure(cars(FULL, second))
    (words,) = (item for item in figure.data if item.name == "words")
    for number, said in enumerate(words.hovertext, 1):
        assert said.replace("car", "Car", 1) + "." in text
        assert said.startswith(f"car {number}: ")


def test_cars_of_a_table_are_drawn_as_those_of_the_file():
    frame, children = draw_trains(two_cars_theory(), 20, 3)
    demo_schema = make_trains().schema
    table = ingest(frame_chunks(frame), demo_schema, SeededRandom(1), {"car": [children["car"]]})
    kept, owner = table.public_child("car")
    drawn = {train_alt(kept[owner == place]) for place in range(len(frame))}
    assert drawn == {train_alt(rows) for _, rows in children["car"].groupby("train_id")}


def schema(**child):
    car = {"name": "car", "max_rows_per_person": 4, "columns": []} | child
    return ward(
        {"name": "direction", "type": "boolean"},
        name="tiny",
        max_rows=10,
        privacy_unit={"column": "id"},
        children=[car],
    )


def test_only_trains_are_drawn():
    columns = [{"name": name, "type": "boolean"} for name in ("length", "roof", "wheels", "x")]
    assert is_train(make_trains().schema)
    assert is_train(schema(columns=columns))
    assert not is_train(schema(columns=columns[1:]))
    assert not is_train(schema(columns=columns, name="wagon"))
    plain = {"name": "t", "max_rows": 9, "columns": [{"name": "length", "type": "boolean"}]}
    assert not is_train(Schema.from_mapping(plain))
