"""How well trees and forests separate chances where an outcome is rare: area under the ROC curve."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pandas as pd
from rich.table import Table

from benchmarks.datasets import load
from benchmarks.records import Record, summarise
from benchmarks.trees_methods import Private
from dpcore.arrays import Floats, Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.encoding import encode_columns
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation

SUITE = "trees-chances"
EPSILONS = (0.1, 1.0, 4.0)
#: Share of the rarer of two classes that is left; the rarest classes of Nursery are rare as they are.
SHARES = {"adult": 0.03, "telco_churn": 0.05, "mushroom": 0.03, "titanic": 0.1, "nursery": None}
METHODS = {
    "exact, default": Private("tree", {}),
    "exact, label": Private("tree", {"criterion": "error"}),
    "exact, purity": Private("tree", {"criterion": "gini"}),
    "ADiffP, label": Private("tree", {"method": "adiffp", "criterion": "error"}),
    "ADiffP, chances": Private("tree", {"method": "adiffp", "criterion": "gini"}),
    "RFDiffP split": Private("forest", {"method": "rfdiffp", "sharing": "split"}),
    "RFDiffP parts": Private("forest", {"method": "rfdiffp", "sharing": "parts"}),
    "random trees": Private("forest", {"method": "random_trees", "sharing": "split"}),
}
_TRAINING = 0.7


def run(
    names: list[str] | None, epsilons: list[float] | None, *, quick: bool, only: list[str] | None = None
) -> Iterator[Record]:
    """Fit every method several times, each time to other records."""
    fits = 2 if quick else 5
    for name in [name for name in SHARES if not names or name in names]:
        for epsilon in epsilons or EPSILONS:
            for method in [method for method in METHODS if not only or method in only]:
                found = [_area(name, method, epsilon, seed) for seed in range(fits)]
                yield Record(SUITE, name, method, epsilon, "AUC", *summarise(found), fits, None, "")


def table(records: list[Record]) -> Table:
    """Areas, a row for each data set and epsilon, a column for each method."""
    found = {(record.data, record.epsilon, record.method): record for record in records}
    shown = Table(title="Area under the ROC curve where outcomes are rare")
    methods = list(dict.fromkeys(record.method for record in records))
    for heading in ("data", "epsilon", *methods):
        shown.add_column(heading)
    for data, epsilon in dict.fromkeys((data, epsilon) for data, epsilon, _ in found):
        own = [found[data, epsilon, method] for method in methods]
        shown.add_row(data, f"{epsilon:g}", *(f"{one.mean:.3f} ± {one.stderr:.3f}" for one in own))
    return shown


@lru_cache(maxsize=16)
def _split(name: str, seed: int) -> tuple[PrivateTable, str, pd.DataFrame]:
    """Most records of a data set in which an outcome is rare, encoded; the target, and the other records."""
    data, source = load(name), SeededRandom(seed)
    frame = data.frame.iloc[permutation(source, len(data.frame))]
    share = SHARES[name]
    if share is not None:
        labels = encode_columns(frame, data.schema, [data.target])[data.target]
        rare = labels == np.argmin(np.bincount(labels))
        most = round(share / (1 - share) * int((~rare).sum()))
        frame = frame[~rare | (rare.cumsum() <= most)]
        frame = frame.iloc[permutation(source, len(frame))]  # The rare ones that are left came first.
    size = round(_TRAINING * len(frame))
    table = ingest(frame_chunks(frame.iloc[:size]), data.schema, source)
    return table, data.target, frame.iloc[size:]


def _area(name: str, method: str, epsilon: float, seed: int) -> float:
    table, target, test = _split(name, seed)
    way = METHODS[method]
    learner = get_learner(way.learner)
    plan = learner.plan(table.schema, target, Decimal(str(epsilon)), {**way.parameters, "evaluate": False})
    chances = np.asarray(learner.run(Run(table, plan, SecureRandom())).predict_proba(test, table.schema))
    return area(encode_columns(test, table.schema, [target])[target], chances)


def area(labels: Ints, chances: Floats) -> float:
    """Area under the curve; of several classes the mean, each against the others, of those that occur."""
    from sklearn.metrics import roc_auc_score

    columns = range(1, 2) if chances.shape[1] == 2 else range(chances.shape[1])
    held = [(labels == column, chances[:, column]) for column in columns if (labels == column).any()]
    return float(np.mean([roc_auc_score(*own) for own in held]))
