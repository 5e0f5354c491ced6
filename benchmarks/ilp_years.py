"""Relational rules on beneficiaries with earlier years: what they have in 2010, by what two rows tell of 2008 and 2009.

The records are those of ``cms``. Few have a stroke, more have Alzheimer's disease, most are treated for neither: three
outcomes of different rarity, for which nobody says how much those who have them weigh.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final

import pandas as pd

from benchmarks.datasets import load
from benchmarks.ilp_methods import ALIKE, EQUAL, HOUSE, UNTOLD, fitted
from benchmarks.ilp_stays import area_of
from benchmarks.records import Record, summarise
from dpcore.domain.schemas.schema import Schema

NAME: Final = "earlier years"
OUTCOMES: Final = {
    "stroke_tia": "stroke",
    "alzheimer": "Alzheimer's disease",
    "ischemic_heart_disease": "heart disease",
}
EPSILON: Final = Decimal(1)
HEAVY: Final = "house, one counts as 15"
_METHODS: Final[dict[str, dict[str, Any]]] = {
    EQUAL: {},
    HEAVY: {"positive_weight": 15},
    ALIKE: {},
    UNTOLD: {},
}
_SETTINGS: Final[dict[str, Any]] = {"clauses": 6, "max_literals": 2}
_CONDITIONS: Final = (
    "esrd",
    "alzheimer",
    "heart_failure",
    "chronic_kidney_disease",
    "cancer",
    "copd",
    "depression",
    "diabetes",
    "ischemic_heart_disease",
    "osteoporosis",
    "arthritis",
    "stroke_tia",
)
#: Dollars paid, with cut points.
_PAID: Final = {
    "MEDREIMB_IP": [1, 8_000, 20_000],
    "MEDREIMB_OP": [100, 1_000, 5_000],
    "MEDREIMB_CAR": [500, 2_000, 5_000],
}
_YEARS, _OUTCOME_YEAR = (2008, 2009), 2010
_OF_PEOPLE: Final = ("birth_year", "sex", "race")


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Area under the ROC curve on other beneficiaries at one epsilon, for each outcome."""
    splits = 2 if quick else 5
    for outcome, called in OUTCOMES.items():
        share = float(beneficiaries(outcome)[1][target(outcome)].mean())
        for method in _METHODS:
            found = [area(outcome, method, number) for number in range(splits)]
            what = f"{NAME}: {called}, {share:.1%}"
            yield Record(suite, what, method, float(EPSILON), "AUC", *summarise(found), splits, None, "")


def target(outcome: str) -> str:
    """Column of what they have in the last year."""
    return f"{outcome}_{_OUTCOME_YEAR}"


def area(outcome: str, method: str, number: int) -> float:
    """The area that one run reaches."""
    settings = _SETTINGS | _METHODS[method]
    learned_as = HOUSE if method == HEAVY else method
    fit = partial(fitted, method=learned_as, settings=settings, epsilon=EPSILON)
    return area_of(*beneficiaries(outcome), number, fit)


@lru_cache(maxsize=1)
def beneficiaries(outcome: str) -> tuple[Schema, pd.DataFrame, pd.DataFrame]:
    """Schema, one row for each of whom the last year is known, and the rows of the years before."""
    data = load("cms")
    known = data.frame[data.frame[target(outcome)].notna()].reset_index(drop=True).rename_axis("who").reset_index()
    main = known[["who", *_OF_PEOPLE]].assign(**{target(outcome): known[target(outcome)].astype(str).isin(_TRUE)})
    columns = (*_CONDITIONS, *_PAID)
    years = [
        known[["who", *(f"{name}_{year}" for name in columns)]].set_axis(["who", *columns], axis=1).assign(year=year)
        for year in _YEARS
    ]
    return _schema(data.schema, target(outcome)), main, pd.concat(years, ignore_index=True)


#: How the files say that somebody has something.
_TRUE: Final = ("1", "1.0", "True", "yes")


def _schema(flat: Schema, goal: str) -> Schema:
    own = [column for column in flat.to_mapping()["columns"] if column["name"] in _OF_PEOPLE]
    paid = [{"name": n, "type": "real", "lower": 0, "upper": 50_000, "edges": e} for n, e in _PAID.items()]
    year = {
        "name": "year",
        "max_rows_per_person": len(_YEARS),
        "keep": "last",
        "order_by": "year",
        "columns": [*({"name": name, "type": "boolean"} for name in _CONDITIONS), *paid],
    }
    return Schema.from_mapping(
        {
            "name": "beneficiaries",
            "entity": "beneficiary",
            "max_rows": flat.max_rows,
            "holdout_percent": 0,
            "privacy_unit": {"column": "who"},
            "columns": [*own, {"name": goal, "type": "boolean", "target": True}],
            "children": [year],
        }
    )
