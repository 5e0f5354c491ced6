"""What more room in a budget buys: errors of equal runs, before and after runs compose.

Before, the epsilons and deltas of runs were added. Now each run may have the largest epsilon at
which as many of them fit into the cap, in the form for which it has more room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.metrics import roc_auc_score

from benchmarks.budget import CAP, SUITE
from benchmarks.datasets import BenchData, load
from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.filters import ADDED_SHARE
from dpcore.privacy.losses import NOTHING
from dpcore.privacy.randomness import SecureRandom, SeededRandom, permutation
from dpcore.released.plan import RunPlan
from dpcore.released.run_form import plan_under

DATA, TRAIN = "adult", 10_000
RUNS = (10, 25, 50, 100)
#: Families, and what differs from their defaults.
FAMILIES: Mapping[str, Mapping[str, Any]] = {"rule_list": {"pool_size": 20_000}, "tree": {}, "ebm": {}}
#: What is counted: test records, and pairs of one of either class.
WRONG, MISRANKED = "predicted wrong", "pairs ranked wrong"
#: Steps of epsilon in which the largest that fits is sought.
_STEPS = 1000


@dataclass(frozen=True)
class Split:
    """Records to learn from, and others with their classes."""

    table: PrivateTable
    test: Any
    positive: Any


def run(runs: tuple[int, ...] = RUNS, *, quick: bool = False) -> Iterator[Record]:
    """Errors of every family; the reference is that of runs whose epsilons are added."""
    splits = 2 if quick else 10
    data = load(DATA)
    data = BenchData(DATA, data.frame, data.schema.model_copy(update={"max_rows": TRAIN}))
    divided = [_split(data, seed) for seed in range(splits)]
    for name in FAMILIES:
        for count in runs:
            added, composed = _added(data, name, count), _composed(data, name, count)
            source = f"{count} runs, added: epsilon {CAP.epsilon / count:g}"
            asked = float(composed.price)
            figures = zip(*(_errors(data, plan, name, divided) for plan in (added, composed)), strict=True)
            for metric, (before, after) in zip((WRONG, MISRANKED), figures, strict=True):
                mean, error = summarise(after)
                reference = summarise(before)[0]
                metric = f"{count} runs: {metric}"
                yield Record(SUITE, DATA, name, asked, metric, mean, error, splits, reference, source)


def table(records: list[Record]) -> Table:
    """One line for each family and number of runs."""
    shown = Table(title=f"Mean error of equal runs within epsilon {CAP.epsilon}, delta {CAP.delta:.0e} ({DATA})")
    for heading in ("family", "runs", "epsilon: added", "composed"):
        shown.add_column(heading, justify="left" if heading == "family" else "right")
    for metric in (WRONG, MISRANKED):
        shown.add_column(f"{metric}: added", justify="right")
        shown.add_column("composed", justify="right")
    for wrong, misranked in zip(records[::2], records[1::2], strict=True):
        count = int(wrong.metric.split()[0])
        cells = [LEARNERS[wrong.method].title, str(count), f"{float(CAP.epsilon) / count:g}", f"{wrong.epsilon:g}"]
        for record in (wrong, misranked):
            cells += [f"{record.reference:.1%}", f"{record.mean:.1%} ± {record.stderr:.1%}"]
        shown.add_row(*cells)
    return shown


def _split(data: BenchData, seed: int) -> Split:
    source = SeededRandom(seed)
    order = permutation(source, len(data.frame))
    train, test = data.frame.iloc[order[:TRAIN]], data.frame.iloc[order[TRAIN:]]
    label = data.schema.column(data.target).classes[1]
    return Split(ingest(frame_chunks(train), data.schema, source), test, test[data.target].astype(str) == label)


def _plan(data: BenchData, name: str, epsilon: Decimal, delta: Decimal) -> RunPlan:
    given = {**FAMILIES[name], "evaluate": False}
    return LEARNERS[name].plan(data.schema, data.target, epsilon, given, delta)


def _added(data: BenchData, name: str, count: int) -> RunPlan:
    """A run that has an equal part of epsilon and, if it needs one, of delta."""
    alone = _plan(data, name, CAP.epsilon / count, Decimal(0))
    return _plan(data, name, CAP.epsilon / count, CAP.delta * ADDED_SHARE / count) if alone.delta else alone


def _composed(data: BenchData, name: str, count: int) -> RunPlan:
    return plan_under(CAP, partial(_plan, data, name, _largest(data, name, count)))


def _largest(data: BenchData, name: str, count: int) -> Decimal:
    """Largest epsilon, in thousandths, at which as many runs fit, one after the other."""
    low, high = 0, int(CAP.epsilon * _STEPS)
    while high - low > 1:
        middle = (low + high) // 2
        loss = plan_under(CAP, partial(_plan, data, name, Decimal(middle) / _STEPS)).loss
        low, high = (middle, high) if CAP.fitting(NOTHING, loss) >= count else (low, middle)
    return Decimal(low) / _STEPS


def _errors(data: BenchData, plan: RunPlan, name: str, splits: list[Split]) -> tuple[list[float], list[float]]:
    """Shares of test records predicted, and of their pairs ranked, wrong by a run on each split."""
    wrong, misranked = [], []
    for split in splits:
        model: Any = LEARNERS[name].run(Run(split.table, plan, SecureRandom()))
        predicted = np.asarray(model.predict(split.test, data.schema)) == 1
        scores = np.asarray(model.predict_proba(split.test, data.schema))[:, 1]
        wrong.append(float((predicted != split.positive).mean()))
        misranked.append(1 - float(roc_auc_score(split.positive, scores)))
    return wrong, misranked
