"""Public data in the form of their schemas, and splits that are the same for every program."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import datasets
from benchmarks.datasets import FOLDER_VARIABLE, TASKS, load, relational
from benchmarks.declared import LeftOutError
from benchmarks.problems import RARE, fifth, fifth_of_each, folds, problem, split, thinned
from benchmarks.suites import ebm, ilp, records, redescriptions, trees
from dpcore.domain.columns import OTHER, NumericColumn
from dpcore.domain.encoding import encode, encode_categories
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import SeededRandom
from tests.benchmarks.conftest import SCHEMAS, forget, rows_of

needs_data = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")
_VIEWS = (redescriptions.CMS, redescriptions.MAMMALS, redescriptions.NPAS)


def _schema(name: str) -> Schema:
    return Schema.from_file(SCHEMAS / f"{name}.yaml")


@needs_data
@pytest.mark.parametrize("name", [*ebm.PUBLISHED, *_VIEWS])
def test_the_public_schemas_hold_every_record(name: str) -> None:
    data = load(name)
    assert len(data.frame) <= data.schema.max_rows
    for column in data.schema:
        values = data.frame[column.name]
        if isinstance(column, NumericColumn):
            # In tables of two views: adjustments below zero, and an impossible age.
            outside = ((values < column.lower) | (values > column.upper)).mean()
            assert outside < (0.002 if name in _VIEWS else 1e-9), column.name
        else:
            assert (encode_categories(column, values) != column.cells.index(OTHER)).all(), column.name
    if name in _VIEWS:
        views = [data.schema.view("left"), data.schema.view("right")]
        assert min(map(len, views)) >= 19
        assert sum(map(len, views)) == len(data.schema.columns)


@needs_data
@pytest.mark.parametrize(("data", "task"), [(data, task) for data, tasks in TASKS.items() for task in tasks])
def test_the_public_schemas_hold_every_relational_record(data: str, task: str) -> None:
    found = relational(data, task)
    assert len(found.labels) <= found.schema.max_rows
    for child in found.schema.children:
        rows = found.tables[child.name]
        assert rows[found.schema.key_of(child)].value_counts().max() <= child.max_rows_per_person
        for column in child.columns:
            codes = encode(column, rows[column.name])[0]
            unknown = [code for code, cell in enumerate(column.cells) if cell == OTHER]
            assert not np.isin(codes, unknown).any(), column.name


def test_openml_forms_are_brought_to_the_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    telco, wine, elevators = (rows_of(_schema(name), 20) for name in ("telco_churn", "wine_quality", "elevators"))
    charges = ["' '", *telco["TotalCharges"].round(2).astype(str)[1:]]
    stored = {
        "telco-customer-churn": telco.assign(TotalCharges=charges, Contract="'" + telco["Contract"] + "'"),
        "wine_quality": wine.rename(columns=lambda name: name.replace("_", ".")),
        "elevators": elevators.rename(columns={"goal": "Goal"}),
    }
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(datasets, "_openml", lambda name, version: stored[name].copy())
    found = load("telco_churn").frame
    assert np.isnan(found["TotalCharges"][0])
    assert found["TotalCharges"][1:].tolist() == telco["TotalCharges"].round(2)[1:].tolist()
    assert (found["Contract"] == telco["Contract"]).all()
    pd.testing.assert_frame_equal(load("wine_quality").frame, wine)
    pd.testing.assert_frame_equal(load("elevators").frame, elevators)
    with pytest.raises(LeftOutError, match=FOLDER_VARIABLE) as left_out:
        load("cms")
    assert left_out.value.everything


def test_complete_rows_of_adult_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = rows_of(_schema("adult"), 2)
    frame.loc[1, "occupation"] = None
    frame.to_csv(tmp_path / "adult.csv.gz", index=False)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    data = load("adult_categorical")
    assert list(data.frame) == [column.name for column in _schema("adult_categorical")]
    assert (len(data.frame), data.target) == (1, "income")


def test_two_files_are_joined_and_unanswered_questions_are_missing(small: Path) -> None:
    cms = rows_of(_schema("cms"), 300)
    found = load("cms").frame.iloc[::-1].reset_index(drop=True)
    assert found["birth_year"].tolist() == cms["birth_year"].tolist()
    assert found["BENRES_CAR_2009"].tolist() == pytest.approx(cms["BENRES_CAR_2009"].tolist())
    answers = rows_of(_schema("npas"), 20)
    answers.loc[3, "Q1"], answers.loc[3, "age"] = "0", 0
    answers["race_asian"] = [0, 1] * 10
    answers.to_csv(small / "npas.csv.gz", index=False)
    npas = load("npas").frame
    assert npas["Q1"].isna().tolist() == npas["age"].isna().tolist() == [i == 3 for i in range(20)]
    assert npas["race_asian"].tolist() == [0, 1] * 10


@given(st.lists(st.integers(0, 3), min_size=1, max_size=200), st.integers(2, 10))
def test_folds_share_every_class_evenly(labels: list[int], count: int) -> None:
    classes = np.array(labels)
    numbers = folds(classes, count, 0)
    for label in set(labels):
        sizes = np.bincount(numbers[classes == label], minlength=count)
        assert len(sizes) == count
        assert sizes.max() - sizes.min() <= 1


def test_folds_are_the_same_every_time_and_others_for_another_shuffle() -> None:
    labels = np.repeat([0, 1], 500)
    assert (folds(labels, 10, 0) == folds(labels, 10, 0)).all()
    assert (folds(labels, 10, 0) != folds(labels, 10, 1)).any()


def test_every_program_gets_the_same_fifth(small: Path) -> None:
    tests = [fifth(problem("wine_quality"), seed)[1] for seed in range(5)]
    assert [test.sum() for test in tests] == [120] * 5
    assert len({tuple(test) for test in tests}) == 5
    own = split("wine_quality", fifth, 3)
    assert (own.apart == tests[3]).all()
    assert int(np.bitwise_count(own.table.partitions[0].members("all")).sum()) == 480
    assert len(own.frame) == 120
    assert not (own.learn & own.apart).any()


def test_ten_folds_hold_everybody_once_and_split_training_from_test(small: Path) -> None:
    found = [split("nursery", trees._ten_folds, seed) for seed in range(10)]
    assert sum(own.apart.astype(int) for own in found).tolist() == [1] * 300
    for own in found:
        assert int(np.bitwise_count(own.table.partitions[0].members("all")).sum()) == own.learn.sum()
        classes = own.one.data.schema.column("class").classes
        assert [classes[label] for label in own.truth] == own.frame["class"].tolist()


def test_scores_are_the_area_under_the_curve_and_the_root_mean_squared_error(small: Path) -> None:
    number = split("wine_quality", fifth, 0)
    assert number.score(number.truth + 3) == {"RMSE": pytest.approx(3)}
    label = split("telco_churn", fifth, 0)
    assert label.score(label.truth) == {"AUC": 1}
    assert label.score(-label.truth) == {"AUC": 0}
    assert (label.truth == (label.frame["Churn"] == "Yes")).all()
    several = split("nursery", fifth, 0)
    assert several.area(np.eye(5)[several.truth]) == 1


def test_the_rarer_class_is_thinned_out_to_its_share() -> None:
    labels = np.repeat([0, 1], [900, 300])
    stays = thinned(labels, 0.1, SeededRandom(1))
    assert stays[:900].all()
    assert labels[stays].mean() == pytest.approx(0.1, abs=0.001)


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "share"),
    [("best wines, 3 %", 6497, 0.030), ("stroke in cms, 5 %", 9856, 0.050), ("heart, 303 rows", 303, 0.459)],
)
def test_a_rare_table_has_two_classes_and_splits_of_both(name: str, rows: int, share: float) -> None:
    forget()
    one = problem(name)
    assert one.codes.shape == (rows, len(one.columns))
    assert one.truth.mean() == pytest.approx(share, abs=0.001)
    assert all((one.codes >= 0).all(axis=0) & (one.codes < np.array(one.sizes)).all(axis=0))
    assert one.data.target not in [column.name for column in one.columns]
    for seed in range(3):
        learn, apart = fifth_of_each(one, seed)
        assert (learn != apart).all()
        assert one.truth[apart].mean() == pytest.approx(one.truth.mean(), abs=0.005)
        assert apart.mean() == pytest.approx(0.2, abs=0.005)


@needs_data
@pytest.mark.parametrize("name", RARE)
def test_rare_tables_have_the_columns_of_their_schema(name: str) -> None:
    data = RARE[name]()
    assert [column.name for column in data.schema if column.name not in data.frame] == []


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


@pytest.mark.parametrize("data", FACTS)
def test_facts_become_tables(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    rows = [(fact + ",,").split(",")[:4] for fact in FACTS[data].split(" ")]
    facts = pd.DataFrame(rows, columns=["predicate", "arg1", "arg2", "arg3"])
    facts.to_csv(tmp_path / f"{data}_facts.csv.gz", index=False)
    labels = pd.DataFrame({"thing": ["t1", "t2"], "label": [0, 1]})
    if data == "trains1000":
        labels = pd.concat([labels.assign(task="trains1"), labels.assign(task="other")])[["task", "thing", "label"]]
    labels.to_csv(tmp_path / f"{data}_examples.csv.gz", index=False)
    forget()
    found = relational(data, "trains1" if data == "trains1000" else "")
    forget()
    key = str(found.schema.privacy_unit.column)
    assert found.tables[found.schema.entity][key].tolist() == ["t1", "t2"]
    assert found.labels.tolist() == [False, True]
    for child in found.schema.children:
        rows_found = found.tables[child.name]
        assert rows_found.to_numpy().tolist() == TABLES[data][child.name]
        assert {column.name for column in child.columns} | {key} == set(rows_found.columns)


def exists(cars: pd.DataFrame, key: str, **wanted: Any) -> set[Any]:
    """Trains with a car that has all these values; a tuple allows several."""
    fits = np.ones(len(cars), dtype=bool)
    for column, value in wanted.items():
        fits &= cars[column].isin(value if isinstance(value, tuple) else (value,)).to_numpy()
    return set(cars.loc[fits, key])


@needs_data
def test_rules_that_are_known_to_hold_of_the_published_trains() -> None:
    closed = ("flat", "jagged", "peaked", "arc")
    ten, thousand = relational("trains10"), relational("trains1000", "trains1")
    east = exists(ten.tables["car"], "train", length="short", top="closed")
    assert set(ten.tables["train"]["train"][ten.labels]) == east
    cars = thousand.tables["car"]
    both = exists(cars, "train", length="long", roof=closed) & exists(cars, "train", wheels="3")
    assert set(thousand.tables["train"]["train"][thousand.labels]) == both


@needs_data
@pytest.mark.parametrize(("outcome", "share"), [("stroke_tia", 0.024), ("alzheimer", 0.167)])
def test_beneficiaries_have_two_rows_of_earlier_years_and_nothing_of_the_last(outcome: str, share: float) -> None:
    schema, main, rows = records.years(outcome)
    assert len(main) == 9710
    assert main[schema.targets[0]].mean() == pytest.approx(share, abs=0.001)
    assert set(main) == {"who", "birth_year", "sex", "race", f"{outcome}_2010"}
    assert set(rows["year"]) == {2008, 2009}
    assert (rows.groupby("who").size() == 2).all()
    assert set(rows["who"]) == set(main["who"])
    assert set(rows[outcome]) == {0, 1}


def test_patients_who_come_back_are_thinned_out_and_have_their_last_stay_once() -> None:
    _, main, rows = records.stays(0)
    assert main["back_soon"].mean() == pytest.approx(0.06, abs=0.001)
    assert main["who"].is_unique
    assert rows["who"].isin(main["who"]).all()
    latest = rows.groupby("who")["admitted"].max()
    assert (main.set_index("who").loc[latest.index, "admitted"] >= latest).all()


closed_roofs = ("flat", "jagged", "peaked", "arc")


@pytest.mark.parametrize("name", ilp.CONCEPTS)
def test_half_of_the_trains_satisfy_a_concept(name: str) -> None:
    drawn = ilp.draw(ilp.CONCEPTS[name], 300, "a test")
    assert (drawn.frame["direction"] == "east").sum() == 150
    assert drawn.table.schema.max_rows == 300
    cars = drawn.children["car"]
    first = exists(cars, "train_id", length="short", roof=closed_roofs, load="triangle")
    second = exists(cars, "train_id", length="long", double_sided=True, load="circle")
    east = {ilp.THREE: first, ilp.SIX: first & second, ilp.TWO: first | second}.get(name)
    assert east is None or set(drawn.frame.loc[drawn.frame["direction"] == "east", "train_id"]) == east


def test_one_drawing_is_not_another() -> None:
    concept = ilp.CONCEPTS[ilp.THREE]
    one, again, other = (ilp.draw(concept, 50, name).frame for name in (0, 0, 1))
    assert one.equals(again)
    assert not one.equals(other)


def test_public_names_are_those_of_files() -> None:
    named = set(itertools.chain(TASKS, ebm.PUBLISHED, _VIEWS, ("adult_categorical",)))
    assert named <= {path.stem for path in SCHEMAS.glob("*.yaml")}
