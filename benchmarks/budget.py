"""How many equal runs fit into a cap: their epsilons added, and their losses composed.

Arithmetic on plans: no record is read, and nothing is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from rich.table import Table

from benchmarks.records import Record
from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING, Loss

SUITE = "budget"
CAP = PrivacyFilter(Decimal(5), Decimal("0.000001"))
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
#: Public schema for which runs are planned, and the column that they predict.
DATA, TARGET = "stroke", "stroke_within_year"


def run(epsilons: list[float] | None) -> Iterator[Record]:
    """Runs of every family with its default parameters, and nobody set aside."""
    for name in LEARNERS:
        for epsilon in epsilons or EPSILONS:
            loss = _loss(name, Decimal(str(epsilon)))
            added = int(CAP.epsilon / loss.epsilon)
            yield Record(
                SUITE,
                DATA,
                name,
                epsilon,
                "runs",
                float(CAP.fitting(NOTHING, loss)),
                0.0,
                1,
                float(added),
                "epsilons added",
            )


@cache
def _schema() -> Schema:
    return DEMOS[DATA]().schema


@cache
def _loss(name: str, epsilon: Decimal) -> Loss:
    learner = LEARNERS[name]
    known = learner.parameters.model_fields
    chosen = {"evaluate": False, "delta": CAP.run_delta}
    given = {key: value for key, value in chosen.items() if key in known}
    target = TARGET if learner.targeted else ""
    return learner.plan(_schema(), target, epsilon, given).loss


def table(records: list[Record]) -> Table:
    """One line for each family: runs that fit, and in brackets how many if they are added."""
    epsilons = sorted({record.epsilon for record in records if record.epsilon is not None})
    shown = Table(title=f"Runs within epsilon {CAP.epsilon}, delta {CAP.delta:.0e}")
    shown.add_column("family")
    for epsilon in epsilons:
        shown.add_column(f"epsilon {epsilon:g}", justify="right")
    for name in dict.fromkeys(record.method for record in records):
        own = {record.epsilon: record for record in records if record.method == name}
        cells = [f"{own[e].mean:,.0f} ({own[e].reference:,.0f})" for e in epsilons]
        shown.add_row(LEARNERS[name].title, *cells)
    return shown
