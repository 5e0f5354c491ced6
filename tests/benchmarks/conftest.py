"""Small invented tables in the form of the public data sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import datasets, problems
from benchmarks.suites import after_looks, growth, looks, redescriptions, rehearsal
from dpcore.domain.columns import IntegerColumn, NumericColumn
from dpcore.domain.schemas.schema import Schema

SCHEMAS = Path(datasets.__file__).parent / "schemas"
_CACHED = (problems.problem, problems.split, redescriptions.two_views, looks.truth_of, looks._look_at_pairs)
_CACHED += (rehearsal.real, rehearsal._release, rehearsal._rehearsed, rehearsal._private, growth._table)
_CACHED += (datasets.relational,)


def rows_of(schema: Schema, rows: int) -> pd.DataFrame:
    """Random records of a schema."""
    source = np.random.default_rng(7)
    columns: dict[str, Any] = {}
    for column in schema:
        if isinstance(column, NumericColumn):
            values = source.uniform(column.lower, column.upper, rows)
            columns[column.name] = values.round() if isinstance(column, IntegerColumn) else values
        else:
            columns[column.name] = source.choice(column.classes, rows)
    return pd.DataFrame(columns)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of small tables; in some the target follows from one column."""
    for name in ("adult", "titanic", "nursery", "mushroom", "heart_cleveland", "npas"):
        rows_of(Schema.from_file(SCHEMAS / f"{name}.yaml"), 300).to_csv(tmp_path / f"{name}.csv.gz", index=False)
    wine = rows_of(Schema.from_file(SCHEMAS / "wine_quality.yaml"), 600)
    wine["quality"] = np.where(wine["alcohol"] > 11.5, 8, 4)
    telco = rows_of(Schema.from_file(SCHEMAS / "telco_churn.yaml"), 600)
    telco["Churn"] = np.where(telco["tenure"] < 36, "Yes", "No")
    telco.loc[::50, "TotalCharges"] = np.nan
    cms = rows_of(schema := Schema.from_file(SCHEMAS / "cms.yaml"), 300).assign(id=range(300))
    sides = {"cms_left": cms[["id", *schema.view("left")]].iloc[::-1], "cms_right": cms[["id", *schema.view("right")]]}
    for name, frame in {"wine_quality": wine, "telco_churn": telco, **sides}.items():
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    facts = [("has_car", f"t{i}", f"c{i}") for i in range(10)] + [("short", f"c{i}", "") for i in range(0, 10, 2)]
    facts += [("long", f"c{i}", "") for i in range(1, 10, 2)] + [("closed", f"c{i}", "") for i in range(10)]
    facts += [("open", "none", ""), ("double", "none", ""), ("shape", "c0", "hexagon"), ("wheels", "c0", "2")]
    facts += [("load", "c0", "circle")]
    told = pd.DataFrame(facts, columns=["predicate", "arg1", "arg2"]).assign(arg3="")
    told.to_csv(tmp_path / "trains10_facts.csv.gz", index=False)
    labels = pd.DataFrame({"thing": [f"t{i}" for i in range(10)], "label": [int(i % 2 == 0) for i in range(10)]})
    labels.to_csv(tmp_path / "trains10_examples.csv.gz", index=False)
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Load everything anew."""
    for cached in _CACHED:
        cached.cache_clear()
    assert after_looks.truth_of is looks.truth_of
