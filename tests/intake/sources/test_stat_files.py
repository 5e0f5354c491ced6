"""Files of SPSS, Stata and SAS: rows as codes, labels by a function, every fault a sentence."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpcore.domain.encoding import texts_of
from dpcore.errors import IngestError
from dpcore.intake.sources import stat_files
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.encodings import OF_STATISTICS
from dpcore.intake.sources.files import describe
from dpcore.intake.sources.stat_files import ColumnNote, dictionary_of, stat_chunks, stat_types
from tests.support.rows import for_each

FRAME = pd.DataFrame(
    {
        "id": ["a", "b", "ö"],
        "sex": [1.0, 2.0, -9.0],
        "born": [dt.date(1990, 1, 2), None, dt.date(2000, 1, 1)],
        "seen": [dt.datetime(2020, 1, 2, 3), None, None],
        "dose": [1.5, None, 3.0],
    }
)
LABELS: dict[str, Any] = {"column_labels": {"sex": "Sex of patient"}}
CODES: dict[str, Any] = {"variable_value_labels": {"sex": {1: "male", 2: "female", -9: "unknown"}}}
WRITERS: dict[str, Any] = {
    "sav": lambda path, frame: pyreadstat.write_sav(frame, path, **LABELS, **CODES, missing_ranges={"sex": [-9]}),
    "zsav": lambda path, frame: pyreadstat.write_sav(frame, path, compress=True, **LABELS, **CODES),
    "dta": lambda path, frame: pyreadstat.write_dta(frame, path, **LABELS, **CODES),
    "xpt": lambda path, frame: pyreadstat.write_xport(frame, path, **LABELS),
}


def made(folder: Path, ending: str, frame: pd.DataFrame = FRAME) -> Path:
    path = folder / f"visits.{ending}"
    WRITERS[ending](path, frame)
    return path


def texts(path: Path, columns: list[str] | None = None, chunk_rows: int = 2) -> dict[str, list[str]]:
    rows = pd.concat(list(stat_chunks(path, columns, chunk_rows)), ignore_index=True)
    return {str(name): texts_of(rows[name]) for name in rows}


@for_each("ending", WRITERS)
def test_rows_are_the_texts_of_codes(tmp_path: Path, ending: str) -> None:
    found = texts(made(tmp_path, ending))
    assert found["id"] == ["a", "b", "ö"]
    assert found["sex"] == ["1", "2", "" if ending == "sav" else "-9"]
    assert found["dose"] == ["1.5", "", "3"]
    assert [text[:10] for text in found["born"]] == ["1990-01-02", "", "2000-01-01"]
    assert found["seen"][0].startswith("2020-01-02 03:00")


def misnamed(folder: Path, ending: str) -> Path:
    """A file in Windows-1252 that says, or lets one think, that it is UTF-8."""
    path = made(folder, ending, pd.DataFrame({"a": ["Zürich"], "b": [1.0]}))
    path.write_bytes(path.read_bytes().replace("ü".encode(), "ü ".encode("cp1252")))
    return path


@for_each("ending", ["sav", "dta", "xpt"])
def test_the_encoding_that_was_said_is_that_of_the_letters(tmp_path: Path, ending: str) -> None:
    path = misnamed(tmp_path, ending)
    with pytest.raises(IngestError, match="Say its encoding"):
        texts(path)
    with choosing(Choices(encoding="Windows-1252")):
        assert texts(path)["a"] == ["Zü rich"]
        assert describe(path).endswith("file, letters as Windows-1252 (Western Europe)")
    for wrong in ("utf-8", "utf-16", "cp1258"):
        with choosing(Choices(encoding=wrong)), pytest.raises(IngestError, match="Say another encoding"):
            texts(path)


def test_every_encoding_on_offer_is_known_to_the_reader(tmp_path: Path) -> None:
    path = made(tmp_path, "sav", pd.DataFrame({"a": ["Zurich"], "b": [1.0]}))
    for codec in OF_STATISTICS:
        with choosing(Choices(encoding=codec)):
            assert texts(path)["a"] == ["Zurich"]


@for_each("cells", [5, 10, 1000])
def test_pieces_of_any_size_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr("dpcore.intake.sources.stat_files._CELLS", cells)
    many = pd.DataFrame({"a": range(7), "b": list("uvwxyzo")})
    path = made(tmp_path, "zsav", many)
    assert texts(path, None, 1) == {"a": [str(i) for i in range(7)], "b": list("uvwxyzo")}


def test_a_dictionary_has_labels_codes_and_kinds(tmp_path: Path) -> None:
    notes = {note.name: note for note in dictionary_of(made(tmp_path, "sav"))}
    codes = {"1": "male", "2": "female", "-9": "unknown"}
    assert notes["sex"] == ColumnNote("sex", "Sex of patient", "number", codes, ("-9",))
    assert notes["id"] == ColumnNote("id", "", "text", {}, ())
    assert (notes["born"].kind, notes["seen"].kind) == ("date", "date")


@for_each("ending", WRITERS)
def test_every_format_says_kinds_and_labels(tmp_path: Path, ending: str) -> None:
    path = made(tmp_path, ending)
    notes = {note.name: note for note in dictionary_of(path)}
    assert [note.kind for note in notes.values()] == ["text", "number", "date", "date", "number"]
    assert notes["sex"].label == "Sex of patient"
    assert notes["sex"].values.get("2") == (None if ending == "xpt" else "female")
    assert stat_types(path) == {"id": "text", "sex": "real", "born": "text", "seen": "text", "dose": "real"}


def test_missing_codes_in_a_range_are_those_with_a_label(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    labels = {"a": {97: "refused", 99: "not asked", 1: "yes"}}
    ranges = {"a": [{"lo": 97, "hi": 99}]}
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0, 97.0]}), path, variable_value_labels=labels, missing_ranges=ranges)
    assert dictionary_of(path)[0].missing == ("97", "99")
    assert texts(path) == {"a": ["1", ""]}


@for_each("ending", [*WRITERS, "sas7bdat"])
def test_damaged_files_get_a_sentence(tmp_path: Path, ending: str) -> None:
    whole = made(tmp_path, "sav" if ending == "sas7bdat" else ending, pd.concat([FRAME] * 50)).read_bytes()
    damaged = [b"", b"$FL2", b"a,b\n1,2\n", whole[:300], whole[: len(whole) // 2 + 1], b"PK\x03\x04" + whole[4:]]
    for content in damaged:
        path = tmp_path / f"damaged.{ending}"
        path.write_bytes(content)
        with pytest.raises(IngestError, match="cannot be read as one of") as caught:
            list(stat_chunks(path, None, 100))
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_file_of_another_kind_gets_a_sentence(tmp_path: Path) -> None:
    path = made(tmp_path, "sav").rename(tmp_path / "visits.dta")
    with pytest.raises(IngestError, match="one of Stata"):
        dictionary_of(path)


def test_a_date_that_no_calendar_has_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    formats = {"variable_format": {"a": "DATE11"}}
    pyreadstat.write_sav(pd.DataFrame({"a": [1e18]}), path, **formats)
    with pytest.raises(IngestError, match="years 1 to 9999"):
        list(stat_chunks(path, None, 10))


@for_each("fault", [MemoryError(), TypeError("no text"), IndexError("0"), AttributeError("x")])
def test_whatever_a_small_file_does_to_its_reader_gets_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """A header that promises more than any memory holds is damage too."""

    def failing(*_: object, **__: object) -> None:
        raise fault

    file = tmp_path / "promises.xpt"
    file.write_bytes(b" " * 720)
    monkeypatch.setitem(stat_files._READERS, ".xpt", ("SAS", failing))
    with pytest.raises(IngestError, match="damaged"):
        dictionary_of(file)


def test_a_large_file_may_be_too_large_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    file = tmp_path / "large.sav"
    file.write_bytes(b" " * (stat_files._SMALL + 1))
    monkeypatch.setitem(stat_files._READERS, ".sav", ("SPSS", failing))
    with pytest.raises(MemoryError):
        dictionary_of(file)


def test_columns_without_a_name_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "nameless.sav"
    file.write_bytes(b" ")
    about = SimpleNamespace(column_names=[None])
    monkeypatch.setitem(stat_files._READERS, ".sav", ("SPSS", lambda *_, **__: (None, about)))
    with pytest.raises(IngestError, match="damaged"):
        dictionary_of(file)
