"""Cut points of numbers from a first look, beside all of the schema's: how well later runs rank."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.cross_validation import fold_numbers
from benchmarks.datasets import load
from benchmarks.records import Record, summarise
from dpcore import DPForestClassifier, DPRuleListClassifier, DPSummary, DPTreeClassifier
from dpcore.domain.columns import IntegerColumn, NumericColumn
from dpcore.domain.schemas.schema import Schema

SUITE: Final = "cuts"
DATA, EPSILONS = ("adult", "telco_churn"), (0.1, 1.0)
#: Cells of a number: those of the schema, or so many of equal width, as for somebody who does not know the column.
_FINE: Final = 32
_FAMILIES: Final = {"tree": DPTreeClassifier, "forest": DPForestClassifier, "rule list": DPRuleListClassifier}
#: Epsilon of the first look.
_LOOK, _FOLDS = 0.5, 5
_METRIC: Final = "AUC with cut points of a first look"
_SOURCE: Final = "with all cut points of the schema"


def run(data: Sequence[str] | None, epsilons: Sequence[float] | None, *, quick: bool) -> Iterator[Record]:
    """AUC on a fifth of the people, set aside, each time with others."""
    for name in data or DATA:
        own = load(name).schema.model_copy(update={"holdout_percent": 0})
        for cells, schema in (("cells of the schema", own), (f"{_FINE} even cells", _evenly(own))):
            yield from _compared(name, schema, cells, epsilons or EPSILONS, 1 if quick else 3)


def _compared(name: str, schema: Schema, cells: str, epsilons: Sequence[float], times: int) -> Iterator[Record]:
    found: dict[tuple[str, float], list[tuple[float, float]]] = {}
    data = load(name)
    frame, target = data.frame.dropna(subset=[data.target]), data.target
    labels = np.unique(frame[target].astype(str), return_inverse=True)[1]
    for repeat in range(times):
        aside = fold_numbers(labels, _FOLDS, repeat) == 0
        people, others = frame[~aside], frame[aside]
        look = _quiet(DPSummary, schema, repeat, epsilon=_LOOK).fit(people)
        for family, estimator in _FAMILIES.items():
            for epsilon in epsilons:
                chosen = {"epsilon": epsilon, "target": target}
                few = _quiet(estimator, schema, repeat, cut_points=look.cut_points(), **chosen)
                every = _quiet(estimator, schema, repeat, **chosen)
                reached = _auc(few, people, others), _auc(every, people, others)
                found.setdefault((family, epsilon), []).append(reached)
    for (family, epsilon), pairs in found.items():
        mean, error = summarise([one for one, _ in pairs])
        reference = float(np.mean([other for _, other in pairs]))
        gain, spread = summarise([one - other for one, other in pairs])
        source = f"{_SOURCE}; gain {gain:+.3f} ± {spread:.3f}"
        yield Record(SUITE, name, f"{family}, {cells}", epsilon, _METRIC, mean, error, times, reference, source)


def _quiet(estimator: Any, schema: Schema, seed: int, **chosen: Any) -> Any:
    """An estimator whose noise repeats: its warning that this is not private is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(schema=schema, random_state=seed, **chosen)


def _auc(model: Any, people: Any, others: Any) -> float:
    target = model.target
    model.fit(people.drop(columns=target), people[target])
    chances = model.predict_proba(others.drop(columns=target))[:, 1]
    return float(roc_auc_score(others[target].astype(str) == str(model.classes_[1]), chances))


def _evenly(schema: Schema) -> Schema:
    """The same bounds with cells of equal width."""
    return schema.model_copy(update={"columns": tuple(_even(column) for column in schema)})


def _even(column: Any) -> Any:
    if not isinstance(column, NumericColumn):
        return column
    most = int(column.upper - column.lower) if isinstance(column, IntegerColumn) else _FINE
    fields = column.model_dump() | {"edges": None, "bins": min(_FINE, most)}
    return type(column).model_validate(fields)
