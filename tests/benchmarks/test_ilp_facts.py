"""Published relational data in the benchmark of relational rules: tables, splits, references."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import ilp_facts, ilp_facts_runs
from benchmarks.datasets import FOLDER_VARIABLE
from benchmarks.ilp_methods import ALIKE, HOUSE, NON_PRIVATE, NON_PRIVATE_ROWS, ROWS_ALONE
from benchmarks.ilp_tables import facts_table
from dpcore.domain.columns import OTHER
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import get_learner
from tests.benchmarks.test_ilp import exists

_NEEDS_DATA = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")

FACTS = {
    "trains1000": (
        "has_car,t1,c1 has_car,t1,c2 has_car,t2,c3 short,c1, long,c2, long,c3, two_wheels,c1, "
        "three_wheels,c2, two_wheels,c3, roof_open,c1, roof_closed,c2, roof_arc,c2, roof_flat,c3, "
        "roof_closed,c3, has_load,c1,l1 has_load,c1,l2 has_load,c3,l3 circle,l1, diamond,l2, "
        "hexagon,l3, one_load,l1, zero_load,l2, three_load,l3, rectangle,l4, triangle,l4, "
        "inverted_triangle,l4, two_load,l4, roof_jagged,c9, roof_peaked,c9,"
    ),
    "trains10": (
        "has_car,t1,c1 has_car,t2,c2 short,c1, long,c2, closed,c1, open,c2, shape,c1,hexagon "
        "shape,c2,rectangle double,c1, wheels,c1,2 wheels,c2,3 load,c1,circle,1 load,c1,hexagon,2"
    ),
    "bongard": (
        "circle,t1,o1 square,t1,o2 triangle,t1,o3 triangle,t2,o4 config,t1,o3,up "
        "config,t2,o4,down inside,t1,o1,o2 inside,t1,o2,o3"
    ),
}
TABLES: dict[str, dict[str, list[list[str]]]] = {
    "trains1000": {
        "car": [["t1", "short", "2", "open", "2"], ["t1", "long", "3", "arc", "0"], ["t2", "long", "2", "flat", "1"]],
        "load": [
            ["circle", "1", "t1", "short", "2", "open"],
            ["diamond", "0", "t1", "short", "2", "open"],
            ["hexagon", "3", "t2", "long", "2", "flat"],
        ],
    },
    "trains10": {
        "car": [
            ["t1", "short", "closed", "hexagon", "yes", "2", "circle", "1"],
            ["t2", "long", "open", "rectangle", "no", "3", "nil", "0"],
        ],
    },
    "bongard": {
        "object": [
            ["t1", "circle", "nowhere", "square", "nowhere"],
            ["t1", "square", "nowhere", "triangle", "up"],
            ["t1", "triangle", "up", "nothing", "nowhere"],
            ["t2", "triangle", "down", "nothing", "nowhere"],
        ],
    },
}


@pytest.fixture
def few_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with some facts of each data set about two things, the second positive."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    for data, known in FACTS.items():
        rows = [(fact + ",,").split(",")[:4] for fact in known.split(" ")]
        facts = pd.DataFrame(rows, columns=["predicate", "arg1", "arg2", "arg3"])
        facts.to_csv(tmp_path / f"{data}_facts.csv.gz", index=False)
        labels = pd.DataFrame({"thing": ["t1", "t2"], "label": [0, 1]})
        if data == "trains1000":
            labels = pd.concat([labels.assign(task="trains1"), labels.assign(task="other")])
            labels = labels[["task", "thing", "label"]]
        labels.to_csv(tmp_path / f"{data}_examples.csv.gz", index=False)
    ilp_facts.load.cache_clear()


@pytest.mark.parametrize("data", FACTS)
@pytest.mark.usefixtures("few_facts")
def test_facts_become_tables(data: str) -> None:
    found = ilp_facts.load(data, "trains1" if data == "trains1000" else "")
    ilp_facts.load.cache_clear()
    key = str(found.schema.privacy_unit.column)
    assert found.tables[found.schema.entity][key].tolist() == ["t1", "t2"]
    assert found.labels.tolist() == [False, True]
    for child in found.schema.children:
        rows = found.tables[child.name]
        assert rows.to_numpy().tolist() == TABLES[data][child.name]
        assert {column.name for column in child.columns} | {key} == set(rows.columns)


@_NEEDS_DATA
@pytest.mark.parametrize(("data", "task"), [(data, task) for data, tasks in ilp_facts.TASKS.items() for task in tasks])
def test_the_public_schemas_hold_every_record(data: str, task: str) -> None:
    found = ilp_facts.load(data, task)
    assert len(found.labels) <= found.schema.max_rows
    for child in found.schema.children:
        rows = found.tables[child.name]
        assert rows[found.schema.key_of(child)].value_counts().max() <= child.max_rows_per_person
        for column in child.columns:
            codes = encode(column, rows[column.name])[0]
            unknown = [code for code, cell in enumerate(column.cells) if cell == OTHER]
            assert not np.isin(codes, unknown).any(), column.name


@_NEEDS_DATA
def test_rules_that_are_known_to_hold_of_the_published_trains() -> None:
    closed = ("flat", "jagged", "peaked", "arc")
    ten, thousand = ilp_facts.load("trains10"), ilp_facts.load("trains1000", "trains1")
    east = exists(ten.tables["car"], "train", length="short", top="closed")
    assert set(ten.tables["train"]["train"][ten.labels]) == east
    cars = thousand.tables["car"]
    both = exists(cars, "train", length="long", roof=closed) & exists(cars, "train", wheels="3")
    assert set(thousand.tables["train"]["train"][thousand.labels]) == both


@_NEEDS_DATA
def test_records_of_published_data_are_split_and_scored() -> None:
    found = ilp_facts.load("bongard")
    one, other = (ilp_facts_runs.split(found, number) for number in (0, 1))
    assert one.sum() == other.sum() == round(0.7 * 392)
    assert (one != other).any()
    assert ilp_facts_runs.accuracy("bongard", "", NON_PRIVATE, None, 0) > 0.9
    records = list(ilp_facts_runs.run("ilp", "trains10", quick=True))
    private = {(method, epsilon) for method in (HOUSE, ROWS_ALONE, ALIKE) for epsilon in (10.0, 1.0)}
    assert {(r.method, r.epsilon) for r in records} == {(NON_PRIVATE, None), (NON_PRIVATE_ROWS, None)} | private
    assert "house, epsilon 10" in [column.header for column in facts_table(records).columns]


def test_reported_figures_name_what_is_measured() -> None:
    tasks = {task for tasks in ilp_facts.TASKS.values() for task in tasks}
    assert set(ilp_facts_runs.REPORTED) <= tasks
    assert set(ilp_facts_runs.SETTINGS) <= set(ilp_facts.TASKS)
    learner = get_learner("ilp")
    folder = Path(ilp_facts.__file__).parent / "schemas"
    for data in ilp_facts.TASKS:
        schema = Schema.from_file(folder / f"{data}.yaml")
        for epsilon in ilp_facts_runs.EPSILONS:
            settings = ilp_facts_runs.SETTINGS.get(data, {})
            plan: Any = learner.plan(schema, schema.targets[0], Decimal(epsilon), settings)
            assert plan.epsilon == Decimal(epsilon)
