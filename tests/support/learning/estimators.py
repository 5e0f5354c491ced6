"""Every scikit-learn estimator of the package, and records that each of them can fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from inspect import isclass
from typing import Any

import numpy as np
import pandas as pd

import dpcore
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.sklearn_base import LearnerEstimator, PrivateRegressor

SCHEMA = Schema.from_text(
    """
name: ward
max_rows: 1000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8, view: left}
  - {name: sex, type: categorical, categories: [f, m], view: left}
  - {name: died, type: boolean, target: true, view: right}
  - {name: stay, type: real, lower: 0, upper: 40, bins: 6, target: true, view: right}
"""
)
ROWS = 600
#: What makes a fit cheap, by the name of an estimator.
QUICK: dict[str, dict[str, Any]] = {
    "DPEBMClassifier": {"epochs": 4},
    "DPEBMRegressor": {"epochs": 4},
    "DPForestClassifier": {"trees": 10},
    "DPILPClassifier": {"max_literals": 2, "max_variables": 1, "clauses": 1},
    "DPRuleListClassifier": {"pool_size": 500},
    "DPSummary": {"by": "sex", "columns": ("age", "sex"), "method": "equal"},
    "DPTreeClassifier": {"blocks": (2,)},
    "RedescriptionMiner": {"starts": 1},
}
#: Settings of every kind of value, which clones carry and a release brings back.
TELLING: dict[str, dict[str, Any]] = {
    "DPEBMClassifier": {"max_bins": 12, "evaluate": True},
    "DPEBMRegressor": {"max_bins": 12, "evaluate": True},
    "DPForestClassifier": {"method": "random_trees", "sharing": "split", "depth": 3},
    "DPILPClassifier": {"literals": ("age > 60", "sex = f"), "count_share": Decimal("0.3"), "negation": True},
    "DPRuleListClassifier": {"rules": 7, "antecedents": "given", "given": ("age <= 60",)},
    "DPSummary": {"by": "sex", "columns": ("age", "sex"), "method": "equal"},
    "DPTreeClassifier": {"blocks": (1, 1), "criterion": "gini", "threshold": 0.5},
    "RedescriptionMiner": {"left": ("age",), "tree_share": 0.4},
}


def ward(rows: int = ROWS) -> pd.DataFrame:
    """Invented patients: the old die more often, and stay longer."""
    draw = np.random.default_rng(1)
    age = draw.integers(20, 101, rows)
    return pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["f", "m"], rows),
            "died": draw.random(rows) < np.where(age > 60, 0.95, 0.05),
            "stay": np.clip(age / 3 + 2 * draw.normal(size=rows), 0, 40),
        }
    )


@dataclass(frozen=True)
class Case:
    """One estimator, with the columns of :func:`ward` that it learns from and predicts."""

    kind: Any
    frame: pd.DataFrame = field(default_factory=ward, repr=False)

    @property
    def target(self) -> str:
        """What it predicts; empty if it predicts nothing."""
        if not self.kind._learner.targeted:
            return ""
        return "stay" if self.numeric else "died"

    @property
    def numeric(self) -> bool:
        return issubclass(self.kind, PrivateRegressor)

    @property
    def features(self) -> list[str]:
        return ["age", "sex"] if self.target else ["age", "sex", "died"]

    @property
    def schema(self) -> Schema:
        """The columns that are learned from and predicted, and no other."""
        names = {*self.features, self.target}
        columns = [column for column in SCHEMA.columns if column.name in names]
        return SCHEMA.model_copy(update={"columns": tuple(columns)})

    @property
    def rows(self) -> pd.DataFrame:
        """The features of all people."""
        return self.frame[self.features]

    @property
    def truth(self) -> pd.Series | None:
        """The target of all people, if there is one."""
        return self.frame[self.target] if self.target else None

    def make(self, **changes: Any) -> Any:
        """An estimator that is not fitted, under noise that leaves what there is to find."""
        common = {"epsilon": 20, "schema": self.schema}
        return self.kind(**{**common, **QUICK.get(self.kind.__name__, {}), **changes})

    def fit(self, **changes: Any) -> Any:
        return self.make(**changes).fit(self.rows, self.truth)

    def finds(self, model: Any) -> bool:
        """Whether a fitted estimator knows that the old die more often and stay longer, or how old they are."""
        if self.target:
            return float(model.score(self.rows, self.truth)) > 0.75
        if hasattr(model, "table_one"):
            mean = model.numbers_.query("column == 'age' and figure == 'mean'").iloc[0]
            return bool(mean["value low"] < self.rows["age"].mean() + 0.5 < mean["value high"] + 1)
        return any(item.columns == {"age", "died"} for item in model.redescriptions_.found)

    def told(self, model: Any, rows: Any = None) -> Any:
        """All that a fitted estimator says of rows."""
        rows = self.rows if rows is None else rows
        names = ("predict", "predict_proba", "transform")
        return [getattr(model, name)(rows).tolist() for name in names if hasattr(model, name)]


def _estimators() -> list[Any]:
    offered = [getattr(dpcore, name) for name in dpcore.__all__]
    return [each for each in offered if isclass(each) and issubclass(each, LearnerEstimator)]


#: By the name of the estimator. One that joins the package is here by itself.
CASES = {kind.__name__: Case(kind) for kind in _estimators()}
