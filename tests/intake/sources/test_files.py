from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.errors import IngestError
from dpcore.intake.sources import files
from tests.support.rows import for_each

NOT_TEXT = "not UTF-8 text"
BROKEN = "not a well-formed CSV"
BROKEN_PARQUET = "not a readable Parquet file"
GOOD = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1009) for i in range(5000))


def write(folder: Path, content: bytes, name: str = "upload.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read(path: Path, columns: list[str] | None = None, chunk_rows: int = 3) -> pd.DataFrame:
    chunks = list(files.read_chunks(path, columns, chunk_rows))
    assert all(len(chunk) <= chunk_rows for chunk in chunks)
    return pd.concat(chunks, ignore_index=True)


def rows(path: Path, columns: list[str] | None = None) -> list[list[object]]:
    return [["" if pd.isna(v) else v for v in row] for row in read(path, columns).to_numpy()]


@pytest.mark.crossed
@pytest.mark.parametrize("columns", [None, ["a"], ["b", "a"], []])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty or has no header"),
        (b"\n\n", "empty or has no header"),
        (b"\na,b\n1,2\n", "empty or has no header"),
        (b" , \n1,2\n", "empty or has no header"),
        (b"a,\n1,2\n", "A column has no name"),
        (b"a, ,b\n1,2,3\n", "A column has no name"),
        (b"a,b,a\n1,2,3\n", "repeats 'a'"),
        (b"a,b, a\n1,2,3\n", "repeats 'a'"),
        (b",".join(b"c%d" % i for i in range(2000)) + b"\n", "2000 columns; at most 1000"),
        ("a,b\n1,2\n3,Zürich\n".encode("latin-1"), NOT_TEXT),
        ("a,é\n1,2\n".encode("latin-1"), NOT_TEXT),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "not UTF-16 text"),
        (b"a,b\0\n1,2\n", NOT_TEXT),
        (b"a,b\n1,2\n3,\0\n", NOT_TEXT),
        (b"a,b\n\0\0,2\n", NOT_TEXT),
        (b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00", NOT_TEXT),
        (b'a,"b\n1,2\n3,4\n', BROKEN),
        (b'a,b\n1,"2\n3,4\n', BROKEN),
        (b'a,b\n1,2\n3,4\n5,6\n7,8\n"\n', BROKEN),
        (b'"' + b"x" * 200_000, BROKEN),
    ],
)
def test_wrong_uploads_get_a_sentence(tmp_path, content, sentence, columns):
    with pytest.raises(IngestError, match=sentence):
        read(write(tmp_path, content), columns)


@pytest.mark.crossed
@pytest.mark.parametrize("columns", [None, ["a"], ["b"], ["b", "a"], []])
@pytest.mark.parametrize("line", range(8))
@pytest.mark.parametrize("chunk_rows", [1, 3, 100])
def test_too_many_fields_on_any_line_of_any_chunk(tmp_path, columns, line, chunk_rows):
    lines = [b"1,2"] * 8
    lines[line] = b"1,2,3"
    path = write(tmp_path, b"a,b\n" + b"\n".join(lines))
    with pytest.raises(IngestError, match=f"Line {line + 2} of the file has 3 fields"):
        read(path, columns, chunk_rows)


@for_each(
    ("content", "line"),
    [
        (b"a,b,c\n1,2\n3,4,5,6\n", 2),
        (b"a,b,c\n1,2,3\n3,4,5,6\n", 3),
        (b"a,b,c\n1,2,3\n\n1,2\n", 4),
        (b'a,b,c\n1,"2\n2",3\n1,2\n', 4),
        (b"a,b\n1,2\n3,4,\n", 3),
        (b"a,b\n1,2,\n3,4\n", 3),
        (b"a,b\n1,2,\n3,4,5\n", 3),
        (b"a,b\n1,2\nSmith, Anna,\n", 3),
    ],
)
@for_each("chunk_rows", [1, 100])
def test_a_line_whose_values_could_be_of_other_columns_is_refused(tmp_path, content, line, chunk_rows):
    with pytest.raises(IngestError, match=f"Line {line} of the file has"):
        read(write(tmp_path, content), None, chunk_rows)


def test_a_header_that_is_too_long_is_refused(tmp_path):
    for content in (b"a," * 5_000_000, b'"a\n",' * 1_000_000):
        with pytest.raises(IngestError, match="too long to be a header"):
            files.read_header(write(tmp_path, content))


@for_each("content", [b"a,b\n", b"a,b", b"a,b\r\n\r\n"])
def test_header_only(tmp_path, content):
    frame = read(write(tmp_path, content))
    assert list(frame.columns) == ["a", "b"]
    assert len(frame) == 0


@for_each(
    "content",
    [
        b"a,b\n1,2\n3,4\n",
        b"a,b\r\n1,2\r\n\r\n3,4\r\n",
        b"a,b\r1,2\r3,4\r",
        b"a;b\n1;2\n3;4",
        b"a\tb\n1\t2\n3\t4\n",
        b"a|b\n1|2\n3|4\n",
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4".encode("utf-16"),
        "a;b\n1;2\n3;4".encode("utf-16-le"),
        "\ufeffa;b\n1;2\n3;4".encode("utf-16-be"),
        b' a ,"b"\n1,"2"\n3,4\n',
        b"a,b\n1,2,\n3,4,\n",
    ],
)
def test_spellings_of_the_same_table(tmp_path, content):
    path = write(tmp_path, content)
    assert files.read_header(path) == ["a", "b"]
    assert rows(path) == [["1", "2"], ["3", "4"]]
    assert rows(path, ["b"]) == [["2"], ["4"]]


def test_quotes_hold_delimiters_and_line_ends(tmp_path):
    path = write(tmp_path, b'"a,b,c";d\n"x;\ny";"say ""hi"""\n')
    assert files.read_header(path) == ["a,b,c", "d"]
    assert rows(path) == [["x;\ny", 'say "hi"']]


@pytest.mark.crossed
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".CSV.GZ"])
@pytest.mark.parametrize("chunk_rows", [1, 7, 4999, 5000, 10**6])
def test_small_chunks_equal_the_whole(tmp_path, suffix, chunk_rows):
    content = GOOD[:4000] if chunk_rows == 1 else GOOD
    content = content[: content.rindex(b"\n") + 1]
    packed = gzip.compress(content) if suffix.lower().endswith("gz") else content
    path = write(tmp_path, packed, f"upload{suffix}")
    expected = [line.split(",") for line in content.decode().splitlines()[1:]]
    assert read(path, None, chunk_rows).to_numpy().tolist() == expected


GZIPPED = gzip.compress(GOOD)


@for_each(
    "content",
    [
        b"",
        b"a,b\n1,2\n",
        GZIPPED[:100],
        GZIPPED[:-4],
        GZIPPED[:12] + b"\xff" * 20 + GZIPPED[32:],
        GZIPPED[:9000] + b"\xff" * 100 + GZIPPED[9100:],
        GZIPPED[:-8] + b"\0\0\0\0" + GZIPPED[-4:],
        # Far behind the header, a second member that cannot be inflated.
        gzip.compress(GOOD * 20) + GZIPPED[:12] + b"\xff" * 20 + GZIPPED[32:],
    ],
)
def test_broken_gzip(tmp_path, content):
    with pytest.raises(IngestError):
        read(write(tmp_path, content, "upload.csv.gz"), None, 10**6)


@for_each("content", [GZIPPED[:100], GZIPPED[:-4], GZIPPED[:12] + b"\xff" * 20 + GZIPPED[32:]])
def test_a_compressed_file_that_is_cut_off_or_damaged_is_called_so(tmp_path, content):
    with pytest.raises(IngestError, match="cut off or damaged"):
        read(write(tmp_path, content, "upload.csv.gz"), None, 10**6)


@for_each("name", ["absent.csv", "absent.parquet", "absent.csv.gz"])
def test_no_such_file(tmp_path, name):
    with pytest.raises(IngestError, match="no file of this name"):
        read(tmp_path / name)


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.integers(1, 4))
def test_csv_round_trip(tmp_path, table, chunk_rows):
    frame = pd.DataFrame(table, columns=["a", "b b"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read(tmp_path / "t.csv", None, chunk_rows).fillna("").equals(frame.astype("str"))


def parquet_table() -> pa.Table:
    return pa.table(
        {
            "person": pa.array([2**60 + 1, None, 2**60 + 2, 5], pa.int64()),
            "flag": [True, None, False, True],
            "dose": [0.5, None, -1.0, 2.0],
            "text": ["a", None, "é", ""],
            "a.b": pa.array(["x", "y", "x", None]).dictionary_encode(),
            "when": pa.array([0, 1, None, 3], pa.timestamp("ms")),
        }
    )


@for_each("chunk_rows", [1, 2, 100])
@for_each("name", ["t.parquet", "t.PQ"])
def test_parquet_round_trip(tmp_path, chunk_rows, name):
    pq.write_table(parquet_table(), tmp_path / name)
    frame = read(tmp_path / name, None, chunk_rows)
    assert list(frame.columns) == parquet_table().column_names
    for column in ("person", "flag", "dose", "text", "a.b"):
        found = [None if pd.isna(v) else v for v in frame[column]]
        assert found == parquet_table()[column].to_pylist()


def broken_parquets() -> list[bytes]:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": np.arange(50_000) * 7919 % 1009}), sink)
    whole = sink.getvalue().to_pybytes()
    return [
        b"",
        b"PAR1",
        b"PAR1xxxxPAR1",
        b"a,b\n1,2\n",
        whole[: len(whole) // 2],
        whole[:100] + b"\xff" * 2000 + whole[2100:],
        whole[:-60] + b"\xff" * 40 + whole[-20:],
    ]


@for_each("content", broken_parquets())
def test_broken_parquet(tmp_path, content):
    with pytest.raises(IngestError, match=BROKEN_PARQUET):
        read(write(tmp_path, content, "t.parquet"), None, 10**6)


def test_parquet_headers_are_checked_too(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(IngestError, match="repeats 'a'"):
        read(path)
    pq.write_table(pa.table([[1], [2]], names=["a", " "]), path)
    with pytest.raises(IngestError, match="A column has no name"):
        read(path)
    pq.write_table(pa.table({f"c{i}": [1] for i in range(1001)}), path)
    with pytest.raises(IngestError, match="1001 columns"):
        read(path)


def test_no_message_holds_a_value_of_the_file(tmp_path):
    secret = b"CANARY-7731"
    for content in (b"a,b\n1,2\n%s,1,2\n", b'a,b\n1,"%s\n', b"a,b\n%s,\xff\n", b"a,b\n%s,\0\n"):
        with pytest.raises(IngestError) as caught:
            read(write(tmp_path, content % secret))
        assert "CANARY" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
