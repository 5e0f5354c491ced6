"""Six public tables with rare outcomes or few records, and their splits: the same for every program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from benchmarks.datasets import BenchData, load
from dpcore.arrays import Flags, Floats, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import SeededRandom, permutation

#: Of each table, the programs of the house whose constants were chosen on its records, all of them or a part, or which
#: were looked at on them meanwhile.
SEEN: Final[dict[str, tuple[str, ...]]] = {
    "adult, 3 %": ("tree", "rule list", "forest", "shape functions", "first look"),
    "telco, 5 %": ("tree", "forest", "shape functions", "first look"),
    "best wines, 3 %": ("shape functions", "first look"),
    "heart, 303 rows": ("tree", "forest", "shape functions"),
    "pima, 768 rows": ("shape functions",),
}
_SEED, _TEST_SHARE = 20_260, 0.2
_BEST_GRADE = 8


@dataclass(frozen=True)
class Problem:
    """A table with two classes, in the cells of its public schema.

    Attributes
    ----------
    codes : array of shape (n_rows, n_columns)
        Cell of every column but the target.
    truth : array of shape (n_rows,)
        1 for the class that is asked about.
    """

    data: BenchData
    codes: Ints
    truth: Ints

    @property
    def columns(self) -> list[str]:
        """All columns but the target."""
        return [column.name for column in self.data.schema if column.name != self.data.target]

    @property
    def sizes(self) -> list[int]:
        """How many cells each of them has."""
        return [len(self.data.schema.column(name).cells) for name in self.columns]

    def tests(self, splits: int) -> Flags:
        """Records that are set aside in each split: shape (n_splits, n_rows), a fifth of either class."""
        return np.stack([self._apart(number) for number in range(splits)])

    def _apart(self, number: int) -> Flags:
        source, apart = SeededRandom(_SEED + number), np.zeros(len(self.truth), dtype=bool)
        for value in (0, 1):
            own = np.flatnonzero(self.truth == value)
            apart[own[permutation(source, len(own))[: round(_TEST_SHARE * len(own))]]] = True
        return apart

    def area(self, apart: Flags, scores: Floats) -> float:
        """Area under the ROC curve on the records set aside."""
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(self.truth[apart], scores))


@lru_cache(maxsize=2)
def problem(name: str) -> Problem:
    """One of the tables."""
    data = TABLES[name]()
    names = [column.name for column in data.schema if column.name != data.target]
    found = encode_columns(data.frame, data.schema, [*names, data.target])
    codes = np.stack([found[own].astype(np.int64) for own in names], axis=1)
    return Problem(data, codes, (found[data.target] == 1).astype(np.int64))


def _thinned(name: str, share: float) -> Callable[[], BenchData]:
    """A table in which the rarer class is left to a share of the records."""

    def make() -> BenchData:
        data = load(name)
        labels = encode_columns(data.frame, data.schema, [data.target])[data.target]
        rare = np.flatnonzero(labels == 1)
        keep = round(share / (1 - share) * int((labels == 0).sum()))
        left = rare[permutation(SeededRandom(_SEED), len(rare))[:keep]]
        rows = np.sort(np.concatenate([np.flatnonzero(labels == 0), left]))
        return BenchData(name, data.frame.iloc[rows].reset_index(drop=True), data.schema)

    return make


def _best_wine() -> BenchData:
    data = load("wine_quality")
    frame = data.frame.assign(quality=np.where(data.frame["quality"] >= _BEST_GRADE, "yes", "no"))
    return BenchData("best_wine", frame, _aiming(data.schema, "quality", {column.name for column in data.schema}))


def _stroke() -> BenchData:
    """Who has a stroke in 2009, by what is known of 2008, among those who are known in both years."""
    data, target = load("cms"), "stroke_tia_2009"
    kept = {column.name for column in data.schema if not column.name.endswith(("_2009", "_2010"))} | {target}
    frame = data.frame[data.frame[target].notna()].reset_index(drop=True)
    return BenchData("stroke_2009", frame, _aiming(data.schema, target, kept))


def _aiming(schema: Schema, target: str, kept: set[str]) -> Schema:
    """A schema of some columns that asks for a yes or no."""
    content = schema.to_mapping()
    columns: list[dict[str, Any]] = [column for column in content["columns"] if column["name"] in kept]
    for column in columns:
        column.pop("target", None)
    columns = [column for column in columns if column["name"] != target]
    content["columns"] = [*columns, {"name": target, "type": "boolean", "target": True}]
    return Schema.from_mapping(content)


def _plain(name: str) -> Callable[[], BenchData]:
    return lambda: load(name)


TABLES: Final[dict[str, Callable[[], BenchData]]] = {
    "adult, 3 %": _thinned("adult", 0.03),
    "telco, 5 %": _thinned("telco_churn", 0.05),
    "best wines, 3 %": _best_wine,
    "stroke in cms, 5 %": _stroke,
    "heart, 303 rows": _plain("heart_cleveland"),
    "pima, 768 rows": _plain("pima_diabetes"),
}
