"""Public benchmark data: from the folder in ``FROSTGLASS_BENCH_DATA``, else from OpenML.

Of relational data facts of Prolog become the tables of a schema. Rules say of a row nothing about the rows that belong
to it, so what hangs on a car is written into its rows: a load carries its car's length, wheels and roof, an object what
it lies in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks.declared import LeftOutError
from dpcore.domain.schemas.schema import Schema

FOLDER_VARIABLE = "FROSTGLASS_BENCH_DATA"
SCHEMAS = Path(__file__).parent / "schemas"
#: Data sets that are the complete rows of another.
_COMPLETE_ROWS_OF = {"adult_categorical": "adult"}
#: Data sets in two files, joined on ``id``.
_TWO_FILES = {"cms": ("cms_left", "cms_right"), "mammals": ("mammal_iucn_left", "mammal_iucn_right")}


@dataclass(frozen=True)
class BenchData:
    """A public data set with its hand-declared schema."""

    name: str
    frame: pd.DataFrame
    schema: Schema

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.schema.targets[0]


def load(name: str) -> BenchData:
    """Load a data set that has a schema in ``benchmarks/schemas``.

    ``adult_categorical`` is Adult without numbers and without incomplete rows.

    Raises
    ------
    LeftOutError
        If the folder is not named and OpenML does not have the data set.
    """
    schema = Schema.from_file(SCHEMAS / f"{name}.yaml")
    source = _COMPLETE_ROWS_OF.get(name, name)
    fetched = not os.environ.get(FOLDER_VARIABLE) and source in _FETCHERS
    frame = _FETCHERS[source]() if fetched else _from_folder(_folder(name), source)
    if name in _COMPLETE_ROWS_OF:
        frame = frame.dropna().reset_index(drop=True)
    return BenchData(name, frame[[column.name for column in schema]], schema)


def _folder(name: str) -> Path:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise LeftOutError(f"{name} is not on OpenML: name its folder in {FOLDER_VARIABLE}.", everything=True)
    return Path(folder)


def _from_folder(folder: Path, name: str) -> pd.DataFrame:
    if name in _TWO_FILES:
        left, right = (_read(folder, file) for file in _TWO_FILES[name])
        return left.merge(right, on="id", validate="one_to_one")
    frame = _read(folder, name)
    return _answered(frame) if name == "npas" else frame


def _answered(frame: pd.DataFrame) -> pd.DataFrame:
    """A questionnaire in which 0 means not answered, except for yes/no questions."""
    coded = [column for column in frame.select_dtypes("number") if not column.startswith(("race_", "VCL"))]
    return frame.assign(**{column: frame[column].mask(frame[column] == 0) for column in coded})


def _read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])


def _openml(name: str, version: int) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    frame = fetch_openml(name=name, version=version, as_frame=True).frame
    return frame.rename(columns=lambda column: column.replace("-", "_"))


def _adult() -> pd.DataFrame:
    return _openml("adult", 2).rename(columns={"class": "income"})


def _titanic() -> pd.DataFrame:
    names = {
        "pclass": "Pclass",
        "survived": "Survived",
        "sex": "Sex",
        "age": "Age",
        "sibsp": "SibSp",
        "parch": "Parch",
        "embarked": "Embarked",
    }
    return _openml("titanic", 1).rename(columns=names)


def _mushroom() -> pd.DataFrame:
    frame = _openml("mushroom", 1).rename(columns={"bruises%3F": "bruises"})
    for column, book in _code_book().items():
        frame[column] = frame[column].astype(str).str.strip("'").map(book)
    return frame


def _nursery() -> pd.DataFrame:
    frame = _openml("nursery", 1)
    return frame.apply(lambda values: values.astype(str).str.strip("'"))


def _telco_churn() -> pd.DataFrame:
    frame = _openml("telco-customer-churn", 1)
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].apply(lambda values: values.astype(str).str.strip("'"))
    frame["TotalCharges"] = pd.to_numeric(frame["TotalCharges"], errors="coerce")
    return frame


def _california_housing() -> pd.DataFrame:
    return _openml("houses", 1)


def _wine_quality() -> pd.DataFrame:
    return _openml("wine_quality", 1).rename(columns=lambda column: column.replace(".", "_"))


def _elevators() -> pd.DataFrame:
    return _openml("elevators", 1).rename(columns={"Goal": "goal"})


def _code_book() -> dict[str, dict[str, str]]:
    """Letters of the UCI file and the words that the schema uses."""
    lines = (SCHEMAS / "mushroom_codes.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(":") for line in lines if line and not line.startswith("#"))
    return {
        column.strip(): {entry.split("=")[1]: entry.split("=")[0] for entry in words.split()} for column, words in pairs
    }


_FETCHERS: dict[str, Callable[[], pd.DataFrame]] = {
    "adult": _adult,
    "california_housing": _california_housing,
    "elevators": _elevators,
    "mushroom": _mushroom,
    "nursery": _nursery,
    "telco_churn": _telco_churn,
    "titanic": _titanic,
    "wine_quality": _wine_quality,
}

#: Tasks of each data set; one without a name if there is only one.
TASKS = {
    "trains1000": ("trains1", "trains2", "trains3", "trains4"),
    "trains10": ("",),
    "bongard": ("",),
    "alzheimer_toxic": ("",),
}
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


@cache
def relational(data: str, task: str = "") -> Relational:
    """Read a task.

    Raises
    ------
    LeftOutError
        If the folder is not named.
    """
    schema = Schema.from_file(SCHEMAS / f"{data}.yaml")
    facts, examples = (_told(data, part) for part in ("facts", "examples"))
    if task:
        examples = examples[examples["task"] == task].drop(columns="task")
    *keys, label = examples.columns
    examples = examples.reset_index(drop=True)
    main = pd.DataFrame({schema.privacy_unit.column: examples[keys].agg("-".join, axis=1)})
    children = _READERS[data](_Facts(facts), examples)
    labels = (examples[label] == "1").rename(schema.targets[0])
    return Relational({schema.entity: main, **children}, labels, schema)


def _told(data: str, part: str) -> pd.DataFrame:
    return pd.read_csv(_folder(data) / f"{data}_{part}.csv.gz", keep_default_na=False, dtype=str)


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
