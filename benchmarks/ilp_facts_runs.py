"""Relational rules on published relational data: 70/30 splits, with privacy and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.ilp_facts import TASKS, Relational, load
from benchmarks.ilp_methods import ALIKE, HOUSE, NON_PRIVATE, NON_PRIVATE_ROWS, ROWS_ALONE, fitted
from benchmarks.records import Record, summarise
from dpcore.arrays import Array, Flags
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.privacy.randomness import SeededRandom

EPSILONS = (10.0, 1.0)
#: Parameters that differ from the defaults.
SETTINGS: dict[str, Mapping[str, Any]] = {
    "bongard": {"clauses": 3},
    "alzheimer_toxic": {"clauses": 6, "negative_weight": 2},
}
#: Accuracies of programs without privacy, on other 70/30 splits.
REPORTED = {
    "trains1": {"Aleph": 1.0, "Popper": 1.0},
    "trains2": {"Aleph": 0.994, "Popper": 0.994},
    "trains3": {"Aleph": 0.959, "Popper": 1.0},
    "trains4": {"Aleph": 0.827, "Popper": 1.0},
}
METRIC, GUESS = "accuracy on test records", "the commoner class"
_TRAINING, _SEED = 0.7, 20_262


def run(suite: str, data: str, *, quick: bool) -> Iterator[Record]:
    """Accuracy on test records over splits drawn with a public seed."""
    splits = 2 if quick else 10
    for task in TASKS[data]:
        name, reported = task or data, REPORTED.get(task, {})
        guess = summarise([guessed(load(data, task), number) for number in range(splits)])[0]
        cells: list[tuple[str, float | None]] = [(NON_PRIVATE, None), (NON_PRIVATE_ROWS, None)]
        cells += [(method, epsilon) for epsilon in EPSILONS for method in (HOUSE, ROWS_ALONE, ALIKE)]
        for method, epsilon in cells:
            figures = [accuracy(data, task, method, epsilon, n) for n in range(splits)]
            for source, reference in {**reported, GUESS: guess}.items():
                yield Record(suite, name, method, epsilon, METRIC, *summarise(figures), splits, reference, source)


def split(relational: Relational, number: int) -> Flags:
    """Which records of the main table are for training."""
    people = len(relational.labels)
    order = np.random.default_rng(_SEED + number).permutation(people)
    return np.asarray(order < round(_TRAINING * people))


def guessed(relational: Relational, number: int) -> float:
    """Accuracy of the class that is commoner in the training part."""
    chosen = split(relational, number)
    common = relational.labels[chosen].mean() > 0.5
    return float((relational.labels[~chosen] == common).mean())


def accuracy(data: str, task: str, method: str, epsilon: float | None, number: int) -> float:
    """Share of the test records of one split that are predicted rightly."""
    relational = load(data, task)
    schema, chosen = relational.schema, split(relational, number)
    training, test = (_part(relational, flags) for flags in (chosen, ~chosen))
    chunks = {child.name: frame_chunks(training[child.name]) for child in schema.children}
    [target] = schema.targets
    main = training[schema.entity].assign(**{target: relational.labels[chosen]})
    table = ingest(frame_chunks(main), schema, SeededRandom(number), chunks)
    spent = {} if epsilon is None else {"epsilon": Decimal(repr(epsilon))}
    model = fitted(table, method, SETTINGS.get(data, {}), **spent)
    predicted = model.predict(test, schema) == model.classes.index("yes")
    return float((predicted == relational.labels[~chosen].to_numpy()).mean())


def _part(relational: Relational, flags: Array) -> dict[str, pd.DataFrame]:
    """Some records of the main table with all rows about them."""
    schema, tables = relational.schema, relational.tables
    main = tables[schema.entity][flags]
    people = main[schema.privacy_unit.column]
    children = {
        child.name: tables[child.name][tables[child.name][schema.key_of(child)].isin(people)]
        for child in schema.children
    }
    return {schema.entity: main, **children}
