"""Trains going east or west, after Michalski, for any theory about their cars.

Cars are drawn alike and independently. Whether a theory holds of a train is therefore rare or
common as it happens; trains are drawn again until a chosen share of them satisfies it. Only then
is the direction drawn, from the theory alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Bytes, Flags
from dpcore.demo.theories import Asked, PlantedClause, PlantedTheory, Unit, some
from dpcore.demo.truth import Demo, PlantedCondition
from dpcore.domain.columns import Column
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import public_generator

TRAINS: Final = 5_000
SEED: Final = 20_250_518
NOISE: Final = 0.05
_MOST_CARS: Final = 4
_BATCH: Final = 50_000
#: Batches after which a theory is refused that no train, or every train, satisfied.
_PATIENCE: Final = 4

Generator = np.random.Generator

#: What the values are, and with which weights they are drawn.
_VALUES: Final[dict[str, tuple[tuple[object, ...], tuple[int, ...]]]] = {
    "length": (("short", "long"), (1, 1)),
    "roof": (("open", "flat", "jagged", "peaked", "arc"), (8, 3, 3, 3, 3)),
    "load": (
        ("empty", "circle", "triangle", "rectangle", "hexagon", "diamond", "inverted_triangle"),
        (2, 3, 3, 3, 3, 3, 3),
    ),
    "double_sided": ((False, True), (3, 2)),
    "wheels": ((2, 3), (1, 1)),
    "shape": (("rectangle", "u_shaped", "bucket", "hexagon", "ellipse"), (1, 1, 1, 1, 1)),
    "load_count": ((0, 1, 2, 3), (0, 1, 1, 1)),
    "position": ((1, 2, 3, 4), (1, 1, 1, 1)),
}

_SCHEMA: Final = Schema.from_file(Path(__file__).with_name("trains.yaml"))


def _car(*texts: str) -> Unit:
    return some(_SCHEMA, "car", *texts)


#: Cars that a clause of three conditions asks for. All need four columns, and no car is two of
#: them, because their loads differ.
CARS: Final = (
    _car("length = short", "roof in closed", "load = triangle"),
    _car("length = long", "double_sided = yes", "load = circle"),
    _car("roof in closed", "double_sided = yes", "load = hexagon"),
    _car("length = long", "double_sided = no", "load = diamond"),
    _car("length = short", "double_sided = yes", "load = rectangle"),
    _car("length = long", "roof in closed", "load = inverted_triangle"),
)


def _theory(noise: float, *clauses: PlantedClause) -> PlantedTheory:
    return PlantedTheory(
        target="direction",
        classes=("west", "east"),
        entity="train",
        key="train_id",
        clauses=clauses,
        chance=1 - noise,
        otherwise=noise,
    )


def clauses_theory(clauses: int, noise: float = 0.0) -> PlantedTheory:
    """A theory of one to six clauses, each of three conditions on one car.

    Parameters
    ----------
    noise : float
        Chance that a train's direction is the wrong one.

    Raises
    ------
    ValueError
        If there are not that many clauses.
    """
    if not 1 <= clauses <= len(CARS):
        raise ValueError(f"Choose between 1 and {len(CARS)} clauses.")
    return _theory(noise, *(PlantedClause(units=(car,)) for car in CARS[:clauses]))


def two_cars_theory(noise: float = 0.0) -> PlantedTheory:
    """A theory of one clause of six conditions: three on one car, three on another."""
    return _theory(noise, PlantedClause(units=CARS[:2]))


PLANTED: Final = clauses_theory(2, NOISE)


def trains_schema(
    theory: PlantedTheory | None = None,
    columns: int | None = None,
    max_rows: int | None = None,
) -> Schema:
    """The schema of the trains, or a smaller language around a theory.

    Parameters
    ----------
    theory : PlantedTheory, optional
        Columns that it asks about are asked in the ways that it needs and in no other.
    columns : int, optional
        Columns of cars to keep: those of the theory, most used first, then the others in schema
        order. The theories of this module need four or fewer; with ``columns=4`` a car can be
        described by 12 conditions: its length (2), whether its roof is closed (1), its load (7)
        and whether it is double-sided (2).
    max_rows : int, optional
        Most trains, if not as in the schema file.

    Raises
    ------
    ValueError
        If the theory needs more columns.
    """
    car = _SCHEMA.children[0]
    asked = [condition for _, condition in _asked(theory)]
    uses = Counter(condition.column for condition in asked)
    names = [column.name for column in car.columns]
    chosen = sorted(names, key=lambda name: (-uses[name], names.index(name)))[:columns]
    if any(name not in chosen for name in uses):
        raise ValueError(f"The theory asks about {len(uses)} columns: keep at least these.")
    kept = [
        column.model_copy(update={"modes": _ways(column, asked)}) for column in car.columns if column.name in chosen
    ]
    content = _SCHEMA.model_dump(mode="json")
    content["children"][0]["columns"] = [column.model_dump(mode="json") for column in kept]
    return Schema.from_mapping({**content, "max_rows": max_rows or _SCHEMA.max_rows})


def _asked(theory: PlantedTheory | None) -> list[tuple[str, Asked]]:
    return [item for clause in theory.clauses for item in clause.asked] if theory else []


def _ways(column: Column, asked: list[Asked]) -> tuple[str, ...] | None:
    """Ways in which the conditions ask about a column; if none does, those of the schema."""
    ways = {_way(condition) for condition in asked if condition.column == column.name}
    return tuple(sorted(ways)) or column.modes


def _way(condition: Asked) -> str:
    if not isinstance(condition, PlantedCondition):
        return "member"
    return "equal" if condition.sign == "=" else "threshold"


@dataclass(frozen=True)
class _Cars:
    """Cars of many trains: positions in ``_VALUES``, arrays (n_trains, 4); where there is a car."""

    codes: dict[str, Bytes]
    there: Flags

    def chosen(self, trains: Array) -> _Cars:
        codes = {name: values[trains] for name, values in self.codes.items()}
        return _Cars(codes, self.there[trains])

    @staticmethod
    def joined(parts: list[_Cars]) -> _Cars:
        codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes}
        return _Cars(codes, np.concatenate([part.there for part in parts]))


def draw_trains(
    theory: PlantedTheory, trains: int, seed: int, share: float = 0.5
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Draw trains of which a given share satisfies a theory, and their directions.

    Parameters
    ----------
    share : float
        Share of the trains, rounded to whole ones, that satisfy the theory. They are drawn as
        trains are, given that they satisfy it; the others, given that they do not. Afterwards
        the direction is drawn with the chances of the theory.

    Returns
    -------
    (DataFrame, dict)
        Trains, in random order, and the table ``car``.

    Raises
    ------
    ValueError
        If the theory asks about trains themselves, or no train satisfies it, or every one does.
    """
    generator = public_generator(seed)
    held = np.arange(trains) < round(trains * share)
    cars = _Cars.joined([_drawn(theory, held.sum(), True, generator), _drawn(theory, (~held).sum(), False, generator)])
    order = generator.permutation(trains)
    cars, held = cars.chosen(order), held[order]
    names = np.asarray([f"T{number:06d}" for number in range(trains)], dtype=object)
    east = theory.draw(held, generator)
    labels = np.asarray(theory.classes, dtype=object)[east.astype(int)]
    frame = pd.DataFrame({theory.key: names, theory.target: labels})
    return frame, {"car": _rows(cars, theory.key, names, generator)}


def _drawn(theory: PlantedTheory, trains: int, wanted: bool, generator: Generator) -> _Cars:
    """As many trains as asked for, all of which satisfy the theory, or none."""
    parts = [_invented(0, generator)]
    found = tried = 0
    while found < trains:
        cars = _invented(_BATCH, generator)
        chosen = np.flatnonzero(_satisfied(theory, cars) == wanted)[: trains - found]
        parts.append(cars.chosen(chosen))
        found, tried = found + len(chosen), tried + 1
        if found == 0 and tried == _PATIENCE:
            raise ValueError(
                "Choose a theory that some trains satisfy and others do not: of "
                f"{tried * _BATCH:,} trains, {'none' if wanted else 'every one'} satisfies it."
            )
    return _Cars.joined(parts)


def _invented(trains: int, generator: Generator) -> _Cars:
    """Trains of two to four cars, all alike likely; an empty car holds no piece of load."""
    shape = (trains, _MOST_CARS)
    codes = {}
    for name, (values, weights) in _VALUES.items():
        tickets = np.repeat(np.arange(len(values), dtype=np.uint8), weights)
        codes[name] = tickets[generator.integers(0, len(tickets), shape, dtype=np.uint8)]
    codes["load_count"][codes["load"] == 0] = 0
    codes["position"] = np.broadcast_to(np.arange(_MOST_CARS, dtype=np.uint8), shape)
    there = np.arange(_MOST_CARS) < generator.integers(2, _MOST_CARS + 1, trains)[:, None]
    return _Cars(codes, there)


def _satisfied(theory: PlantedTheory, cars: _Cars) -> Flags:
    """Which trains satisfy the theory: :meth:`PlantedTheory.holds` on codes."""
    held = np.zeros(len(cars.there), dtype=bool)
    for clause in theory.clauses:
        if clause.conditions:
            raise ValueError("Choose a theory about cars alone: trains have no other column.")
        every = np.ones(len(held), dtype=bool)
        for unit in clause.units:
            fits = cars.there.copy()
            for condition in unit.conditions:
                fits &= _known(condition)[cars.codes[condition.column]]
            every &= fits.any(axis=1) ^ unit.negated
        held |= every
    return held


@cache
def _known(condition: Asked) -> Flags:
    """Which of a column's values satisfy a condition."""
    values = pd.Series(_VALUES[condition.column][0])
    return condition.holds(pd.DataFrame({condition.column: values}))


def _rows(cars: _Cars, key: str, names: Array, generator: Generator) -> pd.DataFrame:
    """Rows of the table ``car``, those of all trains in random order."""
    trains, places = np.nonzero(cars.there)
    order = generator.permutation(len(trains))
    trains, places = trains[order], places[order]
    content: dict[str, object] = {key: names[trains]}
    for name, (values, _) in _VALUES.items():
        content[name] = pd.Series(values).to_numpy()[cars.codes[name][trains, places]]
    return pd.DataFrame(content)


def make_trains() -> Demo:
    """Make the data set ``trains``: the same records at every call."""
    frame, children = draw_trains(PLANTED, TRAINS, SEED)
    return Demo(frame, _SCHEMA, _truth(frame, children), "trains", children=children)


def _truth(frame: pd.DataFrame, children: dict[str, pd.DataFrame]) -> str:
    """What was planted, in Markdown, with counts taken from the records themselves."""
    return "\n\n".join(
        [
            "### What is true of `trains`",
            f"A program invented these **{len(frame):,} trains with {len(children['car']):,} "
            "cars**. Half of the trains satisfy one of the two clauses below, half satisfy "
            "neither; apart from that, cars were drawn without looking at one another. A train "
            "that satisfies a clause goes east, any other west; but each was turned round with a "
            f"chance of {100 * NOISE:.0f}%. No rule can be expected to be right about more than "
            f"{100 - 100 * NOISE:.0f}% of trains like these.",
            PLANTED.to_markdown(frame, children),
            "All conditions on a car must hold for **one and the same car**: a train with a "
            "short open car and a long closed car has no car that is short and closed.",
        ]
    )
