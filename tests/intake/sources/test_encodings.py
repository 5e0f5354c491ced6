"""Letters in any common encoding: as they are, or a sentence; never exchanged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.errors import IngestError
from dpcore.intake.sources import encodings
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.encodings import ENCODINGS
from dpcore.intake.sources.files import describe, read_chunks
from tests.support.rows import for_each
from tests.support.texts import lacking

TABLE = "Größe;Straße\n1,75;Zürich\n1,80;Köln\n"
#: Letters that an encoding has, beside those that all have.
SAMPLES = {
    "cp1251": "город",
    "cp1253": "πόλη",
    "cp1255": "עיר",
    "cp1256": "مدينة",
    "koi8-r": "город",
    "cp437": "ÄÖé",
    "cp932": "東京",
    "euc_jp": "東京",
    "gb18030": "北京",
    "big5": "台北",
    "euc_kr": "서울",
}


def write(folder: Path, content: bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    return path


def rows(path: Path, encoding: str | None = None, chunk_rows: int = 2) -> list[list[str]]:
    with choosing(Choices(encoding=encoding)):
        whole = pd.concat(list(read_chunks(path, None, chunk_rows)), ignore_index=True)
    return [list(whole.columns), *whole.to_numpy().tolist()]


def refused(path: Path, encoding: str | None = None) -> str:
    with pytest.raises(IngestError) as caught:
        rows(path, encoding)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_stated_encoding_is_read(tmp_path: Path, encoding: str, name: str) -> None:
    word = SAMPLES.get(encoding, "é")
    content = f"a;{word}\n1;{word}\n".encode(encoding)
    assert rows(write(tmp_path, content, name), encoding) == [["a", word], ["1", word]]


@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_what_shows_itself_is_read_without_a_word(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, TABLE.encode(encoding))
    assert rows(path) == [line.split(";") for line in TABLE.splitlines()]
    assert not lacking(describe(path), "UTF", "separated by semicolons")


@for_each("encoding", ["cp1252", "iso8859-1", "cp850", "mac-roman"])
def test_what_could_be_several_is_asked_for(tmp_path: Path, encoding: str) -> None:
    told = refused(write(tmp_path, TABLE.encode(encoding)))
    assert not lacking(told, "not UTF-8 text", "encoding")


def test_the_likeliest_is_proposed(tmp_path: Path) -> None:
    text = "name;ville\n" + "Hélène;Besançon\nFrançois;Orléans\nZoë;Évry-sur-Seine\n" * 40
    assert "Windows-1252" in refused(write(tmp_path, text.encode("cp1252")))


@for_each(
    ("content", "stated"),
    [
        (TABLE.encode(), "windows-1252"),
        (TABLE.encode("utf-8-sig"), "latin-1"),
        (TABLE.encode("utf-16"), "utf-8"),
        (TABLE.encode("cp1252"), "utf-16"),
        (TABLE.encode("cp1252"), "utf-8"),
        (TABLE.encode("cp850"), "cp1252"),
        (TABLE.encode("cp1252") + b"\x90\n", "cp1252"),
        ("€".encode("cp1252") + b"\n1\n", "latin-1"),
        (b"a\n\xc3(\n", "euc_kr"),
    ],
)
def test_a_wrong_word_gets_a_sentence(tmp_path: Path, content: bytes, stated: str) -> None:
    assert "text. Say " in refused(write(tmp_path, content), stated)


def test_an_unknown_encoding_gets_a_sentence(tmp_path: Path) -> None:
    for name in ("klingon", "unicode_escape", "idna", "rot13", "\0", ""):
        assert "is no known encoding" in refused(write(tmp_path, b"a\n1\n"), name)


@for_each("stated", [None, "utf-16", "cp1252"])
def test_what_comes_behind_the_first_bytes_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str | None
) -> None:
    monkeypatch.setattr(encodings, "HEAD", 64)
    monkeypatch.setattr(encodings, "_PIECE", 32)
    text = "a\n" + "1234567\n" * 50
    content = text.encode(stated or "utf-8") + (b"\x00\xd8\n\0" if stated == "utf-16" else b"\x90\n")
    assert "not" in refused(write(tmp_path, content), stated)


def test_a_letter_may_lie_across_the_end_of_the_first_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(4, 12):
        monkeypatch.setattr(encodings, "HEAD", size)
        assert rows(write(tmp_path, "a\néééééé\n".encode())) == [["a"], ["éééééé"]]


LETTERS = st.text(st.sampled_from('aäßé,;"\n 1'), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=8), st.sampled_from(["cp1252", "utf-16"]))
def test_rows_are_the_same_in_every_encoding(tmp_path: Path, table: list[tuple[str, str]], encoding: str) -> None:
    text = pd.DataFrame(table, columns=["a", "b"]).to_csv(index=False)
    plain, other = write(tmp_path, text.encode()), write(tmp_path, text.encode(encoding), "y.csv")
    with choosing(Choices(encoding=encoding)):
        found = pd.concat(list(read_chunks(other, None, 3)))
    assert found.fillna("").equals(pd.concat(list(read_chunks(plain, None, 3))).fillna(""))


def test_decimal_commas_become_points_where_they_are_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, b"a;b;c\n1,75;x,y;1.234,5\n-0,5; 2,0 ;1,2,3\n;7;\n")
    assert rows(path)[1:3] == [["1,75", "x,y", "1.234,5"], ["-0,5", " 2,0 ", "1,2,3"]]
    with choosing(Choices(decimal=",")):
        whole = pd.concat(list(read_chunks(path)))
        assert "with decimal commas" in describe(path)
    assert whole.fillna("").to_numpy().tolist() == [
        ["1.75", "x,y", "1.234,5"],
        ["-0.5", " 2.0 ", "1,2,3"],
        ["", "7", ""],
    ]


def test_no_sentence_holds_a_value(tmp_path: Path) -> None:
    assert "CANARY" not in refused(write(tmp_path, b"a\nCANARY\xe9\n"))
    assert "CANARY" not in refused(write(tmp_path, b"a\nCANARY\x90\n"), "cp1252")
