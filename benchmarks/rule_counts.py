"""Rule lists of a number of rules: how many there are, and the AUC on test records, beside shorter lists."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import BenchData, load
from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.demo.stroke import STROKE, make_stroke
from dpcore.learning.learner import Run
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation

SUITE: Final = "rule-counts"
DATA: Final = ("adult", "mushroom", "stroke")
EPSILONS: Final = (0.1, 1.0)
#: Rules asked for; ``None``: by the house rule.
ASKED: Final = (1, 2, 3, 5, 8, None)
#: Random splits, three quarters to learn from, and fits of each.
_SPLITS, _FITS, _TRAIN = 10, 3, 0.75
#: Conditions to choose from, as many as in the thesis: with the default, a thousand, a fit takes ten times as long.
_CONDITIONS: Final = 300


def run(names: list[str] | None, epsilons: list[float] | None, *, quick: bool) -> Iterator[Record]:
    """Fit lists of each number of rules; yield the AUC, and how far the number was from what was asked for."""
    for name in names or DATA:
        frame, schema, target = _data(name)
        splits = [_split(BenchData(name, frame, schema), target, seed) for seed in range(2 if quick else _SPLITS)]
        for epsilon in epsilons or EPSILONS:
            for asked in ASKED:
                yield from _cell(name, target, splits, epsilon, asked, fits=1 if quick else _FITS)


def _data(name: str) -> tuple[Any, Any, str]:
    if name == "stroke":  # Demonstration data, one admission in eight; the others are real.
        demo = make_stroke()
        return demo.frame, demo.schema, STROKE.target
    data = load(name)
    return data.frame, data.schema, data.target


def _split(data: BenchData, target: str, seed: int) -> tuple[Any, Any, Any]:
    source = SeededRandom(seed)
    order = permutation(source, len(data.frame))
    size = round(_TRAIN * len(data.frame))
    train, test = data.frame.iloc[order[:size]], data.frame.iloc[order[size:]]
    label = data.schema.column(target).classes[1]
    truth = test[target].astype(str).replace({"True": "yes", "False": "no"}) == label
    return ingest(frame_chunks(train), data.schema, source), test, truth


def _cell(
    name: str, target: str, splits: list[tuple[Any, Any, Any]], epsilon: float, asked: int | None, *, fits: int
) -> Iterator[Record]:
    learner, areas, lengths = RuleListLearner(), [], []
    schema = splits[0][0].schema
    asked_for = {"rules": asked, "max_antecedents": _CONDITIONS, "evaluate": False}
    plan = learner.plan(schema, target, Decimal(str(epsilon)), asked_for)
    for table, test, truth in splits:
        for _ in range(fits):
            model = learner.run(Run(table, plan, SecureRandom()))
            areas.append(float(roc_auc_score(truth, model.predict_proba(test, schema)[:, 1])))
            lengths.append(len(model.rules) - 1)
    groups = np.repeat(np.arange(len(splits)), fits).tolist()
    called = f"{plan.parameters.rules} rules" + (" (default)" if asked is None else "")
    furthest = float(max(abs(length - plan.parameters.rules) for length in lengths))
    figures = {"auc": summarise(areas, groups), "furthest from asked": (furthest, float("nan"))}
    for metric, (mean, error) in figures.items():
        yield Record(SUITE, name, called, epsilon, metric, mean, error, len(areas), None, "")
