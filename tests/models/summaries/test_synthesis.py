"""Invented records: they follow what was counted, fit the schema, and say what they are."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.summaries.released.posterior_tables import posterior_pair
from dpcore.models.summaries.released.synthesis import (
    WHAT_IT_IS,
    Source,
    as_csv,
    as_parquet,
    draw_codes,
    expected_errors,
    header_of,
    invented,
)
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import make_release
from tests.support.results.first_looks import LEARNER, ROWS, people, plan, released, schema
from tests.support.rows import for_each


@pytest.fixture(scope="module")
def model():
    return released(plan(epsilon="2", delta="0.000001", pairs=10))


def test_shares_of_columns_and_kept_pairs_are_those_that_were_counted(model):
    codes = draw_codes(Source(model), 60_000, np.random.default_rng(0))
    frame = people()
    for axis, size in enumerate(model.sizes):
        exact = model.exact_table({schema().entity: frame}, schema(), (axis,)) / ROWS
        np.testing.assert_allclose(np.bincount(codes[axis], minlength=size) / 60_000, exact, atol=0.02)
    ill, age = codes[3], codes[0]
    assert (age[ill == 1] > 3).mean() > 0.75
    assert (age[ill == 0] > 3).mean() < 0.4


def test_the_forest_has_no_circle_and_the_strongest_pair(model):
    source = Source(model)
    branches = source.forest
    assert sorted(branch.axis for branch in branches) == list(range(len(model.axes)))
    seen = set()
    for branch in branches:
        assert branch.follows is None or branch.follows in seen
        seen.add(branch.axis)
    assert {(branch.axis, branch.follows) for branch in branches} & {(0, 3), (3, 0)}
    own, columns = model.estimates, source.columns
    assert (
        posterior_pair(own, (0, 3), columns[0], columns[3]).nats
        > 50 * posterior_pair(own, (1, 2), columns[1], columns[2]).nats
    )


def test_records_fit_the_schema(model):
    own = schema()
    frame = invented(model, own, 4000, seed=3)[own.entity]
    assert list(frame) == [column.name for column in own]
    for column in own:
        codes, _ = encode(column, frame[column.name])
        again = draw_codes(Source(model), 4000, np.random.default_rng(3))[own.index(column.name)]
        assert codes.max() < len(column.cells)
        assert abs((codes == 0).mean() - (again == 0).mean()) < 0.05
    assert frame["age"].dropna().between(20, 100).all()
    assert len(ingest(frame_chunks(frame), own, SeededRandom(0)).public_frame()) == 4000
    assert invented(model, own, 50, seed=3)[own.entity].equals(invented(model, own, 50, seed=3)[own.entity])


def test_a_file_opens_with_what_it_is(model):
    release = make_release("summaries", plan(epsilon="2", delta="0.000001", pairs=10), model, secure=True)
    table = invented(model, schema(), 20, seed=1)[schema().entity]
    text = as_csv(release, table)
    assert text.startswith(f"# {WHAT_IT_IS[0]}".encode())
    assert len(header_of(release)) == 5
    assert "read_csv(path, skiprows=5)" in (Path(__file__).resolve().parents[3] / "docs" / "guide.md").read_text(
        "utf-8"
    )
    assert len(pd.read_csv(io.BytesIO(text), skiprows=5)) == 20
    import pyarrow.parquet as pq

    about = pq.read_schema(io.BytesIO(as_parquet(release, table))).metadata[b"about"].decode()
    assert WHAT_IT_IS[0] in about
    assert release.id in about


def test_files_hold_the_categories_of_the_schema():
    marks = ["+", "-", "++", "+/-", "-5", "+0.5", "Ward #3", "# 4"]
    own = Schema.from_mapping(
        {"name": "marks", "max_rows": 500, "columns": [{"name": "mark", "type": "categorical", "categories": marks}]}
    )
    planned = plan(epsilon="50", of=own)
    made = released(planned, frame=pd.DataFrame({"mark": marks * 20}))
    release, drawn = make_release("summaries", planned, made, secure=True), invented(made, own, 300, seed=0)[own.entity]
    assert set(drawn["mark"].dropna()) >= set(marks)
    for back in (
        pd.read_csv(io.BytesIO(as_csv(release, drawn)), skiprows=5, dtype=str),
        pd.read_parquet(io.BytesIO(as_parquet(release, drawn))),
    ):
        assert back["mark"].fillna("").tolist() == drawn["mark"].fillna("").tolist()
        assert (
            encode(own.column("mark"), back["mark"])[0].tolist()
            == encode(own.column("mark"), drawn["mark"])[0].tolist()
        )


def test_rows_of_further_tables_are_as_many_as_were_counted():
    own = schema(
        privacy_unit={"column": "who", "max_rows_per_person": 1},
        children=[{"name": "visits", "max_rows_per_person": 4, "columns": [{"name": "long", "type": "boolean"}]}],
    )
    frame = people(900).assign(who=range(900))
    visits = pd.DataFrame({"who": np.repeat(np.arange(900), np.arange(900) % 3), "long": "yes"})
    table = ingest(frame_chunks(frame), own, SeededRandom(0), {"visits": frame_chunks(visits)})
    made = LEARNER.run(Run(table, plan(epsilon="100", of=own), SeededRandom(1)))
    tables = invented(made, own, 3000, seed=0)
    assert tables["visits"]["who"].isin(tables[own.entity]["who"]).all()
    assert tables["visits"].groupby("who").size().max() == 2
    assert len(tables["visits"]) == pytest.approx(3000, rel=0.1)


def test_errors_of_shares_are_told_beforehand(model):
    errors = expected_errors(model, ROWS, 0)
    exact = model.exact_table({schema().entity: people()}, schema(), (2,)) / ROWS
    assert 0 < errors["columns"] < 0.02
    assert np.abs(model.estimates.consistent((2,)) / model.estimates.total - exact).mean() < 4 * errors["columns"]
    assert errors["pairs kept"] >= 1


@for_each("rows", [500, 20_000, 100_000])
@for_each("epsilon", ["2", "200"])
def test_errors_of_shares_are_no_smaller_than_told(epsilon, rows):
    """Where there is hardly any noise, drawing and weighting records are all that moves shares."""
    made, own = released(plan(epsilon=epsilon, pairs=6)), schema()
    told, drawn = expected_errors(made, rows, 5), invented(made, own, rows, seed=5)
    asked = {"columns": [(axis,) for axis in range(len(made.axes))], "pairs": list(Source(made).pairs)}
    for kind, tables in asked.items():
        off = [
            np.abs(
                made.exact_table(drawn, own, axes) / rows - made.exact_table({own.entity: people()}, own, axes) / ROWS
            )
            for axes in tables
        ]
        assert 0 < np.mean([one.mean() for one in off]) <= told[kind], kind


def test_whole_numbers_beyond_64_bits_are_drawn_too():
    wide = {"name": "n", "type": "integer", "lower": -(10**20), "upper": 10**20, "bins": 4}
    own = Schema.from_mapping({"name": "wide", "max_rows": 50, "columns": [wide, {"name": "flag", "type": "boolean"}]})
    frame = pd.DataFrame({"n": [1.0, -5e19] * 20, "flag": ["yes", "no"] * 20})
    made = released(plan(epsilon="50", of=own, crosstabs=("n by flag",)), frame=frame)
    drawn = invented(made, own, 100, seed=0)[own.entity]["n"].dropna()
    assert drawn.between(-1e20, 1e20).all()
