"""Public benchmark data: from the folder in ``FROSTGLASS_BENCH_DATA``, else from OpenML."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpcore.domain.schemas.schema import Schema

FOLDER_VARIABLE = "FROSTGLASS_BENCH_DATA"
_SCHEMAS = Path(__file__).parent / "schemas"
#: Data sets that are the complete rows of another.
_COMPLETE_ROWS_OF = {"adult_categorical": "adult"}
#: Data sets in two files, joined on ``id``.
_TWO_FILES = {
    "cms": ("cms_left", "cms_right"),
    "mammals": ("mammal_iucn_left", "mammal_iucn_right"),
}


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
    RuntimeError
        If the folder is not named and OpenML does not have the data set.
    """
    schema = Schema.from_file(_SCHEMAS / f"{name}.yaml")
    folder = os.environ.get(FOLDER_VARIABLE)
    source = _COMPLETE_ROWS_OF.get(name, name)
    if not folder and source not in _FETCHERS:
        raise RuntimeError(f"{name} is not on OpenML: name its folder in {FOLDER_VARIABLE}.")
    frame = _from_folder(Path(folder), source) if folder else _FETCHERS[source]()
    if name in _COMPLETE_ROWS_OF:
        frame = frame.dropna().reset_index(drop=True)
    return BenchData(name, frame[[column.name for column in schema]], schema)


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
    lines = (_SCHEMAS / "mushroom_codes.txt").read_text(encoding="utf-8").splitlines()
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
