"""Results in the words of people: labels and units where a person reads, the release itself as it was."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from dpcore.commands.text import release_text
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.conditions import Condition, schema_conditions
from dpcore.domain.schemas.labels import Labels, called, cell_called
from dpcore.domain.schemas.names import is_name
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.ilp.released.ilp_reading import prolog_program
from dpcore.models.readable import readable
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.models.trees.released.splits import Split
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import Release, make_release
from tests.support.results.content import content
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward
from tests.support.workspaces.fake_learner import real_learners

_ROWS = 1500
#: What a column that a person reads may not be called by.
RAW = ("disp_id", "prior_tia", "sys_bp", "'11'", "= 11", "sx ")


def schema(**changes: dict[str, Any]) -> Schema:
    columns = [
        {"name": "sys_bp", "type": "integer", "lower": 80, "upper": 240, "edges": [120, 160], "view": "left"},
        {"name": "sx", "type": "categorical", "categories": ["1", "2"], "view": "left"},
        {"name": "disp_id", "type": "categorical", "categories": ["1", "3", "11"], "view": "right"},
        {"name": "prior_tia", "type": "boolean", "view": "right"},
        {"name": "dead30", "type": "boolean", "target": True},
    ]
    return ward(*[column | changes.get(str(column["name"]), {}) for column in columns], name="Stays", max_rows=2000)


def labelled() -> Schema:
    return schema(
        sys_bp={"label": "Systolic blood pressure", "unit": "mmHg"},
        sx={"label": "Sex", "labels": {"1": "female", "2": "male"}},
        disp_id={"label": "Discharge", "labels": {"1": "home", "3": "nursing home", "11": "died"}},
        prior_tia={"label": "Prior TIA"},
        dead30={"label": "Death within 30 days"},
    )


def records() -> pd.DataFrame:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sys_bp": random.integers(80, 240, _ROWS),
            "sx": random.choice(["1", "2"], _ROWS),
            "disp_id": random.choice(["1", "3", "11"], _ROWS),
        }
    )
    frame["prior_tia"] = np.where((frame.sx == "2") ^ (random.random(_ROWS) < 0.05), "yes", "no")
    return frame.assign(dead30=np.where((frame.disp_id == "11") | (frame.sys_bp > 200), "yes", "no"))


@cache
def released(family: str, *, plain: bool = False) -> Release:
    stored, learner = schema() if plain else labelled(), LEARNERS[family]
    table = ingest(frame_chunks(records()), stored, SeededRandom(0))
    plan = learner.plan(stored, "dead30" if learner.targeted else "", Decimal(8), {})
    model = learner.run(Run(table, plan, SeededRandom(1)))
    return make_release(family, plan, model, secure=True, dataset_name="Stays")


@for_each("family", real_learners())
def test_every_family_is_told_by_labels_and_units(family):
    shown = readable(released(family))
    page = content(released(family))
    every = "\n".join([release_text(shown), *page.sentences, page.code])
    told = every.replace(prolog_program(shown), "") if family == "ilp" else every
    if family == "ilp":
        told = told[told.index("A person") :]
    assert "Prior TIA" in told or "Discharge" in told
    assert not [word for word in RAW if word in told]


@for_each("family", real_learners())
def test_the_release_as_a_file_stays_as_it_was(family):
    release = released(family)
    before, shown = release.to_json(), readable(release)
    assert shown.to_json() == release.to_json() == before
    assert shown.stored is release
    assert readable(shown) is shown
    assert Release.from_json(shown.to_json()) == release


@for_each("family", [name for name in real_learners() if LEARNERS[name].targeted])
def test_a_case_in_either_words_is_predicted_alike(family):
    release = released(family)
    shown, cases = readable(release), records().head(200)
    labels = Labels(release.domain)
    told = pd.DataFrame(
        {
            labels.column(name): [labels.cell(name, str(value)) if name != "sys_bp" else value for value in cases[name]]
            for name in cases
        }
    )
    ours, theirs = parse_model(release), parse_model(shown)
    if hasattr(ours, "predict_proba"):
        assert np.array_equal(ours.predict_proba(cases, release.domain), theirs.predict_proba(told, shown.domain))


def test_two_categories_are_told_by_which_it_is():
    stored = labelled()
    words = Labels(stored).schema
    split = Split(column="prior_tia", branches=(1, 0, 1, 1))
    told = split.model_copy(update={"column": "Prior TIA"})
    assert [split.text(branch, stored) for branch in (0, 1)] == ["prior_tia = yes", "prior_tia is not yes"]
    assert [told.text(branch, words) for branch in (0, 1)] == ["Prior TIA: yes", "Prior TIA: no or unknown"]
    discharge = Split(column="Discharge", branches=(0, 0, 1, 0, 0))
    assert [discharge.text(branch, words) for branch in (0, 1)] == ["Discharge is not died", "Discharge: died"]


def test_numbers_have_their_unit():
    words = Labels(labelled()).schema
    name = "Systolic blood pressure"
    texts = [
        Condition(column=name, first=first, last=last).text(words) for first, last in ((0, 0), (1, 1), (2, 2), (3, 3))
    ]
    assert texts == [f"{name} <= 120 mmHg", f"120 < {name} <= 160 mmHg", f"{name} > 160 mmHg", f"{name}: (missing)"]


# What columns and categories are called

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=128)


@given(labels=st.lists(TEXTS, min_size=5, max_size=5), cells=st.lists(TEXTS.filter(str.strip), min_size=3, max_size=3))
def test_any_labels_give_a_schema_with_the_same_cells(labels, cells):
    names = [column.name for column in schema()]
    changes = {name: {"label": label} for name, label in zip(names, labels, strict=True)}
    changes["disp_id"]["labels"] = dict(zip(["1", "3", "11"], cells, strict=True))
    stored = schema(**changes)
    told = Labels(stored).schema
    assert [len(column.cells) for column in told] == [len(column.cells) for column in stored]
    assert all(is_name(column.name) for column in told)
    assert [column.name for column in told] == [called(stored, name) for name in names]
    assert told.column(called(stored, "disp_id")).categories == tuple(
        cell_called(stored.column("disp_id"), cell) for cell in ("1", "3", "11")
    )
    for condition in schema_conditions(told, "", thresholds=True, reserved=True):
        assert condition.text(told)


#: Texts that other things of the schema below are called, or begin with.
_SIMILAR = st.sampled_from(["visit: ", "visit:", "visit: a", "id", "key", "day", "a", "b", "a (b)", "", "(other)"])


@given(
    labels=st.lists(st.one_of(_SIMILAR, TEXTS), min_size=4, max_size=4),
    cells=st.lists(st.one_of(_SIMILAR, TEXTS).filter(str.strip), min_size=2, max_size=2),
    orders=st.lists(st.sampled_from([None, "day", "a"]), min_size=2, max_size=2),
)
def test_every_schema_has_one_in_the_words_of_people(labels, cells, orders):
    """Whatever labels say: the same cells, and rows in the same order by the same column."""
    mine, theirs = ([{"name": name, "type": "real", "lower": 0, "upper": 1, "bins": 2} for name in "ab"] for _ in "12")
    for column, label in zip([*mine, *theirs], labels, strict=True):
        column["label"] = label
    named = dict(zip("12", cells, strict=True))
    codes = {"name": "c", "type": "categorical", "categories": ["1", "2"], "labels": named}
    visit = {"name": "visit", "max_rows_per_person": 2, "row_key": "key", "columns": theirs, "order_by": orders[0]}
    content = {"name": "d", "max_rows": 9, "columns": [*mine, codes], "children": [visit]}
    stored = Schema.from_mapping(content | {"privacy_unit": {"column": "id", "order_by": orders[1]}})
    told = Labels(stored).schema
    for before, after in zip((stored, *stored.children), (told, *told.children), strict=True):
        assert [len(column.cells) for column in after.columns] == [len(column.cells) for column in before.columns]
        own = [column.name for column in before.columns]
        order, names = before.keeping.order_by, [column.name for column in after.columns]
        assert after.keeping.order_by == (names[own.index(order)] if order in own else order)
        assert (after.keeping.order_by in names) == (order in own)


def test_a_label_does_not_begin_as_conditions_on_rows_do():
    visit = {"name": "visit", "max_rows_per_person": 2, "columns": [{"name": "a", "type": "boolean"}]}
    columns = [{"name": "b", "type": "boolean", "label": "visit: long"}, {"name": "c", "type": "boolean", "label": "C"}]
    content = {"name": "d", "max_rows": 9, "privacy_unit": {"column": "id"}, "columns": columns, "children": [visit]}
    assert [column.name for column in Labels(Schema.from_mapping(content)).schema] == ["b", "C"]


@for_each(
    ("one", "other", "told"),
    [
        ("Age", "Age", ["Age (sys_bp)", "Age (sx)"]),
        ("sx", "", ["sx (sys_bp)", "sx"]),
        ("Sex", "Sex (sys_bp)", ["Sex", "Sex (sys_bp)"]),
        ("x" * 128, "x" * 128, ["sys_bp", "sx"]),
    ],
)
def test_labels_that_are_not_clear_stand_beside_the_name(one, other, told):
    stored = schema(sys_bp={"label": one}, sx={"label": other})
    assert [column.name for column in Labels(stored).schema][:2] == told
