"""Published relational data: from facts of Prolog to the tables of a schema.

Rules say of a row nothing about the rows that belong to it, so what hangs on a car is written into its
rows: a load carries its car's length, wheels and roof, an object what it lies in.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks.datasets import FOLDER_VARIABLE
from dpcore.domain.schemas.schema import Schema

#: Tasks of each data set; one without a name if there is only one.
TASKS = {
    "trains1000": ("trains1", "trains2", "trains3", "trains4"),
    "trains10": ("",),
    "bongard": ("",),
    "alzheimer_toxic": ("",),
}
LEFT_OUT = f"Left out: {', '.join(TASKS)}. Name the folder of their files in {FOLDER_VARIABLE}."
_SCHEMAS = Path(__file__).parent / "schemas"
_ROOFS = ("open", "flat", "jagged", "peaked", "arc")
_LOADS = ("circle", "rectangle", "triangle", "hexagon", "diamond", "inverted_triangle")
_NUMBERS = ("zero", "one", "two", "three")
_OBJECTS = ("circle", "square", "triangle")
_RING_PLACES = (2, 3, 4, 5, 6)
#: Grades of a part, and the predicates that tell them.
_KINDS = {"polar": "polar", "sigma": "sigma", "acceptor": "h_acceptor", "polarisable": "polarisable"}


@dataclass(frozen=True)
class Relational:
    """A task: tables without labels, the labels of the main table's rows, and the schema."""

    tables: dict[str, pd.DataFrame]
    labels: pd.Series
    schema: Schema


def possible() -> bool:
    """Whether the folder of the files is named."""
    return bool(os.environ.get(FOLDER_VARIABLE))


@cache
def load(data: str, task: str = "") -> Relational:
    """Read a task.

    Raises
    ------
    RuntimeError
        If the folder is not named.
    """
    if not possible():
        raise RuntimeError(LEFT_OUT)
    schema = Schema.from_file(_SCHEMAS / f"{data}.yaml")
    facts, examples = _read(data, "facts"), _read(data, "examples")
    if task:
        examples = examples[examples["task"] == task].drop(columns="task")
    *keys, label = examples.columns
    examples = examples.reset_index(drop=True)
    main = pd.DataFrame({schema.privacy_unit.column: examples[keys].agg("-".join, axis=1)})
    children = _READERS[data](_Facts(facts), examples)
    labels = (examples[label] == "1").rename(schema.targets[0])
    return Relational({schema.entity: main, **children}, labels, schema)


def _read(data: str, part: str) -> pd.DataFrame:
    path = Path(os.environ[FOLDER_VARIABLE]) / f"{data}_{part}.csv.gz"
    return pd.read_csv(path, keep_default_na=False, dtype=str)


class _Facts:
    """Facts by predicate, the first argument or two of each."""

    def __init__(self, facts: pd.DataFrame) -> None:
        self._by_predicate = dict(list(facts.groupby("predicate")))

    def pairs(self, predicate: str, first: str, second: str) -> pd.DataFrame:
        """Both arguments of a predicate."""
        found = self._by_predicate[predicate]
        return pd.DataFrame({first: found["arg1"], second: found["arg2"]})

    def triples(self, predicate: str, *names: str) -> pd.DataFrame:
        """All three arguments of a predicate."""
        found = self._by_predicate[predicate][["arg1", "arg2", "arg3"]]
        return found.set_axis(names, axis=1)

    def attribute(self, things: pd.Series, predicates: dict[str, str], other: str) -> pd.Series:
        """For each thing, the value whose predicate holds of it; ``other`` if none does."""
        values = {
            thing: value for predicate, value in predicates.items() for thing in self._by_predicate[predicate]["arg1"]
        }
        return things.map(values).fillna(other)

    def value(self, things: pd.Series, predicate: str, argument: str, other: str) -> pd.Series:
        """For each thing, an argument of the first fact about it; ``other`` if there is none."""
        found = self._by_predicate[predicate].drop_duplicates("arg1")
        return things.map(dict(zip(found["arg1"], found[argument], strict=True))).fillna(other)

    def second_and_third(self, predicate: str) -> dict[str, str]:
        """The third argument of a predicate by the second."""
        found = self._by_predicate[predicate]
        return dict(zip(found["arg2"], found["arg3"], strict=True))


def _trains1000(facts: _Facts, _: pd.DataFrame) -> dict[str, pd.DataFrame]:
    cars = facts.pairs("has_car", "train", "car")
    cars["length"] = facts.attribute(cars["car"], _same(("short", "long")), "")
    cars["wheels"] = facts.attribute(cars["car"], {"two_wheels": "2", "three_wheels": "3"}, "")
    cars["roof"] = facts.attribute(cars["car"], {f"roof_{name}": name for name in _ROOFS}, "")
    loads = facts.pairs("has_load", "car", "load")
    loads["shape"] = facts.attribute(loads["load"], _same(_LOADS), "")
    pieces = {f"{name}_load": str(number) for number, name in enumerate(_NUMBERS)}
    loads["pieces"] = facts.attribute(loads["load"], pieces, "")
    cars["loads"] = cars["car"].map(loads["car"].value_counts()).fillna(0).astype(int).astype(str)
    carried = cars.rename(columns={name: f"car_{name}" for name in ("length", "wheels", "roof")})
    loads = loads.merge(carried.drop(columns="loads"), on="car")
    return {"car": cars.drop(columns="car"), "load": loads.drop(columns=["car", "load"])}


def _trains10(facts: _Facts, _: pd.DataFrame) -> dict[str, pd.DataFrame]:
    cars = facts.pairs("has_car", "train", "car")
    names = cars["car"]
    cars["length"] = facts.attribute(names, _same(("short", "long")), "")
    cars["top"] = facts.attribute(names, _same(("open", "closed")), "")
    cars["shape"] = facts.value(names, "shape", "arg2", "")
    cars["double"] = facts.attribute(names, {"double": "yes"}, "no")
    cars["wheels"] = facts.value(names, "wheels", "arg2", "")
    cars["load"] = facts.value(names, "load", "arg2", "nil")
    cars["pieces"] = facts.value(names, "load", "arg3", "0")
    return {"car": cars.drop(columns="car")}


def _bongard(facts: _Facts, _: pd.DataFrame) -> dict[str, pd.DataFrame]:
    found = [facts.pairs(shape, "picture", "object").assign(shape=shape) for shape in _OBJECTS]
    objects = pd.concat(found, ignore_index=True)
    points = facts.second_and_third("config")
    objects["points"] = objects["object"].map(points).fillna("nowhere")
    around = objects["object"].map(facts.second_and_third("inside"))
    objects["inside"] = around.map(objects.set_index("object")["shape"]).fillna("nothing")
    objects["inside_points"] = around.map(points).fillna("nowhere")
    return {"object": objects.drop(columns="object")}


def _alzheimer_toxic(facts: _Facts, examples: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A row for each part of either molecule: what it is, where, and of what kind."""
    found = [facts.pairs(f"ring_subst_{place}", "drug", "what").assign(place=f"ring_{place}") for place in _RING_PLACES]
    rests = facts.triples("x_subst", "drug", "place", "what")
    found.append(rests.assign(place="x_" + rests["place"]))
    for number in (1, 2, 3):
        chain = facts.pairs(f"r_subst_{number}", "drug", "what")
        bonds = chain["what"].str.extract(r"^(\w+?)\((.*)\)$")
        chain["what"] = bonds[0].fillna(chain["what"])
        chain["bonds"] = bonds[1].where(bonds[1].str.fullmatch(r"\d"), "").fillna("")
        found.append(chain.assign(place=f"chain_{number}"))
    alkyls = facts.pairs("alk_groups", "drug", "number")
    alkyls = alkyls.loc[alkyls.index.repeat(alkyls["number"].astype(int)), ["drug"]]
    found.append(alkyls.assign(place="anywhere", what="alkyl"))
    parts = pd.concat(found, ignore_index=True).fillna("")
    for name, predicate in _KINDS.items():
        parts[name] = facts.value(parts["what"], predicate, "arg2", "").str.extract(r"(\d+)$")[0].fillna("")
    sides = [
        pd.DataFrame({"pair": examples["arg1"] + "-" + examples["arg2"], "drug": examples[side], "molecule": molecule})
        for side, molecule in (("arg1", "first"), ("arg2", "second"))
    ]
    return {"part": pd.concat(sides).merge(parts, on="drug").drop(columns="drug")}


def _same(names: Sequence[str]) -> dict[str, str]:
    return {name: name for name in names}


_READERS = {"trains1000": _trains1000, "trains10": _trains10, "bongard": _bongard, "alzheimer_toxic": _alzheimer_toxic}
