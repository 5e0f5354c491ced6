"""Blocks of lines are read as the strict reader reads them, or not at all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.errors import IngestError
from dpcore.intake.sources import csv_blocks, csv_files, files
from dpcore.intake.sources.csv_blocks import next_block, rows_of
from tests.support.rows import for_each

SIGNS = st.text(st.sampled_from(list('ab1 ,;"\n\r\té')), max_size=30)
FIELDS = st.sampled_from(["", "a", '""', '"a,b"', '"a\nb"', '"say ""x"""', '"\r\n"', " ", "é", '"a"', "a b"])
LINES = st.lists(st.tuples(FIELDS, FIELDS).map(",".join), max_size=8)


def strictly(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]


@pytest.mark.parametrize("examples", [200, pytest.param(600, marks=pytest.mark.slow)])
def test_what_is_read_at_once_is_what_the_strict_reader_reads(examples: int) -> None:
    @given(st.one_of(SIGNS, st.tuples(LINES, st.sampled_from(["\n", "\r\n"])).map(lambda t: t[1].join(t[0]) + t[1])))
    @settings(max_examples=examples)
    def check(text: str) -> None:
        found = rows_of(text.encode(), ["x", "y"], ",", ["x", "y"])
        if text and found is not None:
            expected = strictly(text)
            assert [[value or None for value in row] for row in expected] == [
                [None if pd.isna(value) else value for value in row] for row in found.to_numpy(dtype=object).tolist()
            ]

    check()


@for_each("text", ['x,"y\n', 'a"b,c\n', '"a"b,c\n', "a,b\rc,d\r", "a,b,c\n", "a\n", "a,\0\n", "a,b\nc,d,\n"])
def test_what_is_unusual_is_left_to_the_strict_reader(text: str) -> None:
    assert rows_of(text.encode(), ["x", "y"], ",", ["x"]) is None
    assert rows_of("é,b\n".encode("latin-1"), ["x", "y"], ",", ["x"]) is None


@for_each("text", ['"a\n""b",c\r\n1,2\n', "a,b\n\n1,2", '"","a"\n', 'a;"b;c"\n'])
def test_what_is_usual_is_read_at_once(text: str) -> None:
    sign = ";" if ";" in text else ","
    assert rows_of(text.encode(), ["x", "y"], sign, ["x"]) is not None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(LINES, st.integers(1, 40), st.integers(1, 5), st.sampled_from(["", 'odd"quote,2', "1,2,3", "a\rb,c"]))
def test_blocks_of_any_size_give_the_same_rows(
    tmp_path: Path, lines: list[str], size: int, chunk_rows: int, odd: str
) -> None:
    text = "\n".join(["x,y", *lines, odd, "7,8"])
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")

    def read() -> list[list[str]] | str:
        try:
            whole = pd.concat(files.read_chunks(path, None, chunk_rows))
        except IngestError as error:
            return str(error)
        return whole.fillna("").to_numpy(dtype=object).tolist()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_blocks, "_BLOCK", size)
        by_blocks = read()
        patch.setattr(csv_files, "rows_of", lambda block, *_: None)
        assert by_blocks == read()


def test_a_block_ends_outside_quotation_marks() -> None:
    text = b'a,"1\n2\n3"\nb,4\n'
    assert next_block(io.BytesIO(text)) == text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_blocks, "_BLOCK", 2)
        raw = io.BytesIO(text)
        assert next_block(raw) == b'a,"1\n', "it does not go on for ever"
        patch.setattr(csv_blocks, "_BLOCK", 8)
        raw.seek(0)
        assert next_block(raw) == b'a,"1\n2\n3"\n'
