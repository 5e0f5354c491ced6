"""Excel files: one sheet, its rows as they are, every fault a sentence."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest

from dpcore.domain.encoding import texts_of
from dpcore.errors import IngestError
from dpcore.intake.process.uploads import ask
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.files import describe, read_chunks, read_header
from dpcore.intake.sources.sheets import sheet_names
from tests.support.rows import for_each
from tests.support.tables.workbooks import Cells, Day, workbook

VISITS = [["id", "when", "ok", 2020], [1, Day(43831), True, 0.5], [None, None, None], ["ö", Day(43832), False, None]]
MERGED = '<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>'


def texts(path: Path, columns: list[str] | None = None, chunk_rows: int = 100) -> dict[str, list[str]]:
    whole = pd.concat(list(read_chunks(path, columns, chunk_rows)))
    return {str(name): texts_of(whole[name]) for name in whole}


def refused(path: Path, sheet: str | None = None) -> str:
    with choosing(Choices(sheet=sheet)), pytest.raises(IngestError) as caught:
        texts(path)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@for_each("chunk_rows", [1, 2, 100])
def test_a_sheet_is_a_table(tmp_path: Path, chunk_rows: int) -> None:
    path = workbook(tmp_path / "x.xlsx", {"Visits": VISITS})
    assert read_header(path) == ["id", "when", "ok", "2020"]
    assert texts(path, None, chunk_rows) == {
        "id": ["1", "ö"],
        "when": ["2020-01-01", "2020-01-02"],
        "ok": ["yes", "no"],
        "2020": ["0.5", ""],
    }
    assert texts(path, ["ok"], chunk_rows) == {"ok": ["yes", "no"]}


def test_the_first_sheet_is_read_unless_another_is_chosen(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", {"Notes": [["a"], ["1"]], "Visits & more": VISITS})
    assert sheet_names(path) == ["Notes", "Visits & more"]
    assert read_header(path) == ["a"]
    assert describe(path) == "sheet 'Notes' of an Excel file (not read: 'Visits & more')"
    with choosing(Choices(sheet="Visits & more")):
        assert read_header(path) == ["id", "when", "ok", "2020"]
    assert "no sheet 'visits'. Its sheets are 'Notes', 'Visits & more'" in refused(path, "visits")


@for_each(
    ("cells", "sentence"),
    [
        ([], "empty or has no header"),
        ([[None, "a"], [1, 2]], "A column has no name"),
        ([["a", "a"], [1, 2]], "repeats 'a'"),
        ([["Report of 2020"], ["a", "b"], [1, 2]], "row 2 has a value in a column without a name"),
        ([["a"], [1], [2, "total"]], "row 3 has a value in a column without a name"),
        ([[f"c{i}" for i in range(1001)]], "1001 columns"),
    ],
)
def test_what_is_no_table_gets_a_sentence(tmp_path: Path, cells: Cells, sentence: str) -> None:
    assert sentence in refused(workbook(tmp_path / "x.xlsx", {"S": cells}))


def test_merged_cells_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", {"S": [["a", "b"], [1, 2]]}, within={"S": MERGED})
    assert "has merged cells" in refused(path)


def test_huge_cells_are_read(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    assert texts(workbook(tmp_path / "x.xlsx", {"S": [["a"], [long]]})) == {"a": [long]}


def test_damaged_files_get_a_sentence(tmp_path: Path) -> None:
    whole = workbook(tmp_path / "x.xlsx", {"S": [["a"], *([i] for i in range(2000))]}).read_bytes()
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    damaged = [b"", b"PK\x03\x04", b"a,b\n1,2\n", whole[:200], whole[: len(whole) // 2], old]
    damaged += [whole[:900] + b"\xff" * 300 + whole[1200:]]
    for content in damaged:
        path = tmp_path / "damaged.xlsx"
        path.write_bytes(content)
        assert "cannot be read as an Excel file" in refused(path)


def test_a_file_without_sheets_gets_a_sentence(tmp_path: Path) -> None:
    assert "no sheet" in refused(workbook(tmp_path / "x.xlsx", {}))
    with zipfile.ZipFile(tmp_path / "y.xlsx", "w") as packed:
        packed.writestr("readme.txt", "x")
    assert "cannot be read as an Excel file" in refused(tmp_path / "y.xlsx")


def test_little_that_becomes_much_runs_into_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_UPLOAD_MEMORY", "600")
    rows = [["a"], *(["x" * 20_000] for _ in range(40_000))]
    path = workbook(tmp_path / "x.xlsx", {"S": rows})
    assert path.stat().st_size < 10_000_000
    with pytest.raises(IngestError, match=r"crashes the program|more memory"):
        ask("header", [path], path=path)
