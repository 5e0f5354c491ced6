"""Between the rows of the schema form and the columns of a schema, with errors per column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, get_args

import pandas as pd
from pydantic import ValidationError

from dpcore.domain.columns import COLUMN_ADAPTER, View, format_number

KEEP, NAME, TYPE, TARGET, SIDE = "Keep", "Column", "Type", "Target", "Side"
LOWER, UPPER, BINS, CUTS = "Lowest", "Highest", "Bins", "Cut points"
CATEGORIES, GROUPS, UNIT, DESCRIPTION = "Categories", "Groups", "Unit", "Description"
TYPES = ("boolean", "categorical", "ordinal", "integer", "real")
#: Sides of redescriptions that a column may stand on; one without stands on neither.
SIDES = get_args(View)
NUMERIC = ("integer", "real")
LISTED = ("categorical", "ordinal")
#: Signs that a name or a category of a group must not hold outside quotation marks.
_AROUND_NAMES, _AROUND_MEMBERS = ':|;"', ';|"'
_DTYPES = {
    KEEP: "bool",
    NAME: "str",
    TYPE: "str",
    TARGET: "bool",
    SIDE: "str",
    LOWER: "Float64",
    UPPER: "Float64",
    BINS: "Int64",
    CUTS: "str",
    CATEGORIES: "str",
    GROUPS: "str",
    UNIT: "str",
    DESCRIPTION: "str",
}
#: Every field of the form, in the order in which they are shown.
FIELDS = tuple(_DTYPES)


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
        GROUPS: join_groups(draft.get("groups") or ()),
        UNIT: draft.get("unit", ""),
        DESCRIPTION: draft.get("description", ""),
    }


def written(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the form as JSON can hold them."""
    plain = rows.astype(object)
    return _records(plain.where(plain.notna(), None))


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def read(records: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows that :func:`written` gave."""
    return pd.DataFrame(records, columns=list(_DTYPES)).astype(_DTYPES)


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


def columns_of(rows: pd.DataFrame, table: str = "", key: str | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """Columns to be kept, as a schema wants them, and a sentence for each fault.

    The ``key`` identifies people and is not kept; faults name the ``table``, if there are several.
    """
    columns: list[dict[str, Any]] = []
    faults: list[str] = []
    place = f"Table '{table}', column" if table else "Column"
    for row in _records(rows):
        if not row[KEEP] or row[NAME] == key:
            continue
        column, fault = _column(row)
        columns.append(column)
        if fault:
            faults.append(f"{place} '{row[NAME]}': {fault}")
    if not columns:
        whole = f" of the table '{table}'" if table else ""
        faults.append(f"Keep at least one column{whole}.")
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
        fault = _add_categories(column, row) or _add_groups(column, row)
        if fault:
            return column, fault
    elif _words(row[GROUPS]):
        return column, "only categorical and ordinal columns have groups: clear them."
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


def _add_groups(column: dict[str, Any], row: dict[str, Any]) -> str:
    try:
        groups = split_groups(_words(row[GROUPS]))
    except (csv.Error, ValueError):
        return (
            "write groups as name: category; category | name: category. A text that holds "
            'one of ; : | stands in quotes, such as "a; b".'
        )
    if groups:
        column["groups"] = groups
    return ""


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
    return "; ".join(_quoted(category, ';"') for category in categories)


def _quoted(label: str, signs: str) -> str:
    if not re.search(f"[{signs}]", label):
        return label
    return '"' + label.replace('"', '""') + '"'


def split_categories(text: str) -> list[str]:
    """Categories separated by semicolons or line ends; one with a semicolon stands in quotes.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed.
    """
    lines = csv.reader(text.split("\n"), delimiter=";", skipinitialspace=True, strict=True)
    return [part.strip() for line in lines for part in line if part.strip()]


def join_groups(groups: Any) -> str:
    """Groups as one line of text; :func:`split_groups` reads it back."""
    pairs = groups.items() if isinstance(groups, dict) else [(group["name"], group["members"]) for group in groups]
    return " | ".join(_written(name, members) for name, members in pairs)


def _written(name: str, members: Iterable[str]) -> str:
    return f"{_quoted(name, _AROUND_NAMES)}: " + "; ".join(_quoted(member, _AROUND_MEMBERS) for member in members)


def split_groups(text: str) -> list[dict[str, Any]]:
    """Groups such as ``heart: I21; I22 | lung: J44``; signs within quotes divide nothing.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed.
    ValueError
        If a group lacks its name or its categories.
    """
    if text.count('"') % 2:
        raise csv.Error
    groups = []
    for part in re.findall(r'(?:"[^"]*"|[^"|])+', text):
        found = re.fullmatch(r'\s*("(?:[^"]|"")+"|[^":]+?)\s*:(.+)', part, re.DOTALL)
        members = split_categories(found[2]) if found else []
        if not found or not members:
            raise ValueError
        [name] = split_categories(found[1]) or [""]
        groups.append({"name": name, "members": members})
    return groups


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
