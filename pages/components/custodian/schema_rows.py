"""Between the rows of the schema form and the columns of a schema, with errors per column."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, get_args

import pandas as pd
from pydantic import ValidationError

from dpcore.domain.columns import COLUMN_ADAPTER, View, format_number
from dpcore.domain.origins import DICTIONARY, KNOWN, LEARNED, LOOKED_UP, STANDARD
from dpcore.domain.unfinished import stand_in
from dpcore.errors import SchemaError

KEEP, NAME, TYPE, TARGET, SIDE = "Keep", "Column", "Type", "Target", "Side"
LOWER, UPPER, BINS, CUTS = "Lowest", "Highest", "Bins", "Cut points"
CATEGORIES, GROUPS, UNIT, DESCRIPTION = "Categories", "Groups", "Unit", "Description"
LABEL, MISSING, LOOSE, ORIGIN = "Label", "Missing codes", "Any spelling", "Origin"
#: Ticked by the custodian to change several columns at once; no part of a schema.
SELECT = "Select"
#: Instead of a column that identifies people.
EACH_ROW = "Each row is one person"
#: What a column says of itself that the form has no field for, as JSON.
REST = "Rest"
TYPES = ("boolean", "categorical", "ordinal", "integer", "real")
#: Sides of redescriptions that a column may stand on; one without stands on neither.
SIDES = get_args(View)
#: Where a custodian may say that the facts of a column come from.
ORIGINS = (KNOWN, DICTIONARY, STANDARD, LEARNED, LOOKED_UP)
NUMERIC = ("integer", "real")
LISTED = ("categorical", "ordinal")
#: Signs that a name or a category of a group must not hold outside quotation marks.
_AROUND_NAMES, _AROUND_MEMBERS = ':|;"', ';|"'
#: A category in quotes, and its label if it has one.
_QUOTED_LINE = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?:[\t=](.*))?')
_DTYPES = {
    SELECT: "bool",
    KEEP: "bool",
    NAME: "str",
    LABEL: "str",
    TYPE: "str",
    LOWER: "Float64",
    UPPER: "Float64",
    BINS: "Int64",
    CUTS: "str",
    CATEGORIES: "str",
    LOOSE: "bool",
    MISSING: "str",
    TARGET: "bool",
    SIDE: "str",
    GROUPS: "str",
    UNIT: "str",
    DESCRIPTION: "str",
    ORIGIN: "str",
    REST: "str",
}
#: Every field of the form, in the order in which they are shown.
FIELDS = tuple(name for name in _DTYPES if name != REST)
#: Fields of a column of a schema that have one of the form, and so are not its rest.
_SHOWN = frozenset(
    [
        "name",
        "type",
        "keep",
        "target",
        "view",
        "label",
        "lower",
        "upper",
        "bins",
        "edges",
        "categories",
        "groups",
        "unit",
        "description",
        "missing_codes",
        "matching",
        "origin",
    ]
)


def rows_of(drafts: list[dict[str, Any]]) -> pd.DataFrame:
    """One row of the form per drafted column."""
    frame = pd.DataFrame([_row(draft) for draft in drafts], columns=list(_DTYPES))
    return typed(frame)


def _row(draft: dict[str, Any]) -> dict[str, Any]:
    known = draft.get("type") in TYPES
    rest = {name: value for name, value in draft.items() if name not in _SHOWN and value not in (None, [], {})}
    if isinstance(rest.get("labels"), list):
        rest["labels"] = {each["category"]: each["label"] for each in rest["labels"]}
    return {
        SELECT: False,
        KEEP: known and draft.get("keep", True),
        NAME: draft["name"],
        LABEL: draft.get("label", ""),
        TYPE: draft["type"] if known else "categorical",
        LOWER: draft.get("lower"),
        UPPER: draft.get("upper"),
        BINS: draft.get("bins"),
        CUTS: " ".join(format_number(float(edge)) for edge in draft.get("edges") or ()),
        CATEGORIES: join_categories(draft.get("categories") or ()),
        LOOSE: draft.get("matching") == "loose",
        MISSING: join_categories(draft.get("missing_codes") or ()),
        TARGET: bool(draft.get("target", False)),
        SIDE: draft.get("view"),
        GROUPS: join_groups(draft.get("groups") or ()),
        UNIT: draft.get("unit", ""),
        DESCRIPTION: draft.get("description", ""),
        ORIGIN: LEARNED if draft.get("learn") else draft.get("origin"),
        REST: json.dumps(rest) if rest else "",
    }


def written(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the form as JSON can hold them."""
    names = [str(name) for name in rows]
    fields = [[None if pd.isna(value) else value for value in rows[name].tolist()] for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]


def read(records: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows that :func:`written` gave."""
    absent = {"bool": False}  # Noted before there was such a field.
    fields = {
        name: pd.Series([absent.get(kind) if row.get(name) is None else row[name] for row in records], dtype=kind)
        for name, kind in _DTYPES.items()
    }
    return pd.DataFrame(fields)


def typed(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with each field in its own type."""
    return rows.astype(_DTYPES)


def overlaid(rows: pd.DataFrame, edited: pd.DataFrame) -> pd.DataFrame:
    """All rows, with those of ``edited`` in place of their own."""
    fresh = {row[NAME]: row for row in written(edited)}
    return read([fresh.get(row[NAME], row) for row in written(rows)])


def only(rows: pd.DataFrame, drafts: list[dict[str, Any]]) -> pd.DataFrame:
    """The form with these columns, and no others, kept."""
    return replaced(rows.assign(**{KEEP: False}), drafts)


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
    return typed(carried)


def replaced(rows: pd.DataFrame, drafts: list[dict[str, Any]]) -> pd.DataFrame:
    """The form with what drafts say of columns; what they do not say stays, and so do other columns.

    Columns that the file does not have, as they are made of others, come last.
    """
    new = [draft for draft in drafts if draft["name"] not in set(rows[NAME])]
    known = pd.concat([rows, rows_of(new)], ignore_index=True) if new else rows
    changed = known.astype(object).set_index(NAME, drop=False)
    for draft in drafts:
        row = _row(draft)
        fields = [field for field, names in _SAID_BY.items() if not names.isdisjoint(draft)]
        row[KEEP] = draft.get("keep", row[KEEP])
        for field in fields:
            changed.at[draft["name"], field] = row[field]
        rest = json.loads(_words(changed.at[draft["name"], REST]) or "{}")
        rest = {key: value for key, value in rest.items() if key not in draft} | json.loads(row[REST] or "{}")
        changed.at[draft["name"], REST] = json.dumps(rest) if rest else ""
    return typed(changed.reset_index(drop=True))


#: The fields of a draft that fill a field of the form. A type brings its limits or its list with it.
_SAID_BY: dict[str, frozenset[str]] = {
    KEEP: frozenset({"type", "keep"}),
    TYPE: frozenset({"type"}),
    LOWER: frozenset({"type", "lower"}),
    UPPER: frozenset({"type", "upper"}),
    **dict.fromkeys((BINS, CUTS), frozenset({"type", "bins", "edges"})),
    CATEGORIES: frozenset({"type", "categories"}),
    LABEL: frozenset({"label"}),
    LOOSE: frozenset({"matching"}),
    MISSING: frozenset({"missing_codes"}),
    TARGET: frozenset({"target"}),
    SIDE: frozenset({"view"}),
    GROUPS: frozenset({"groups"}),
    UNIT: frozenset({"unit"}),
    DESCRIPTION: frozenset({"description"}),
    ORIGIN: frozenset({"origin", "learn"}),
}


def difference(before: pd.DataFrame, after: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of ``before`` that are others in ``after``; what is ticked makes no difference."""
    fresh = {row[NAME]: row for row in written(after)}
    return [row for row in written(before) if row[NAME] in fresh and _unticked(row) != _unticked(fresh[row[NAME]])]


def _unticked(row: dict[str, Any]) -> dict[str, Any]:
    return row | {SELECT: False}


def restored(rows: pd.DataFrame, earlier: list[dict[str, Any]]) -> pd.DataFrame:
    """The form with some of its rows as they were: see :func:`difference`."""
    known = {row[NAME]: row for row in earlier}
    return read([known.get(row[NAME], row) | {SELECT: row[SELECT]} for row in written(rows)])


def fault_of(row: dict[str, Any]) -> str:
    """What is missing or wrong in a row of the form; empty if nothing is, or it is left out."""
    return _column(row)[1] if row[KEEP] else ""


def columns_of(rows: pd.DataFrame, table: str = "", key: str | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """Columns to be kept, as a schema wants them, and a sentence for each fault.

    The ``key`` identifies people and is not kept; faults name the ``table``, if there are several.
    """
    columns: list[dict[str, Any]] = []
    faults: list[str] = []
    place = f"Table '{table}', column" if table else "Column"
    for row in written(rows):
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
        "label": _words(row[LABEL]),
        "description": _words(row[DESCRIPTION]),
        "origin": _words(row[ORIGIN]) or None,
        **_rest(row, kind),
    }
    fault = _add_missing(column, row)
    if _is_to_be_learned(row):
        column |= {"learn": column.get("learn", True), "origin": None}
    elif "learn" in column:
        del column["learn"]
    if kind in LISTED:
        fault = fault or _add_categories(column, row) or _add_groups(column, row)
    elif _words(row[GROUPS]):
        fault = fault or "only categorical and ordinal columns have groups: clear them."
    if kind in NUMERIC:
        fault = fault or _add_numeric(column, row)
    return column, fault or _check(column)


def _is_to_be_learned(row: dict[str, Any]) -> bool:
    """Whether its facts are to be learned privately: that is their origin, and they are not there."""
    absent = {"categorical": not _words(row[CATEGORIES]), **dict.fromkeys(NUMERIC, _has_no_bins(row))}
    return _words(row[ORIGIN]) == LEARNED and absent.get(row[TYPE], False)


def _has_no_bins(row: dict[str, Any]) -> bool:
    return pd.isna(row[BINS]) and not _words(row[CUTS])


def _rest(row: dict[str, Any], kind: str) -> dict[str, Any]:
    """What the form has no field for; labels are those of the categories that there are."""
    rest: dict[str, Any] = json.loads(_words(row[REST]) or "{}")
    labels = rest.pop("labels", {})
    with suppress(csv.Error):
        known = split_categories(_words(row[CATEGORIES])) if kind in LISTED else []
        labels = {category: labels[category] for category in known if category in labels}
    return rest | ({"labels": labels} if labels else {})


def _add_missing(column: dict[str, Any], row: dict[str, Any]) -> str:
    try:
        codes = split_categories(_words(row[MISSING]))
    except csv.Error:
        return "a quotation mark among the codes for missing values is not closed."
    if codes:
        column["missing_codes"] = codes
    return ""


def _add_categories(column: dict[str, Any], row: dict[str, Any]) -> str:
    try:
        column["categories"] = split_categories(_words(row[CATEGORIES]))
    except csv.Error:
        return 'a quotation mark is not closed. Write a category with ; as "a; b", and " as "".'
    if row[LOOSE]:
        column["matching"] = "loose"
    if not column["categories"] and ("derive" in column or "learn" in column):
        del column["categories"]  # They follow from what it is made of, or the check says that they are absent.
        return ""
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
    if "derive" in column and pd.isna(row[LOWER]) and pd.isna(row[UPPER]):
        return ""  # They follow from what it is made of, or the check says that they are absent.
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
    elif "learn" in column:
        return ""
    elif pd.isna(row[BINS]):
        return "give a number of bins, such as 8, or cut points."
    else:
        column["bins"] = int(row[BINS])
    return ""


def join_categories(categories: Iterable[str]) -> str:
    """Categories as one line of text; :func:`split_categories` reads it back."""
    return "; ".join(_quoted(category, ';"') for category in categories)


def _quoted(label: str, signs: str) -> str:
    return _in_quotes(label) if re.search(f"[{signs}]", label) else label


def _in_quotes(label: str) -> str:
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


def lines_of(row: dict[str, Any], between: str = "\t") -> str:
    """The categories of a row, one a line, each with its label if it has one; :func:`listed` reads them back."""
    labels = json.loads(_words(row[REST]) or "{}").get("labels", {})
    with suppress(csv.Error):
        known = split_categories(_words(row[CATEGORIES]))
        return "\n".join(_line(each, between, labels.get(each)) for each in known)
    return _words(row[CATEGORIES])


def _line(category: str, between: str, label: str | None) -> str:
    alone = category.startswith('"') or " =" in category or "\t" in category
    first = _in_quotes(category) if alone else category
    return first if label is None else f"{first}{between}{label}"


def listed(lines: str) -> dict[str, Any]:
    """Categories and labels as they were written, one a line: ``11 = died``, or with a tab between.

    A category in quotes stays whole: ``"dose = 0" = none given``.
    """
    pairs = [_pair(line) for line in lines.splitlines() if line.strip()]
    return {"categories": [category for category, _ in pairs], "labels": dict(pair for pair in pairs if pair[1])}


def _pair(line: str) -> tuple[str, str]:
    if quoted := _QUOTED_LINE.fullmatch(line):
        category, label = quoted[1].replace('""', '"'), quoted[2] or ""
    else:
        category, _, label = line.partition("\t") if "\t" in line else line.partition(" = ")
    return category.strip(), " ".join(label.split())


def _words(value: object) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value).strip()


def _check(column: dict[str, Any]) -> str:
    try:
        COLUMN_ADAPTER.validate_python(stand_in(column))
    except SchemaError as error:
        return str(error)
    except ValidationError as error:
        faults = (_sentence(item) for item in error.errors())
        return "; ".join(faults) + "."
    return ""


def _sentence(item: Any) -> str:
    message = str(item["msg"]).removeprefix("Value error, ")
    field = str(item["loc"][-1]) if len(item["loc"]) > 1 else ""
    return f"{field}: {message}" if field else message
