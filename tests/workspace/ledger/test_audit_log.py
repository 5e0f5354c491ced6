"""The audit log: which lines a filter keeps, and CSV that a spreadsheet cannot be tricked with."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import RequestError
from dpcore.privacy.budgets import exact_amount
from dpcore.workspace.ledger.accounts import LedgerEntry
from dpcore.workspace.ledger.audit_log import COLUMNS, AuditLogFilter, chosen, to_csv
from tests.support.rows import for_each

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def line(sequence: int = 1, kind: str = "reserve", **more: Any) -> LedgerEntry:
    values: dict[str, Any] = {
        "time": NOON,
        "dataset_id": "d1",
        "analyst": None,
        "run_id": None,
        "epsilon": Decimal(0),
        "delta": Decimal(0),
        "cap": None,
        "analyst_cap": None,
        "run_cap": None,
        "release_id": None,
        "note": "",
    }
    return LedgerEntry(sequence=sequence, kind=kind, **{**values, **more})


LINES = [
    line(1, "open", actor="office", cap=Decimal(9)),
    line(2, analyst="ann", actor="ann", run_id="abc1", epsilon=Decimal("0.5")),
    line(3, "touch", analyst="ann", run_id="abc1", time=NOON + timedelta(days=1)),
    line(4, "freeze", analyst="ann", actor="office", note="Contract ENDED in March"),
    line(5, analyst="bob", actor="bob", run_id="abd2", time=NOON + timedelta(days=2)),
]


def numbers(**wanted: Any) -> list[int]:
    return [entry.sequence for entry in chosen(LINES, AuditLogFilter(**wanted))]


def rows(*entries: LedgerEntry, **names: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(entries, names), newline="")))


@for_each(
    ("wanted", "kept"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"kinds": ["open", "freeze"]}, [1, 4]),
        ({"analysts": ["ann"]}, [2, 3, 4]),
        ({"actors": ["office"]}, [1, 4]),
        ({"analysts": ["ann"], "actors": ["office", "ann"]}, [2, 4]),
        ({"words": "march contract"}, [4]),
        ({"words": "contract april"}, []),
        ({"run": "ab"}, [2, 3, 5]),
        ({"run": " abc1 "}, [2, 3]),
        ({"run": "bc"}, []),
        ({"first": date(2026, 3, 3)}, [3, 5]),
        ({"last": date(2026, 3, 3)}, [1, 2, 3, 4]),
        ({"first": date(2026, 3, 3), "last": date(2026, 3, 3)}, [3]),
    ],
)
def test_a_filter_keeps(wanted: dict[str, Any], kept: list[int]) -> None:
    assert numbers(**wanted) == kept


def test_days_are_those_of_utc() -> None:
    east = timezone(timedelta(hours=10))
    late = line(time=datetime(2026, 3, 3, 4, tzinfo=east))  # Still the 2nd in UTC.
    assert AuditLogFilter(first=date(2026, 3, 2), last=date(2026, 3, 2)).fits(late)
    assert rows(late)[0]["time"] == "2026-03-02T18:00:00+00:00"


def test_a_filter_that_cannot_be_meant_is_refused_in_words() -> None:
    with pytest.raises(RequestError, match="no kind of line 'opened'"):
        AuditLogFilter(kinds=["opened"])
    with pytest.raises(RequestError, match="first day is after the last"):
        AuditLogFilter(first=date(2026, 3, 3), last=date(2026, 3, 2))


@for_each("sign", [",", ";", "|", "\t"])
@for_each("between", [";", "|", "\t", "\n", "; ", ';"', '";'])
def test_no_reason_is_a_formula_wherever_a_spreadsheet_divides_it(sign: str, between: str) -> None:
    text = to_csv([line(note=f"please{between}=1+cmd|' /C calc'!A0")], {})
    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign) for cell in row]
    assert any("please" in cell for cell in cells)
    assert not [cell for cell in cells if cell.lstrip(' "').startswith("=")]


def test_csv_holds_every_field_with_exact_amounts() -> None:
    spent = line(
        7,
        analyst="ann",
        actor="ann",
        run_id="r1",
        release_id="x1",
        note='said "yes", twice\n',
        epsilon=Decimal("0.123456789"),
        delta=Decimal("1E-15"),
        rho=Decimal("0.001234567890"),
    )
    given_ = line(8, "grant", analyst="bob", actor="office", analyst_cap=Decimal("2.500000000"), answers=3)
    limits = line(9, "open", cap=Decimal("1E+1"), delta_cap=Decimal("1E-6"), run_cap=Decimal("0E-9"))
    first, second, third = rows(spent, given_, limits, d1="Ward A")
    assert tuple(first) == COLUMNS
    assert first == {
        "number": "7",
        "time": "2026-03-02T12:00:00+00:00",
        "data set": "Ward A",
        "data set id": "d1",
        "kind": "reserve",
        "what happened": "reserved for a run",
        "analyst": "ann",
        "done by": "ann",
        "epsilon": "0.123456789",
        "delta": "0.000000000000001",
        "rho": "0.00123456789",
        "total limit": "",
        "delta limit": "",
        "limit per analyst": "",
        "limit per run": "",
        "run": "r1",
        "release": "x1",
        "answers": "",
        "note": 'said "yes", twice\n',
    }
    assert (second["limit per analyst"], second["answers"]) == ("2.5", "3")
    assert (second["epsilon"], second["delta"], second["rho"]) == ("", "", "")
    assert (third["total limit"], third["delta limit"], third["limit per run"]) == ("10", "0.000001", "0")


@for_each("start", ["=", "+", "-", "@", "\t", "\r", " =", "＝"])
def test_no_cell_that_somebody_typed_becomes_a_formula(start: str) -> None:
    typed = f'{start}HYPERLINK("http://x";"y")'
    row = rows(line(note=typed, analyst=typed, actor=typed), d1=typed)[0]
    for column in ("note", "analyst", "done by", "data set"):
        assert row[column] == f"'{typed}", column


def test_numbers_stay_numbers_and_harmless_text_stays_as_it_is() -> None:
    row = rows(line(epsilon=Decimal("0.5"), note="1+1=2, a-b"))[0]
    assert float(row["epsilon"]) == 0.5
    assert row["note"] == "1+1=2, a-b"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_any_note_is_read_back_from_one_row(note: str) -> None:
    [row] = rows(line(note=note))
    marks = re.compile(r"(^|[;|\t\r\n])'")  # At the beginning of a piece.
    assert marks.sub(r"\1", row["note"]) == marks.sub(r"\1", note)
    assert row["note"].lstrip()[:1] not in set("=+-@") or float(row["note"]) is not None


def test_amounts_lose_no_digit() -> None:
    assert [exact_amount(Decimal(text)) for text in ("1E-15", "100", "0.10", "0E-9")] == [
        "0.000000000000001",
        "100",
        "0.1",
        "0",
    ]
