"""Relational rules on patients with earlier stays: who of few comes back soon, by what came before.

The admissions are those of ``persons``: the last stay of each person is the record, and all before it are rows of a
child table. Those who come back within a month are thinned out to 6 % of the people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.ilp_methods import HOUSE, NON_PRIVATE, ROWS_ALONE, UNTOLD, fitted
from benchmarks.persons import TARGET, admissions
from benchmarks.records import Record, summarise
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.randomness import SeededRandom, permutation

NAME: Final = "earlier stays"
PEOPLE, SHARE, GOAL = 20_000, 0.06, 0.70
EPSILONS: Final = (0.1, 1.0)
#: Of each fit: with 6 % of the people to be described, one of them weighs as much as fifteen others; where noisy counts
#: tell the weights, this is not said.
SETTINGS: Final[dict[str, Any]] = {"positive_weight": 15, "clauses": 6}
_LABEL, _TRAINING = "back_soon", 0.7
_STAY: Final[list[dict[str, Any]]] = [
    {"name": "days", "type": "integer", "lower": 0, "upper": 30, "edges": [1, 3, 7, 14]},
    {"name": "lactate", "type": "real", "lower": 0, "upper": 8, "edges": [1, 2, 4]},
    {"name": "intensive_care", "type": "boolean"},
]
SCHEMA: Final = Schema.from_mapping(
    {
        "name": "patients",
        "entity": "patient",
        "max_rows": PEOPLE,
        "holdout_percent": 0,
        "privacy_unit": {"column": "who"},
        "columns": [
            {"name": "age", "type": "integer", "lower": 18, "upper": 98, "bins": 8},
            *_STAY,
            {"name": _LABEL, "type": "boolean", "target": True},
        ],
        "children": [{"name": "earlier_stay", "max_rows_per_person": 8, "columns": _STAY}],
    }
)


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Area under the ROC curve on other patients: with a public seed for people, and noise from the secure source."""
    splits = 2 if quick else 5
    cells: list[tuple[str, float | None]] = [(NON_PRIVATE, None)]
    cells += [(method, epsilon) for epsilon in EPSILONS for method in (HOUSE, ROWS_ALONE, UNTOLD)]
    for method, epsilon in cells:
        found = [area(method, epsilon, number) for number in range(splits)]
        yield Record(suite, NAME, method, epsilon, "AUC on other patients", *summarise(found), splits, GOAL, "goal")


@lru_cache(maxsize=1)
def patients(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Last stays, one a person, and all stays before them."""
    rows = admissions(PEOPLE, seed).rename(columns={"intensive care": "intensive_care", TARGET: _LABEL})
    rows["intensive_care"] = np.where(rows["intensive_care"], "yes", "no")
    rows["days"] = (pd.to_datetime(rows["discharged"]) - pd.to_datetime(rows["admitted"])).dt.days
    rows["age"] = (pd.to_datetime(rows["admitted"]) - pd.to_datetime(rows["born"])).dt.days // 365
    last = ~rows.duplicated("who", keep="last")
    main, source = rows[last], SeededRandom(seed)
    back = np.flatnonzero(main[_LABEL])
    keep = round(SHARE / (1 - SHARE) * int((~main[_LABEL]).sum()))
    kept = back[permutation(source, len(back))[:keep]]
    main = main.iloc[np.sort(np.concatenate([np.flatnonzero(~main[_LABEL]), kept]))]
    return main, rows[~last & rows["who"].isin(main["who"])]


def area(method: str, epsilon: float | None, number: int) -> float:
    """The area that one run reaches."""
    spent = {} if epsilon is None else {"epsilon": Decimal(repr(epsilon))}
    return area_of(SCHEMA, *patients(number), number, lambda table: fitted(table, method, SETTINGS, **spent))


def area_of(
    schema: Schema, main: pd.DataFrame, rows: pd.DataFrame, number: int, fit: Callable[[PrivateTable], ILPModel]
) -> float:
    """Area under the ROC curve on three tenths of the people, of what is learned from the others.

    Parameters
    ----------
    main : DataFrame
        One row a person; the target is true or false.
    rows : DataFrame
        Those of the one child table.
    number : int
        Of the split.
    """
    from sklearn.metrics import roc_auc_score

    [target], [child], key = schema.targets, schema.children, schema.privacy_unit.column
    training = np.zeros(len(main), dtype=bool)
    training[permutation(SeededRandom(number), len(main))[: round(_TRAINING * len(main))]] = True
    own, others = main[training], main[~training]
    before, after = (rows[rows[key].isin(part[key])] for part in (own, others))
    own = own.assign(**{target: np.where(own[target], "yes", "no")})
    table = ingest(frame_chunks(own), schema, SeededRandom(number), {child.name: frame_chunks(before)})
    model = fit(table)
    frames = {schema.entity: others.drop(columns=target), child.name: after}
    scores = model.predict_proba(frames, schema)[:, model.classes.index("yes")]
    return float(roc_auc_score(others[target], scores))
