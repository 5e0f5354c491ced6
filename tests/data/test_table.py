from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.data.building.ingest import ingest
from dpcore.data.packing import unpack
from dpcore.data.stored.storage import check_contents
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.partitioned import divided
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

ARRAYS = ("codes", "numbers", "cells", "parts", "ids")
MAX_ROWS = 300
SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 5},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    {"name": "stage", "type": "ordinal", "categories": ["low", "mid", "high"]},
    {"name": "died", "type": "boolean", "target": True},
    max_rows=MAX_ROWS,
    holdout_percent=40,
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
    return unpack(words, 64 * len(words))


def test_save_and_open_round_trip(tmp_path):
    made = table()
    opened = saved(made, tmp_path / "t")
    assert opened.schema == made.schema
    assert opened.schema.hash == made.schema.hash
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(opened.partitions[0], name), getattr(made.partitions[0], name))
        assert getattr(opened.partitions[0], name).dtype == getattr(made.partitions[0], name).dtype
    assert opened.public_frame().equals(made.public_frame())


def test_an_opened_table_is_mapped_and_read_only(tmp_path):
    opened = saved(table(), tmp_path / "t")
    for name in ARRAYS:
        array = getattr(opened.partitions[0], name)
        assert not array.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_shapes_and_files_depend_on_the_schema_only(tmp_path):
    constant = pd.DataFrame({"age": [5], "sex": ["f"], "stage": ["low"], "died": ["no"]})
    tables = [table(1), table(MAX_ROWS, seed=1), ingest([constant], SCHEMA, SeededRandom(2))]
    shapes, sizes = set(), set()
    for i, made in enumerate(tables):
        folder = tmp_path / str(i)
        saved(made, folder)
        arrays = [getattr(made.partitions[0], name) for name in ARRAYS]
        shapes.add(tuple((array.shape, str(array.dtype)) for array in arrays))
        sizes.add(tuple(sorted((f.name, f.stat().st_size) for f in folder.rglob("*") if f.is_file())))
    assert len(shapes) == len(sizes) == 1
    words = -(-MAX_ROWS // 64)
    expected = [(4, 64 * words), (1, 64 * words), (6 + 4 + 5 + 4, words), (2, words), (64 * words,)]
    assert [shape for shape, _ in shapes.pop()] == expected


def test_places_beyond_the_records_belong_nowhere():
    made = table(120)
    assert not flags(made.partitions[0].members("all"))[120:].any()
    assert not any(flags(cell)[120:].any() for cell in made.partitions[0].cells)
    assert (made.partitions[0].codes[:, 120:] == 0).all()
    assert np.isnan(made.partitions[0].numbers[:, 120:]).all()
    spare = 64 * made.partitions[0].parts.shape[1]
    for words in (*made.partitions[0].cells, *made.partitions[0].parts):
        assert not unpack(words, spare)[120:].any()


def test_many_cells_need_wider_codes():
    wide = {"name": "c", "type": "categorical", "categories": [f"k{i}" for i in range(300)]}
    schema = Schema.from_mapping({"name": "d", "max_rows": 400, "columns": [wide]})
    values = [f"k{i}" for i in range(300)] + ["?"]
    made = ingest([pd.DataFrame({"c": values})], schema, SeededRandom(0))
    assert made.partitions[0].codes.dtype == np.uint16
    assert sorted(made.partitions[0].codes[0, :301].tolist()) == list(range(301))
    assert table().partitions[0].codes.dtype == np.uint8


@for_each("copier", [pickle.dumps, copy.deepcopy, copy.copy])
def test_a_table_cannot_be_pickled(copier):
    with pytest.raises(TypeError, match="cannot be pickled"):
        copier(table())


@for_each("damage", ["absent", "empty", "short", "other"])
@for_each("name", ["partitions.json", "00000/records.arrow", "00000/bits.arrow"])
def test_an_incomplete_table_is_refused(tmp_path, name, damage):
    saved(table(), tmp_path / "t")
    path = tmp_path / "t" / name
    if damage == "absent":
        path.unlink()
    elif damage == "other":
        path.write_bytes(b"[]" if path.suffix == ".json" else _arrow({"x": [1, 2]}))
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-8])
    with pytest.raises(SchemaError, match="incomplete"):
        PrivateTable.open(tmp_path / "t")


def _arrow(columns):
    batch, sink = pa.record_batch(columns), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_a_changed_file_is_told_from_its_checksum(tmp_path):
    saved(table(), tmp_path / "t")
    check_contents(tmp_path / "t")
    path = tmp_path / "t" / "00000" / "records.arrow"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(SchemaError, match="restore it"):
        check_contents(tmp_path / "t")


def test_a_table_of_before_there_were_partitions_is_read(tmp_path):
    made = table().partitions[0]
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    for name in ("codes", "numbers", "cells", "parts"):
        np.save(tmp_path / f"{name}.npy", getattr(made, name))
    found = PrivateTable.open(tmp_path)
    assert found.public_frame().equals(table().public_frame())
    (tmp_path / "cells.npy").write_bytes(b"")
    with pytest.raises(SchemaError, match="incomplete"):
        PrivateTable.open(tmp_path)


def test_records_are_never_pickled_stored_or_not(tmp_path):
    for partition in (*table().partitions, *saved(table(), tmp_path / "t").partitions):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(partition)


@for_each("count", [2, 7, 64])
def test_partitions_hold_each_record_once(tmp_path, count):
    whole = table()
    parts = saved(divided(whole, count), tmp_path / "t")
    assert len(parts.partitions) == count
    frames = [made.public_frame(part) for made in (whole, parts) for part in ("train", "holdout")]
    for one, other in ((frames[0], frames[2]), (frames[1], frames[3])):
        assert sorted(map(str, one.to_numpy().tolist())) == sorted(map(str, other.to_numpy().tolist()))


@for_each("part", ["train", "holdout", "all"])
@for_each("target", ["died", "sex", "stage", "age"])
def test_class_members_leave_out_other_and_missing(part, target):
    made = table()
    column = SCHEMA.column(target)
    codes, members = made.partitions[0].codes[SCHEMA.index(target)], flags(made.partitions[0].members(part))
    classes = made.partitions[0].class_members(target, part)
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
    codes, present = made.partitions[0].codes[SCHEMA.index(column.name)], flags(made.partitions[0].members("all"))
    expected = (codes >= first) & (codes <= last) & present
    assert (flags(made.partitions[0].cell_range(column.name, first, last)) == expected).all()
    assert (flags(made.partitions[0].in_cells(column.name, [first])) == ((codes == first) & present)).all()


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


def test_a_partition_keeps_what_there_is_room_for():
    partition, made = table().partitions[0], []

    def make(key, size):
        return partition.cached(key, lambda: made.append(key) or [np.zeros(size, dtype=np.uint8)])

    partition.room = 100
    for key, size in (("a", 40), ("b", 40), ("a", 40), ("c", 40), ("a", 40), ("b", 40), ("large", 400), ("large", 400)):
        assert len(make(key, size)[0]) == size
    assert made == ["a", "b", "c", "b", "large"]
