"""Public tables with a target, their splits into records to learn from and others, and who learns: house and rivals."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import BenchData, load
from benchmarks.processes import asked
from dpcore.arrays import Flags, Floats, Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_categories, encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation

_SEED: Final = 20_260
_BEST_GRADE: Final = 8


@dataclass(frozen=True)
class Problem:
    """A table whose target is known for every record."""

    data: BenchData
    codes: Ints
    """Cell of every column but the target, in schema order: shape (n_rows, n_columns)."""
    truth: Any
    """Code of the class, or the numeric target: shape (n_rows,)."""

    @classmethod
    def of(cls, data: BenchData) -> Problem:
        """Encode a table; records without a target are left out."""
        frame = data.frame.dropna(subset=[data.target]).reset_index(drop=True)
        data = BenchData(data.name, frame, data.schema)
        names = [column.name for column in data.schema if column.name != data.target]
        codes = encode_columns(frame, data.schema, [*names, data.target])
        numeric = isinstance(data.schema.column(data.target), NumericColumn)
        truth = pd.to_numeric(frame[data.target]).to_numpy(np.float64) if numeric else codes[data.target].astype(int)
        return cls(data, np.stack([codes[name].astype(np.int64) for name in names], axis=1), truth)

    @property
    def columns(self) -> list[Any]:
        """All columns but the target."""
        return [column for column in self.data.schema if column.name != self.data.target]

    @property
    def sizes(self) -> list[int]:
        """How many cells each of them has."""
        return [len(column.cells) for column in self.columns]

    @property
    def ordered(self) -> list[bool]:
        """Whether the cells of each are in order."""
        return [isinstance(column, NumericColumn) for column in self.columns]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Public bounds of a numeric target."""
        column = self.data.schema.column(self.data.target)
        return (column.lower, column.upper) if isinstance(column, NumericColumn) else None


#: Which records are learned from, and which others are predicted: flags of shape (n_rows,), by a seed.
Way = Callable[[Problem, int], tuple[Flags, Flags]]


def fifth(one: Problem, seed: int) -> tuple[Flags, Flags]:
    """A fifth is set aside."""
    return first(len(one.truth), round(0.2 * len(one.truth)), seed)[::-1]


def first(rows: int, size: int, seed: int) -> tuple[Flags, Flags]:
    """The first of a shuffle, and the others."""
    chosen = np.zeros(rows, dtype=bool)
    chosen[permutation(SeededRandom(seed), rows)[:size]] = True
    return chosen, ~chosen


def fifth_of_each(one: Problem, seed: int) -> tuple[Flags, Flags]:
    """A fifth of either class is set aside."""
    source, apart = SeededRandom(_SEED + seed), np.zeros(len(one.truth), dtype=bool)
    for value in (0, 1):
        own = np.flatnonzero(one.truth == value)
        apart[own[permutation(source, len(own))[: round(0.2 * len(own))]]] = True
    return ~apart, apart


def folds(labels: Ints, count: int, repeat: int) -> Ints:
    """Fold of each record, below ``count``: every class spread evenly, shuffled by a public seed."""
    order = permutation(SeededRandom(_SEED + repeat), len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    numbers = np.empty(len(labels), dtype=np.int64)
    numbers[by_class] = np.arange(len(labels)) % count
    return numbers


def thinned(labels: Ints, share: float, source: SeededRandom) -> Flags:
    """The records that stay if the rarer of two classes is thinned out to a share of them."""
    rare = labels == np.argmin(np.bincount(labels, minlength=2))
    places = np.flatnonzero(rare)
    kept = places[permutation(source, len(places))[: round(share / (1 - share) * int((~rare).sum()))]]
    stays = ~rare
    stays[kept] = True
    return stays


@dataclass(frozen=True)
class Split:
    """Records to learn from, as a table, and others."""

    one: Problem
    learn: Flags
    apart: Flags
    table: PrivateTable

    @property
    def frame(self) -> pd.DataFrame:
        """The others, with all columns."""
        return self.one.data.frame[self.apart]

    @property
    def truth(self) -> Any:
        """Classes or numbers of the others."""
        return self.one.truth[self.apart]

    def area(self, chances: Any) -> float:
        """Area under the ROC curve of scores, or of chances of classes: of several their mean, each against the rest.

        Classes that do not occur among the others are left out.
        """
        chances = np.asarray(chances)
        if chances.ndim == 1:
            return float(roc_auc_score(self.truth == 1, chances))
        columns = range(1, 2) if chances.shape[1] == 2 else range(chances.shape[1])
        held = [(self.truth == column, chances[:, column]) for column in columns if (self.truth == column).any()]
        return float(np.mean([roc_auc_score(*own) for own in held]))

    def score(self, predicted: Floats) -> dict[str, float]:
        """Area under the ROC curve, or root mean squared error."""
        if self.one.bounds is None:
            return {"AUC": self.area(predicted)}
        return {"RMSE": float(np.sqrt(np.mean((self.truth - predicted) ** 2)))}


@lru_cache(maxsize=16)
def problem(name: str) -> Problem:
    """A public data set by its name, one of :data:`RARE`, or a demonstration."""
    if name in DEMOS:
        demo = DEMOS[name]()
        return Problem.of(BenchData(name, demo.frame, demo.schema))
    return Problem.of(RARE[name]() if name in RARE else load(name))


@lru_cache(maxsize=2)
def split(name: str, way: Way, seed: int) -> Split:
    """One split of a data set: the same for every method."""
    one = problem(name)
    learn, apart = way(one, seed)
    table = ingest(frame_chunks(one.data.frame[learn]), one.data.schema, SeededRandom(seed))
    return Split(one, learn, apart, table)


def _thinned(name: str, share: float) -> Callable[[], BenchData]:
    def make() -> BenchData:
        data = load(name)
        labels = encode_columns(data.frame, data.schema, [data.target])[data.target]
        rows = thinned(labels, share, SeededRandom(_SEED))
        return BenchData(name, data.frame[rows].reset_index(drop=True), data.schema)

    return make


def _best_wine() -> BenchData:
    data = load("wine_quality")
    frame = data.frame.assign(quality=np.where(data.frame["quality"] >= _BEST_GRADE, "yes", "no"))
    return BenchData("best_wine", frame, _aiming(data.schema, "quality", {column.name for column in data.schema}))


def _stroke() -> BenchData:
    """Who has a stroke in 2009, by what is known of 2008, among those who are known in both years."""
    data, target = load("cms"), "stroke_tia_2009"
    kept = {column.name for column in data.schema if not column.name.endswith(("_2009", "_2010"))} | {target}
    return BenchData("stroke_2009", data.frame, _aiming(data.schema, target, kept))


def _aiming(schema: Schema, target: str, kept: set[str]) -> Schema:
    """A schema of some columns that asks for a yes or no."""
    content = schema.to_mapping()
    columns = [column for column in content["columns"] if column["name"] in kept - {target}]
    for column in columns:
        column.pop("target", None)
    content["columns"] = [*columns, {"name": target, "type": "boolean", "target": True}]
    return Schema.from_mapping(content)


#: Six public tables with rare outcomes or few records.
RARE: Final[dict[str, Callable[[], BenchData]]] = {
    "adult, 3 %": _thinned("adult", 0.03),
    "telco, 5 %": _thinned("telco_churn", 0.05),
    "best wines, 3 %": _best_wine,
    "stroke in cms, 5 %": _stroke,
    "heart, 303 rows": lambda: load("heart_cleveland"),
    "pima, 768 rows": lambda: load("pima_diabetes"),
}


@dataclass(frozen=True)
class Fit:
    """A model of the house, and seconds of planning and running."""

    model: Any
    schema: Schema
    seconds: float

    def chances(self, frame: Any) -> Any:
        """Chances of all classes of other records: shape (n_rows, n_classes)."""
        return np.asarray(self.model.predict_proba(frame, self.schema))

    def predicted(self, frame: Any) -> Any:
        """Class codes, or numbers, of other records: shape (n_rows,)."""
        return np.asarray(self.model.predict(frame, self.schema))


_WARM = set[str]()


def fitted(
    table: PrivateTable,
    family: str,
    epsilon: Any,
    chosen: Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    seed: int | None = None,
    warm: bool = False,
    account: Decimal = Decimal(0),
) -> Fit:
    """A run of a learner of the house with its defaults but for what is chosen, and nobody set aside within it.

    Parameters
    ----------
    seed : int or None
        Of the noise; ``None``: from the secure source.
    warm : bool
        Whether it runs once before it is timed, if it is the first of its kind.
    account : Decimal
        Delta of the account that it is charged to.
    """
    learner, schema, known = get_learner(family), table.schema, dict(chosen or {})
    target = (schema.targets[0] if target is None else target) if learner.targeted else ""
    given = {"evaluate": False} if "evaluate" in learner.parameters.model_fields else {}
    kind = f"{family} {sorted(known.items())}"
    for _ in range(2 if warm and kind not in _WARM else 1):
        start = time.perf_counter()
        plan = learner.plan(schema, target, Decimal(str(epsilon)), given | known, account)
        model = learner.run(Run(table, plan, SecureRandom() if seed is None else SeededRandom(seed)))
        seconds = time.perf_counter() - start
    _WARM.add(kind)
    return Fit(model, schema, seconds)


def interpret(own: Split, epsilon: float | None, delta: float, *, warm: bool = False) -> dict[str, Any]:
    """Predictions of interpret's boosting machine and their seconds; without epsilon, without privacy.

    It is told raw numbers with their public bounds, and categories of the schema. It refuses missing numbers in a
    private fit: they become the lower bound.
    """
    one = own.one
    content: dict[str, Any] = {
        "names": [column.name for column in one.columns],
        "continuous": one.ordered,
        "lower": [getattr(column, "lower", 0.0) for column in one.columns],
        "upper": [getattr(column, "upper", 0.0) for column in one.columns],
        "target": one.truth,
        "target_bounds": one.bounds or (),
        "warm": warm,
    }
    used = own.learn | own.apart
    for place, column in enumerate(one.columns):
        values = one.data.frame[column.name]
        if isinstance(column, NumericColumn):
            content[f"column_{place}"] = values.fillna(column.lower).to_numpy(dtype=np.float64)[used]
        else:
            content[f"column_{place}"] = np.array(column.cells)[encode_categories(column, values)][used]
    content |= {"target": one.truth[used], "apart": own.apart[used], "epsilon": epsilon or 0, "delta": delta}
    return asked("interpret", "plain" if epsilon is None else "private", content)


def diffprivlib(own: Split, what: str, epsilon: float) -> dict[str, Any]:
    """Classes, scores of the second one and seconds of one of diffprivlib's models in one of its encodings.

    Cells that no record has would only hinder it, and are left out.
    """
    used = own.learn | own.apart
    columns = [np.unique(column, return_inverse=True) for column in own.one.codes[used].T]
    schema, target = own.one.data.schema, own.one.data.target
    return asked(
        "diffprivlib",
        what,
        {
            "codes": np.stack([codes for _, codes in columns], axis=1),
            "sizes": np.array([len(cells) for cells, _ in columns]),
            "labels": own.one.truth[used],
            "classes": np.arange(len(schema.column(target).classes)),
            "apart": own.apart[used],
            "epsilon": epsilon,
        },
    )
