"""The rows of the schema form: drafted, written down, laid over each other, restored."""

from __future__ import annotations

import json
from typing import Any, get_args

import pandas as pd

from dpcore.domain.columns import View, format_number
from dpcore.domain.schemas.origins import DICTIONARY, KNOWN, LEARNED, LOOKED_UP, STANDARD
from dpcore.intake.columns import category_text

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


def rows_of(drafts: list[dict[str, object]]) -> pd.DataFrame:
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
        CATEGORIES: category_text.join_categories(draft.get("categories") or ()),
        LOOSE: draft.get("matching") == "loose",
        MISSING: category_text.join_categories(draft.get("missing_codes") or ()),
        TARGET: bool(draft.get("target", False)),
        SIDE: draft.get("view"),
        GROUPS: category_text.join_groups(draft.get("groups") or ()),
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


def read(records: list[dict[str, object]]) -> pd.DataFrame:
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


def only(rows: pd.DataFrame, drafts: list[dict[str, object]]) -> pd.DataFrame:
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


def replaced(rows: pd.DataFrame, drafts: list[dict[str, object]]) -> pd.DataFrame:
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
        rest = json.loads(words(changed.at[draft["name"], REST]) or "{}")
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


def difference(before: pd.DataFrame, after: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of ``before`` that are others in ``after``; what is ticked makes no difference."""
    fresh = {row[NAME]: row for row in written(after)}
    return [row for row in written(before) if row[NAME] in fresh and _unticked(row) != _unticked(fresh[row[NAME]])]


def _unticked(row: dict[str, object]) -> dict[str, object]:
    return row | {SELECT: False}


def restored(rows: pd.DataFrame, earlier: list[dict[str, object]]) -> pd.DataFrame:
    """The form with some of its rows as they were: see :func:`difference`."""
    known = {row[NAME]: row for row in earlier}
    return read([known.get(row[NAME], row) | {SELECT: row[SELECT]} for row in written(rows)])


def lines_of(row: dict[str, object], between: str = "\t") -> str:
    """The categories of a row, one a line, each with its label if it has one."""
    labels = json.loads(words(row[REST]) or "{}").get("labels", {})
    return category_text.labelled(words(row[CATEGORIES]), labels, between)


def words(value: object) -> str:
    """What stands in a field of the form; empty if nothing does."""
    return "" if value is None or value is pd.NA or value != value else str(value).strip()
