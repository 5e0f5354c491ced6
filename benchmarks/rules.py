"""Rule lists against the thesis: AUC, list length, seconds (Belardo 2018, tables 6.1 to 6.3)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import smooth_lists
from benchmarks.datasets import BenchData, load
from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_columns
from dpcore.learning.learner import Run
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation

SUITE = "rules"
EPSILONS = (0.9, 0.5, 0.1, 0.01)
_THESIS = "Belardo 2018"


@dataclass(frozen=True)
class Setting:
    """The thesis's settings and figures for one data set, per epsilon in :data:`EPSILONS`."""

    train: int
    antecedents: int
    list_length: float
    steps: int
    auc: tuple[float, ...]
    length: tuple[float, ...]
    rule_length: tuple[float, ...]
    seconds: tuple[float, ...]


SETTINGS = {
    "adult": Setting(
        30_000,
        300,
        13,
        3_000,
        (0.663, 0.609, 0.642, 0.605),
        (17.6, 17.8, 23.4, 9.0),
        (3.06, 2.94, 2.86, 2.733),
        (386.8, 354.9, 335.5, 248.5),
    ),
    "mushroom": Setting(
        7_000,
        300,
        7,
        1_500,
        (0.978, 0.974, 0.972, 0.613),
        (12.2, 10.0, 8.4, 12.6),
        (3.42, 3.44, 3.87, 3.19),
        (44.2, 38.6, 34.8, 30.8),
    ),
    "titanic": Setting(
        800,
        28,
        3,
        1_000,
        (0.782, 0.770, 0.650, 0.563),
        (5.4, 12.4, 7.2, 6.8),
        (1.56, 1.57, 1.65, 1.65),
        (2.57, 2.81, 2.56, 2.13),
    ),
}


def run(names: list[str] | None, epsilons: list[float] | None, *, quick: bool, seeds: int = 5) -> Iterator[Record]:
    """Fit on ``seeds`` random splits of each data set and yield every figure.

    Noise comes from the secure source, so figures move within their standard errors. Each
    split is fitted several times; standard errors are over splits.
    """
    repeats = 1 if quick else 5
    for name in names or list(SETTINGS):
        data = load(name)
        splits = [_split(data, seed) for seed in range(seeds)]
        for sampler in ("lookahead", "pool", "mcmc"):
            for epsilon in epsilons or list(EPSILONS):
                yield from _cell(data, splits, sampler, epsilon, repeats)
        for epsilon in epsilons or list(EPSILONS):
            yield from _rival(data, splits, epsilon, repeats)
    if names is None or "adult" in names:
        yield from _speed(load("adult"), quick=quick)


@dataclass(frozen=True)
class Split:
    """Training records, encoded, and test records with their labels."""

    table: PrivateTable
    train: Any
    test: Any
    positive: Any


def _split(data: BenchData, seed: int) -> Split:
    source = SeededRandom(seed)
    order = permutation(source, len(data.frame))
    size = SETTINGS[data.name].train
    train, test = data.frame.iloc[order[:size]], data.frame.iloc[order[size:]]
    label = data.schema.column(data.target).classes[1]
    table = ingest(frame_chunks(train), data.schema, source)
    return Split(table, train, test, test[data.target].astype(str) == label)


def _parameters(setting: Setting, sampler: str, **more: Any) -> dict[str, Any]:
    return {
        "sampler": sampler,
        "mcmc_steps": setting.steps,
        **(
            {}
            if sampler == "lookahead"
            else {"list_length": setting.list_length, "max_antecedents": setting.antecedents}
        ),
        "evaluate": False,
        **more,
    }


def _fit(
    data: BenchData, table: PrivateTable, epsilon: float, parameters: dict[str, Any]
) -> tuple[RuleListModel, float]:
    learner = RuleListLearner()
    plan = learner.plan(data.schema, data.target, Decimal(str(epsilon)), parameters)
    start = time.perf_counter()
    model = learner.run(Run(table, plan, SecureRandom()))
    return model, time.perf_counter() - start


def _cell(data: BenchData, splits: list[Split], sampler: str, epsilon: float, repeats: int) -> Iterator[Record]:
    setting = SETTINGS[data.name]
    parameters = _parameters(setting, sampler)
    _fit(data, splits[0].table, epsilon, parameters)
    figures: dict[str, list[float]] = {"auc": [], "length": [], "rule length": [], "seconds": []}
    groups = []
    for seed, split in enumerate(splits):
        for _ in range(repeats):
            model, seconds = _fit(data, split.table, epsilon, parameters)
            scores = model.predict_proba(split.test, data.schema)[:, 1]
            sizes = [len(rule.conditions) for rule in model.rules[:-1]]
            figures["auc"].append(float(roc_auc_score(split.positive, scores)))
            figures["length"].append(len(sizes))
            figures["rule length"].append(float(np.mean(sizes)) if sizes else 0.0)
            figures["seconds"].append(seconds)
            groups.append(seed)
    place = EPSILONS.index(epsilon) if epsilon in EPSILONS else None
    published = {
        "auc": setting.auc,
        "length": setting.length,
        "rule length": setting.rule_length,
        "seconds": setting.seconds,
    }
    for metric, values in figures.items():
        mean, error = summarise(values, groups)
        reference = None if place is None else published[metric][place]
        source = _THESIS if reference is not None else ""
        if metric == "seconds":
            mean = float(np.median(values))
        yield Record(SUITE, data.name, sampler, epsilon, metric, mean, error, len(values), reference, source)
        if metric == "length":
            yield Record(
                SUITE,
                data.name,
                sampler,
                epsilon,
                "length - lambda",
                mean - parameters.get("list_length", RuleListParameters().list_length),
                error,
                len(values),
                0.0,
                "prior mean",
            )
        if metric == "seconds" and reference is not None:
            yield Record(
                SUITE,
                data.name,
                sampler,
                epsilon,
                "times faster",
                reference / mean,
                float("nan"),
                len(values),
                1.0,
                f"{_THESIS}, its machine",
            )


def _rival(data: BenchData, splits: list[Split], epsilon: float, repeats: int) -> Iterator[Record]:
    """Greedy lists with smooth sensitivity, on the same splits and cells."""
    columns = [column for column in data.schema if column.name != data.target]
    sizes, ordered = [len(own.cells) for own in columns], [isinstance(own, NumericColumn) for own in columns]
    encoded = [
        [_codes(data, frame, [own.name for own in columns]) for frame in (split.train, split.test)] for split in splits
    ]
    for noise in smooth_lists.NOISES:
        areas = [
            float(
                roc_auc_score(
                    split.positive, smooth_lists.scores(codes, sizes, ordered, truth, epsilon, others, noise=noise)
                )
            )
            for split, ((codes, truth), (others, _)) in zip(splits, encoded, strict=True)
            for _ in range(repeats)
        ]
        groups = np.repeat(np.arange(len(splits)), repeats).tolist()
        mean, error = summarise(areas, groups)
        yield Record(SUITE, data.name, smooth_lists.name(noise), epsilon, "auc", mean, error, len(areas), None, "")


def _codes(data: BenchData, frame: Any, names: list[str]) -> tuple[Any, Any]:
    """Cells of all columns, and 1 for the second class."""
    found = encode_columns(frame, data.schema, [*names, data.target])
    return np.stack([found[own].astype(np.int64) for own in names], axis=1), (found[data.target] == 1).astype(np.int64)


def _speed(data: BenchData, *, quick: bool) -> Iterator[Record]:
    """Seconds of whole fits by pool size, one core."""
    table = _split(data, 0).table
    for size in (100_000,) if quick else (100_000, 1_000_000):
        parameters = _parameters(SETTINGS["adult"], "pool", pool_size=size)
        seconds = [_fit(data, table, 0.5, parameters)[1] for _ in range(3)]
        yield Record(
            SUITE,
            data.name,
            f"pool of {size:,}",
            0.5,
            "seconds",
            float(np.median(seconds)),
            summarise(seconds)[1],
            3,
            1.0 if size == 100_000 else 10.0,
            "goal",
        )
