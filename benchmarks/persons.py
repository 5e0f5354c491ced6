"""People with several rows: three rows of each, or one, at the same epsilon.

Admissions are invented: people are admitted once to nine times, and whether they come back within
a month depends on them and on the stay. A fifth of the people is set aside; models that were
learned from the others say for each of these whether the last stay will be followed by another.
Noise is seeded, so figures repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table
from sklearn.metrics import roc_auc_score

from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom, public_generator

SUITE = "persons"
PEOPLE, TARGET = 10_000, "back soon"
_MAX_ROWS, _HOLDOUT = 30_000, 5
_EPSILONS, _QUICK_EPSILONS = (0.1, 0.5, 2.0), (0.5,)
_FAMILIES = ("rule_list", "tree", "ebm")
_COLUMNS: list[dict[str, Any]] = [
    {
        "name": "age",
        "type": "integer",
        "lower": 18,
        "upper": 98,
        "bins": 8,
        "derive": {"years_from": "born", "to": "admitted"},
    },
    {
        "name": "days",
        "type": "integer",
        "lower": 0,
        "upper": 30,
        "edges": [1, 3, 7, 14],
        "derive": {"days_from": "admitted", "to": "discharged"},
    },
    {"name": "diagnosis", "type": "categorical", "derive": {"code": "code", "system": "icd10", "level": "chapter"}},
    {"name": "lactate", "type": "real", "lower": 0, "upper": 8, "edges": [1, 2, 4]},
    {"name": "intensive care", "type": "boolean"},
    {"name": TARGET, "type": "boolean", "target": True},
]
_SUMMARIES: list[dict[str, Any]] = [
    {"name": "stays", "type": "integer", "lower": 1, "upper": 9, "edges": [1, 2, 4], "summary": "count"},
    {"name": "ever intensive care", "type": "boolean", "derive": {"column": "intensive care"}, "summary": "any"},
    {**_COLUMNS[3], "name": "highest lactate", "derive": {"column": "lactate"}, "summary": "maximum"},
]
_LAST = {"keep": "last", "order_by": "admitted"}
#: What is kept of a person, by its name in the table.
WAYS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "three rows": ({"max_rows_per_person": 3}, _COLUMNS),
    "one row": ({}, _COLUMNS),
    "last row": (_LAST, _COLUMNS),
    "last row, summaries": (_LAST, [*_COLUMNS, *_SUMMARIES]),
}


def admissions(people: int, seed: int) -> pd.DataFrame:
    """Invented admissions, one a row, in the order of their dates."""
    draw = public_generator(seed)
    frail = draw.normal(size=people)
    who = np.repeat(np.arange(people), np.minimum(1 + draw.poisson(np.exp(0.5 + 0.6 * frail)), 9))
    rows, own = len(who), frail[who]
    born = pd.Timestamp("1970-01-01") - pd.to_timedelta(draw.integers(-9000, 15_000, people) + 2000 * frail, unit="D")
    admitted = pd.Timestamp("2022-01-01") + pd.to_timedelta(draw.integers(0, 1000, rows), unit="D")
    days = draw.poisson(np.exp(1.2 + 0.3 * own))
    lactate = np.exp(0.3 + 0.4 * own + 0.4 * draw.normal(size=rows)).round(1)
    intensive = draw.random(rows) < 1 / (1 + np.exp(2 - own))
    score = -1.2 + 1.2 * own + 0.12 * np.minimum(days, 10) + 0.5 * intensive
    frame = pd.DataFrame(
        {
            "who": who,
            "born": born[who].strftime("%Y-%m-%d"),
            "admitted": admitted.strftime("%Y-%m-%d"),
            "discharged": (admitted + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "code": draw.choice(["I21.4", "I50.9", "J44.1", "E11.9", "N18.3", "K57.3", "S72.0"], rows),
            "lactate": lactate,
            "intensive care": intensive,
            TARGET: draw.random(rows) < 1 / (1 + np.exp(-score)),
        }
    )
    return frame.sort_values("admitted", ignore_index=True)


def schema_of(way: str) -> Schema:
    """The schema by which so much is kept of a person."""
    unit, columns = WAYS[way]
    return Schema.from_mapping(
        {
            "name": "admissions",
            "max_rows": _MAX_ROWS,
            "privacy_unit": {"column": "who", **unit},
            "holdout_percent": 0,
            "columns": columns,
        }
    )


def run(*, quick: bool = False) -> Iterator[Record]:
    """The area under the ROC curve of every family, for every way and epsilon."""
    splits = 3 if quick else 20
    for family in _FAMILIES:
        for epsilon in _QUICK_EPSILONS if quick else _EPSILONS:
            figures = {way: [area(family, way, epsilon, seed) for seed in range(splits)] for way in WAYS}
            reference = summarise(figures["three rows"])[0]
            for way, found in figures.items():
                mean, error = summarise(found)
                yield Record(SUITE, way, family, epsilon, "AUC", mean, error, splits, reference, "three rows")


def area(family: str, way: str, epsilon: float, seed: int) -> float:
    """The area that one run reaches on the people set aside."""
    rows = admissions(PEOPLE, seed)
    apart = rows["who"] % _HOLDOUT == 0
    source, domain, learner = SeededRandom(seed), schema_of(way), get_learner(family)
    table = ingest(frame_chunks(rows[~apart]), domain, source)
    plan = learner.plan(domain, TARGET, Decimal(str(epsilon)), {"evaluate": False})
    model: Any = learner.run(Run(table, plan, source))
    test = ingest(frame_chunks(rows[apart]), schema_of("last row, summaries"), source).public_frame()
    scores = np.asarray(model.predict_proba(test, domain))[:, 1]
    return float(roc_auc_score(test[TARGET] == "yes", scores))


def table(records: list[Record]) -> Table:
    """One line for each family and epsilon, one column for each way."""
    shown = Table(title="Area under the ROC curve on other people, by what is kept of a person")
    shown.add_column("family")
    for heading in ("epsilon", *WAYS):
        shown.add_column(heading, justify="right")
    for start in range(0, len(records), len(WAYS)):
        line = records[start : start + len(WAYS)]
        cells = [f"{one.mean:.3f} ± {one.stderr:.3f}" for one in line]
        shown.add_row(line[0].method, f"{line[0].epsilon:g}", *cells)
    return shown
