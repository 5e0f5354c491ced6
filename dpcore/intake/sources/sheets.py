"""Excel files: one sheet is a table, its first row names the columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pandas as pd
import python_calamine as calamine

from dpcore.errors import IngestError
from dpcore.intake.sources.choices import chosen

_BROKEN = "The file cannot be read as an Excel file (.xlsx): it is damaged, or of another kind. Export it again."
_LOCKED = "The Excel file is protected by a password. Save it without one and upload it again."
_MERGED = "The sheet '{sheet}' has merged cells: which rows their value belongs to cannot be told. Separate them first."
_NO_SHEET = "The file has no sheet '{sheet}'. Its sheets are {sheets}; upper and lower case matter."
_NO_NAME = (
    "In the sheet '{sheet}', row {row} has a value in a column without a name. The first row names the columns: "
    "remove what stands above or beside the table."
)
_SHOWN = 20


def sheet_names(path: Path) -> list[str]:
    """The sheets of a file. Raises ``IngestError``."""
    with _faults(), calamine.CalamineWorkbook.from_path(path) as book:
        return _tables(book)


def chosen_sheet(path: Path) -> str:
    """The sheet that is read. Raises ``IngestError``."""
    names, wanted = sheet_names(path), chosen().sheet
    if wanted is None and names:
        return names[0]
    if wanted not in names:
        listed = ", ".join(f"'{name}'" for name in names[:_SHOWN]) or "none that holds cells"
        raise IngestError(_NO_SHEET.format(sheet=wanted or "", sheets=listed))
    return str(wanted)


def describe_sheet(path: Path) -> str:
    """Which sheet is read, and which others there are. Raises ``IngestError``."""
    sheet = chosen_sheet(path)
    others = [f"'{name}'" for name in sheet_names(path) if name != sheet]
    more = f", and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    left = f" (not read: {', '.join(others[:_SHOWN])}{more})" if others else ""
    return f"sheet '{sheet}' of an Excel file{left}"


def sheet_columns(path: Path) -> list[str]:
    """Names of the columns of the chosen sheet. Raises ``IngestError``."""
    with _faults():
        return _header(_rows(path))


def sheet_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    """Rows of the chosen sheet, blank ones left out; numbers, dates and texts as they are."""
    with _faults():
        sheet, rows = chosen_sheet(path), _rows(path)
        names = _header(rows)
        wanted = names if columns is None else columns
        places = [(name, names.index(name)) for name in wanted]
        found = _within(rows, len(names), sheet)
        first = True
        while (piece := list(islice(found, chunk_rows))) or first:
            content = {name: [row[i] for row in piece] for name, i in places}
            yield pd.DataFrame(content, index=range(len(piece)), dtype=object)
            first = False


def _within(rows: Iterator[list[object]], width: int, sheet: str) -> Iterator[list[object]]:
    for number, row in enumerate(rows, 2):
        if any(value is not None for value in row[width:]):
            raise IngestError(_NO_NAME.format(sheet=sheet, row=number))
        if any(value is not None for value in row):
            yield row


def _header(rows: Iterator[list[object]]) -> list[str]:
    """Names in the first row, up to the last one."""
    names = ["" if value is None else _name(value) for value in next(rows, [])]
    while names and not names[-1]:
        names.pop()
    return names


def _name(value: object) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _rows(path: Path) -> Iterator[list[object]]:
    sheet = chosen_sheet(path)
    with calamine.CalamineWorkbook.from_path(path) as book:
        content = book.get_sheet_by_name(sheet)
        if content.merged_cell_ranges:
            raise IngestError(_MERGED.format(sheet=sheet))
        for row in content.iter_rows():
            yield [None if isinstance(value, str) and not value.strip() else value for value in row]


def _tables(book: calamine.CalamineWorkbook) -> list[str]:
    return [sheet.name for sheet in book.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet]


@contextmanager
def _faults() -> Iterator[None]:
    """Turn what a damaged file does to its reader into a sentence."""
    try:
        yield
    except calamine.PasswordError:
        raise IngestError(_LOCKED) from None
    except (calamine.CalamineError, OSError, ValueError, OverflowError):
        raise IngestError(_BROKEN) from None
