from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from pathlib import Path

import pandas as pd

from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.rehearsal import rehearse
from dpcore.spreadsheets import frame_csv, safe_cell
from tests.support.rows import for_each


@for_each("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    assert safe_cell(f"{start}cmd()") == f"'{start}cmd()"


@for_each("text", ["+A1", "--1", "- 1", "+(1)", "=-1", "-@a", "@", "++\t", "-\n"])
def test_signs_before_anything_get_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@for_each(
    ("text", "safe"),
    [
        ("please;=A1", "please;'=A1"),
        ("please|\t -cmd()", "please|\t' -cmd()"),
        ('a;"@cmd"', 'a;\'"@cmd"'),
        ("one\n+two", "one\n'+two"),
        ("=A1;=A2", "'=A1;'=A2"),
    ],
)
def test_each_piece_of_a_text_that_may_be_divided_gets_an_apostrophe(text: str, safe: str) -> None:
    assert safe_cell(text) == safe


ORDINARY = ["a; b - c", "1;2;-3;4", "20 | 30", "first\nsecond", "a;-;b", "x|y=z", "'a'; 'b'", "tab\tleft"]


@for_each(
    "text", ["-5", "+0.25", "-1e-05", "-.5", "20 to 100", "a-b", "", "1+1", "+", "-", "++", "+/-", "=", *ORDINARY]
)
def test_numbers_and_harmless_texts_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == text


def test_a_table_keeps_its_numbers_and_loses_its_formulas() -> None:
    mixed = pd.Series([-3, '=HYPERLINK("http://x","y")', None], dtype=object)
    frame = pd.DataFrame({"value": [-0.5, 2.0, -1e-5], "@name": mixed, "+": [-1, 2, 3]})
    header, *rows = csv.reader(io.StringIO(frame_csv(frame)))
    assert header == ["value", "'@name", "+"]
    assert rows == [["-0.5", "-3", "-1"], ["2.0", '\'=HYPERLINK("http://x","y")', "2"], ["-1e-05", "", "3"]]


FORMULA = "=cmd|' /C calc'!A0"
SCHEMA = Schema.from_mapping(
    {
        "name": "set",
        "max_rows": 4000,
        "columns": [
            {"name": "@age", "type": "integer", "lower": -20, "upper": 100, "bins": 4, "view": "right"},
            {"name": "+ward", "type": "categorical", "categories": [FORMULA, "-x", "c"], "view": "left"},
            {"name": "-tired", "type": "boolean", "view": "right"},
            {"name": "=died", "type": "categorical", "categories": ["-no", "+yes", "@maybe"], "target": True},
        ],
    }
)


@for_each("kind", ["rule_list", "tree", "forest", "ebm", "redescriptions", "ilp"])
def test_no_result_of_any_family_holds_a_formula(kind: str) -> None:
    learner = LEARNERS[kind]
    target = "=died" if learner.targeted else ""
    plan = learner.plan(SCHEMA, target, Decimal(2), {"pool_size": 300} if kind == "rule_list" else {})
    release = rehearse(learner, SCHEMA, plan)
    model = parse_model(release)
    if kind == "redescriptions":
        frame = model.extract(SCHEMA).to_frame()
    else:
        frame = model.to_frame(SCHEMA, target) if kind == "ilp" else model.to_frame()
    raw = [str(cell) for column in frame for cell in (column, *frame[column])]
    assert any(cell.startswith(("=", "+", "@", "-")) for cell in raw) or kind == "redescriptions"
    for row in csv.reader(io.StringIO(frame_csv(frame))):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "-")) or float(cell) is not None, cell


def test_every_table_leaves_by_the_same_way() -> None:
    root = Path(__file__).resolve().parents[1]
    writers = {
        path.name
        for folder in ("pages", "dpcore")
        for path in (root / folder).rglob("*.py")
        if re.search(r"\.to_csv\(|csv\.writer\(", path.read_text(encoding="utf-8"))
    }
    assert writers == {"spreadsheets.py", "audit_log.py"}
