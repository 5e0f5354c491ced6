from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.data.bits import unpack
from dpcore.data.ingest import ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Schema
from dpcore.errors import SchemaError
from dpcore.privacy.randomness import SeededRandom

ARRAYS = ("codes", "numbers", "cells", "parts")
MAX_ROWS = 300
SCHEMA = Schema.from_mapping(
    {
        "name": "ward",
        "max_rows": MAX_ROWS,
        "holdout_percent": 40,
        "columns": [
            {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 5},
            {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
            {"name": "stage", "type": "ordinal", "categories": ["low", "mid", "high"]},
            {"name": "died", "type": "boolean", "target": True},
        ],
    }
)


def records(rows: int, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.choice([3.0, 20.0, 20.5, 77.0, 999.0, np.nan], rows),
            "sex": draw.choice(["f", "m", "x", ""], rows),
            "stage": draw.choice(["low", "mid", "high", "", "?"], rows),
            "died": draw.choice(["yes", "no", "", "?"], rows),
        }
    )


def table(rows: int = 120, schema: Schema = SCHEMA, seed: int = 0) -> PrivateTable:
    source = SeededRandom(seed)
    return ingest([records(rows, seed)], schema, source)


def saved(made: PrivateTable, folder) -> PrivateTable:
    folder.mkdir()
    made.save(folder)
    return PrivateTable.open(folder)


def flags(words: np.ndarray) -> np.ndarray:
    return unpack(words, MAX_ROWS)


def test_save_and_open_round_trip(tmp_path):
    made = table()
    opened = saved(made, tmp_path / "t")
    assert opened.schema == made.schema
    assert opened.schema.hash == made.schema.hash
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(opened, name), getattr(made, name))
        assert getattr(opened, name).dtype == getattr(made, name).dtype
    assert opened.public_frame().equals(made.public_frame())


def test_an_opened_table_is_mapped_and_read_only(tmp_path):
    opened = saved(table(), tmp_path / "t")
    for name in ARRAYS:
        array = getattr(opened, name)
        assert isinstance(array, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_table_without_numbers_is_stored_too(tmp_path):
    schema = Schema.from_mapping({"name": "d", "max_rows": 5, "columns": [{"name": "sex", "type": "boolean"}]})
    made = ingest([pd.DataFrame({"sex": ["yes", "no"]})], schema, SeededRandom(0))
    assert saved(made, tmp_path / "t").numbers.shape == (0, 5)


def test_shapes_and_files_depend_on_the_schema_only(tmp_path):
    constant = pd.DataFrame({"age": [5], "sex": ["f"], "stage": ["low"], "died": ["no"]})
    tables = [
        table(1),
        table(MAX_ROWS, seed=1),
        ingest([constant], SCHEMA, SeededRandom(2)),
    ]
    shapes, sizes = set(), set()
    for i, made in enumerate(tables):
        folder = tmp_path / str(i)
        saved(made, folder)
        shapes.add(tuple((getattr(made, n).shape, str(getattr(made, n).dtype)) for n in ARRAYS))
        sizes.add(tuple(sorted((f.name, f.stat().st_size) for f in folder.iterdir())))
    assert len(shapes) == len(sizes) == 1
    words = -(-MAX_ROWS // 64)
    expected = [(4, MAX_ROWS), (1, MAX_ROWS), (6 + 4 + 5 + 4, words), (2, words)]
    assert [shape for shape, _ in shapes.pop()] == expected


def test_places_beyond_the_records_belong_nowhere():
    made = table(120)
    assert not flags(made.members("all"))[120:].any()
    assert not any(flags(cell)[120:].any() for cell in made.cells)
    assert (made.codes[:, 120:] == 0).all()
    assert np.isnan(made.numbers[:, 120:]).all()
    spare = 64 * made.parts.shape[1]
    for words in (*made.cells, *made.parts):
        assert not unpack(words, spare)[120:].any()


def test_many_cells_need_wider_codes():
    wide = {"name": "c", "type": "categorical", "categories": [f"k{i}" for i in range(300)]}
    schema = Schema.from_mapping({"name": "d", "max_rows": 400, "columns": [wide]})
    values = [f"k{i}" for i in range(300)] + ["?"]
    made = ingest([pd.DataFrame({"c": values})], schema, SeededRandom(0))
    assert made.codes.dtype == np.uint16
    assert sorted(made.codes[0, :301].tolist()) == list(range(301))
    assert table().codes.dtype == np.uint8


@pytest.mark.parametrize("copier", [pickle.dumps, copy.deepcopy, copy.copy])
def test_a_table_cannot_be_pickled(copier):
    with pytest.raises(TypeError, match="cannot be pickled"):
        copier(table())


def test_repr_shows_no_value():
    assert repr(table()) == str(table()) == "PrivateTable('ward')"
    assert repr(table(1)) == repr(table(2))


@pytest.mark.parametrize("damage", ["absent", "empty", "short", "pickled"])
@pytest.mark.parametrize("name", ["codes.npy", "numbers.npy", "cells.npy", "parts.npy"])
def test_an_incomplete_table_is_refused(tmp_path, name, damage):
    saved(table(), tmp_path / "t")
    path = tmp_path / "t" / name
    if damage == "absent":
        path.unlink()
    elif damage == "pickled":
        np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-8])
    with pytest.raises(SchemaError, match="incomplete"):
        PrivateTable.open(tmp_path / "t")


def test_a_folder_without_a_table(tmp_path):
    with pytest.raises(SchemaError):
        PrivateTable.open(tmp_path)


def test_train_and_holdout_divide_the_records():
    made = table()
    train, holdout = flags(made.members("train")), flags(made.members("holdout"))
    assert train.any()
    assert holdout.any()
    assert not (train & holdout).any()
    assert ((train | holdout) == flags(made.members("all"))).all()
    assert (train | holdout).sum() == 120


@pytest.mark.parametrize("part", ["train", "holdout", "all"])
@pytest.mark.parametrize("target", ["died", "sex", "stage", "age"])
def test_class_members_leave_out_other_and_missing(part, target):
    made = table()
    column = SCHEMA.column(target)
    codes, members = made.codes[SCHEMA.index(target)], flags(made.members(part))
    classes = made.class_members(target, part)
    assert len(classes) == len(column.classes)
    for code, words in enumerate(classes):
        assert (flags(words) == ((codes == code) & members)).all()
    reserved = (codes >= len(column.classes)) & members
    assert reserved.any()
    assert not (flags(np.bitwise_or.reduce(classes)) & reserved).any()


@given(st.data())
def test_cells_and_ranges_match_codes(data):
    made = table()
    column = data.draw(st.sampled_from(SCHEMA.columns))
    first = data.draw(st.integers(0, len(column.cells) - 1))
    last = data.draw(st.integers(first, len(column.cells) - 1))
    codes, present = made.codes[SCHEMA.index(column.name)], flags(made.members("all"))
    expected = (codes >= first) & (codes <= last) & present
    assert (flags(made.cell_range(column.name, first, last)) == expected).all()
    assert (flags(made.cell(column.name, first)) == ((codes == first) & present)).all()


def test_public_frame_holds_each_record_once():
    found = table().public_frame()
    source = records(120)
    assert list(found.columns) == ["age", "sex", "stage", "died"]
    expected = pd.DataFrame(
        {
            "age": np.rint(source["age"].clip(0, 100)),
            "sex": source["sex"].replace({"x": "(other)", "": "(missing)"}),
            "stage": source["stage"].replace({"?": "(other)", "": "(missing)"}),
            "died": source["died"].replace({"?": "(other)", "": "(missing)"}),
        }
    )
    assert sorted(map(str, found.to_numpy().tolist())) == sorted(map(str, expected.to_numpy().tolist()))
