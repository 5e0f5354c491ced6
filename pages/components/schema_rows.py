"""Between the rows of the schema form and the columns of a schema, with errors per column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, get_args

import pandas as pd
from pydantic import ValidationError

from dpcore.columns import COLUMN_ADAPTER, View, format_number

KEEP, NAME, TYPE, TARGET, SIDE = "Keep", "Column", "Type", "Target", "Side"
LOWER, UPPER, BINS, CUTS = "Lowest", "Highest", "Bins", "Cut points"
CATEGORIES, UNIT, DESCRIPTION = "Categories", "Unit", "Description"
TYPES = ("boolean", "categorical", "ordinal", "integer", "real")
#: Sides of redescriptions that a column may stand on; one without stands on neither.
SIDES = get_args(View)
NUMERIC = ("integer", "real")
LISTED = ("categorical", "ordinal")
_DTYPES = {
    KEEP: "bool", NAME: "str", TYPE: "str", TARGET: "bool", SIDE: "str", LOWER: "Float64",
    UPPER: "Float64", BINS: "Int64", CUTS: "str", CATEGORIES: "str", UNIT: "str",
    DESCRIPTION: "str",
}  # fmt: skip


def rows_of(drafts: list[dict[str, Any]]) -> pd.DataFrame:
    """One row of the form per drafted column."""
    frame = pd.DataFrame([_row(draft) for draft in drafts], columns=list(_DTYPES))
    return frame.astype(_DTYPES)


def _row(draft: dict[str, Any]) -> dict[str, Any]:
    known = draft.get("type") in TYPES
    return {
        KEEP: known,
        NAME: draft["name"],
        TYPE: draft["type"] if known else "categorical",
        TARGET: bool(draft.get("target", False)),
        SIDE: draft.get("view"),
        LOWER: draft.get("lower"),
        UPPER: draft.get("upper"),
        BINS: draft.get("bins"),
        CUTS: " ".join(format_number(float(edge)) for edge in draft.get("edges") or ()),
        CATEGORIES: join_categories(draft.get("categories") or ()),
        UNIT: draft.get("unit", ""),
        DESCRIPTION: draft.get("description", ""),
    }


def carry_over(rows: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
    """Newly drafted rows, with what was answered before about columns of the same name."""
    known = earlier.astype(object).set_index(NAME)
    carried = rows.astype(object)
    for place, name in carried[NAME].items():
        if name in known.index:
            answers = known.loc[name].to_dict()
            if pd.isna(answers[SIDE]):
                del answers[SIDE]
            for field, answer in answers.items():
                carried.at[place, field] = answer
    return carried.astype(_DTYPES)


def replace_row(rows: pd.DataFrame, draft: dict[str, Any]) -> pd.DataFrame:
    """The form with one column's row filled in from a draft; what people wrote about it stays."""
    changed = rows.astype(object)
    place = changed.index[changed[NAME] == draft["name"]][0]
    for field, value in _row(draft).items():
        if field in {TYPE, LOWER, UPPER, BINS, CUTS, CATEGORIES, KEEP}:
            changed.at[place, field] = value
    return changed.astype(_DTYPES)


def columns_of(rows: pd.DataFrame) -> tuple[list[dict[str, Any]], list[str]]:
    """Columns to be kept, as a schema wants them, and a sentence for each fault."""
    columns: list[dict[str, Any]] = []
    faults: list[str] = []
    for row in rows.to_dict("records"):
        if not row[KEEP]:
            continue
        column, fault = _column(row)
        columns.append(column)
        if fault:
            faults.append(f"Column '{row[NAME]}': {fault}")
    if not columns:
        faults.append("Keep at least one column.")
    return columns, faults


def _column(row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    kind = row[TYPE]
    column = {
        "name": row[NAME],
        "type": kind,
        "target": bool(row[TARGET]),
        "view": _words(row[SIDE]) or None,
        "description": _words(row[DESCRIPTION]),
    }
    if kind in LISTED:
        fault = _add_categories(column, row)
        if fault:
            return column, fault
    if kind in NUMERIC:
        fault = _add_numeric(column, row)
        if fault:
            return column, fault
    return column, _check(column)


def _add_categories(column: dict[str, Any], row: dict[str, Any]) -> str:
    try:
        column["categories"] = split_categories(_words(row[CATEGORIES]))
    except csv.Error:
        return 'a quotation mark is not closed. Write a category with ; as "a; b", and " as "".'
    return "" if column["categories"] else "list its categories, separated by semicolons."


def _add_numeric(column: dict[str, Any], row: dict[str, Any]) -> str:
    if pd.isna(row[LOWER]) or pd.isna(row[UPPER]):
        return "give its lowest and its highest plausible value."
    column |= {"lower": float(row[LOWER]), "upper": float(row[UPPER]), "unit": _words(row[UNIT])}
    cuts = re.split(r"[;\s]+", _words(row[CUTS]).strip())
    try:
        edges = [float(cut) for cut in cuts if cut]
    except ValueError:
        return "write cut points as numbers separated by spaces, such as 40 60.5 80."
    if edges:
        column["edges"] = edges
    elif pd.isna(row[BINS]):
        return "give a number of bins, such as 8, or cut points."
    else:
        column["bins"] = int(row[BINS])
    return ""


def join_categories(categories: Iterable[str]) -> str:
    """Categories as one line of text; :func:`split_categories` reads it back."""
    return "; ".join(map(_quoted, categories))


def _quoted(category: str) -> str:
    if not re.search('[;"]', category):
        return category
    return '"' + category.replace('"', '""') + '"'


def split_categories(text: str) -> list[str]:
    """Categories separated by semicolons or line ends; one with a semicolon stands in quotes.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed.
    """
    lines = csv.reader(text.split("\n"), delimiter=";", skipinitialspace=True, strict=True)
    return [part.strip() for line in lines for part in line if part.strip()]


def _words(value: object) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value).strip()


def _check(column: dict[str, Any]) -> str:
    try:
        COLUMN_ADAPTER.validate_python(column)
    except ValidationError as error:
        faults = (_sentence(item) for item in error.errors())
        return "; ".join(faults) + "."
    return ""


def _sentence(item: Any) -> str:
    message = str(item["msg"]).removeprefix("Value error, ")
    field = str(item["loc"][-1]) if len(item["loc"]) > 1 else ""
    return f"{field}: {message}" if field else message
