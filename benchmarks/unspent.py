"""How much of its budget a run leaves unspent, and how good its model is.

Only for methods whose steps follow from what was released: mined rule lists, greedy trees,
reductions of relational rules; and boosting machines with pairs, for the mu that they reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.datasets import BenchData, load
from benchmarks.ilp_trains import CONCEPTS, THREE, TWO, accuracy, draw, fresh_trains
from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.mechanisms import (
    ExponentialMechanism,
    FineGaussian,
    GeometricMechanism,
    NoisyMax,
)
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation

SUITE = "unspent"
EPSILONS = (0.1, 1.0)
TABLES, TRAINS = ("titanic", "mushroom", "telco_churn"), (1_000, 10_000)
_MINED = {"sampler": "pool", "antecedents": "dp_fim", "max_antecedent_length": 3, "pool_size": 20_000}
#: Family and parameters of each method on tables, and on trains.
METHODS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "rule list, mined": ("rule_list", _MINED),
    "rule list, mined above 20 %": ("rule_list", {**_MINED, "min_support": 0.2}),
    "ADiffP": ("tree", {"method": "adiffp"}),
    "DiffP-ID3": ("tree", {"method": "diffp_id3"}),
    "DiffP-C4.5": ("tree", {"method": "diffp_c45"}),
    "SuLQ-ID3": ("tree", {"method": "sulq_id3"}),
    "pairs": ("ebm", {"pairs": 3}),
}
REDUCTIONS = {
    "relevance-aware": {"criterion": "best"},
    "relevance-aware, by share": {"criterion": "share"},
}
_TRAINING = 0.8


@dataclass(frozen=True)
class Spent:
    """Budgets of the mechanisms of one run, at the level of rows, in the order of their use."""

    pure: list[Decimal]
    squares: list[float]


@contextmanager
def watched() -> Iterator[Spent]:
    """Write down every mechanism that is asked for an answer."""
    spent = Spent([], [])
    with ExitStack() as patches:
        for kind, door in (
            (GeometricMechanism, "release"),
            (FineGaussian, "release"),
            (ExponentialMechanism, "select"),
            (NoisyMax, "select"),
        ):
            patches.enter_context(mock.patch.object(kind, door, _telling(kind, door, spent)))
        yield spent


def _telling(kind: Any, door: str, spent: Spent) -> Callable[..., Any]:
    answer = getattr(kind, door)

    def told(self: Any, *given: Any) -> Any:
        if kind is FineGaussian:
            spent.squares.append((self.sensitivity / self.scale) ** 2)
        else:
            spent.pure.append(self.epsilon)
        return answer(self, *given)

    return told


@dataclass(frozen=True)
class Fit:
    """What one run used, as a share of its budget, and how good it is."""

    unspent: float
    mu: float
    score: float


def run(names: list[str] | None, epsilons: list[float] | None, *, quick: bool) -> Iterator[Record]:
    """Fit every method several times, each time to other records."""
    fits = 2 if quick else 10
    for epsilon in epsilons or EPSILONS:
        for name in [name for name in TABLES if not names or name in names]:
            for method in METHODS:
                found = [_on_table(name, method, epsilon, seed) for seed in range(fits)]
                yield from _records(name, method, epsilon, found)
        for concept in [concept for concept in (THREE, TWO) if not names or concept in names]:
            for trains in TRAINS:
                for method in REDUCTIONS:
                    found = [_on_trains(concept, trains, method, epsilon, n) for n in range(fits)]
                    yield from _records(f"{concept}, {trains:,}", method, epsilon, found)


def _records(data: str, method: str, epsilon: float, fits: list[Fit]) -> Iterator[Record]:
    measured = {
        "unspent, per cent": [100 * fit.unspent for fit in fits if not fit.mu],
        "mu": [fit.mu for fit in fits if fit.mu],
        "accuracy": [fit.score for fit in fits],
    }
    for metric, values in measured.items():
        if values:
            yield Record(SUITE, data, method, epsilon, metric, *summarise(values), len(values), None, "")


@lru_cache(maxsize=8)
def _split(name: str, seed: int) -> tuple[BenchData, PrivateTable, Any]:
    """A data set, most of it encoded, and the other records."""
    data, source = load(name), SeededRandom(seed)
    order = permutation(source, len(data.frame))
    size = round(_TRAINING * len(order))
    table = ingest(frame_chunks(data.frame.iloc[order[:size]]), data.schema, source)
    return data, table, data.frame.iloc[order[size:]]


def _on_table(name: str, method: str, epsilon: float, seed: int) -> Fit:
    data, table, test = _split(name, seed)
    family, parameters = METHODS[method]
    model, spent = _fitted(table, data.target, family, epsilon, parameters)
    labels = np.asarray(data.schema.column(data.target).classes)
    right = labels[np.asarray(model.predict(test, data.schema))] == test[data.target].astype(str)
    unspent = tree_unspent(model) if family == "tree" else sequence_unspent(spent, epsilon)
    return Fit(unspent, float(np.sqrt(sum(spent.squares))), float(np.mean(right)))


def _on_trains(concept: str, trains: int, method: str, epsilon: float, number: int) -> Fit:
    table = draw(CONCEPTS[concept], trains, number).table
    chosen = {**CONCEPTS[concept].settings, **REDUCTIONS[method], "method": "relevance_aware"}
    model, spent = _fitted(table, "direction", "ilp", epsilon, chosen)
    score = accuracy(model, fresh_trains(CONCEPTS[concept]))
    return Fit(sequence_unspent(spent, epsilon), 0.0, score)


def _fitted(
    table: PrivateTable, target: str, family: str, epsilon: float, parameters: Mapping[str, Any]
) -> tuple[Any, Spent]:
    learner = get_learner(family)
    chosen = {**parameters, "evaluate": False}
    plan = learner.plan(table.schema, target, Decimal(str(epsilon)), chosen)
    with watched() as spent:
        return learner.run(Run(table, plan, SecureRandom())), spent


def sequence_unspent(spent: Spent, epsilon: float) -> float:
    """Of steps that all look at the same people: their budgets add up."""
    return 1 - float(sum(spent.pure)) / epsilon


def tree_unspent(model: Any) -> float:
    """Of a tree: the mean over the paths to its leaves."""
    paths: list[Decimal] = []
    leaves: list[float] = []
    for node in model.nodes:
        above = paths[node.parent] if node.parent is not None else Decimal(0)
        paths.append(above + node.spent)
        if not node.children:
            leaves.append(float(1 - paths[-1] / model.budget))
    return float(np.mean(leaves))
