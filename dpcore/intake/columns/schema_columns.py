"""From the rows of the schema form to the columns of a schema, with errors per column."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from typing import Any

import pandas as pd
from pydantic import ValidationError

from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.schemas.learnable_schema import stand_in
from dpcore.domain.schemas.origins import LEARNED
from dpcore.errors import SchemaError
from dpcore.intake.columns.category_text import split_categories, split_groups
from dpcore.intake.columns.schema_rows import (
    BINS,
    CATEGORIES,
    CUTS,
    DESCRIPTION,
    GROUPS,
    KEEP,
    LABEL,
    LISTED,
    LOOSE,
    LOWER,
    MISSING,
    NAME,
    NUMERIC,
    ORIGIN,
    REST,
    SIDE,
    TARGET,
    TYPE,
    UNIT,
    UPPER,
    words,
    written,
)


def fault_of(row: dict[str, object]) -> str:
    """What is missing or wrong in a row of the form; empty if nothing is, or it is left out."""
    return _column(row)[1] if row[KEEP] else ""


def columns_of(
    rows: pd.DataFrame, table: str = "", key: str | None = None
) -> tuple[list[dict[str, object]], list[str]]:
    """Columns to be kept, as a schema wants them, and a sentence for each fault.

    The ``key`` identifies people and is not kept; faults name the ``table``, if there are several.
    """
    columns: list[dict[str, object]] = []
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


def _column(row: dict[str, Any]) -> tuple[dict[str, object], str]:
    kind = row[TYPE]
    column = {
        "name": row[NAME],
        "type": kind,
        "target": bool(row[TARGET]),
        "view": words(row[SIDE]) or None,
        "label": words(row[LABEL]),
        "description": words(row[DESCRIPTION]),
        "origin": words(row[ORIGIN]) or None,
        **_rest(row, kind),
    }
    fault = _add_missing(column, row)
    if _is_to_be_learned(row):
        column |= {"learn": column.get("learn", True), "origin": None}
    elif "learn" in column:
        del column["learn"]
    if kind in LISTED:
        fault = fault or _add_categories(column, row) or _add_groups(column, row)
    elif words(row[GROUPS]):
        fault = fault or "only categorical and ordinal columns have groups: clear them."
    if kind in NUMERIC:
        fault = fault or _add_numeric(column, row)
    return column, fault or _check(column)


def _is_to_be_learned(row: dict[str, Any]) -> bool:
    """Whether its facts are to be learned privately: that is their origin, and they are not there."""
    absent = {"categorical": not words(row[CATEGORIES]), **dict.fromkeys(NUMERIC, _has_no_bins(row))}
    return words(row[ORIGIN]) == LEARNED and absent.get(row[TYPE], False)


def _has_no_bins(row: dict[str, Any]) -> bool:
    return pd.isna(row[BINS]) and not words(row[CUTS])


def _rest(row: dict[str, object], kind: str) -> dict[str, object]:
    """What the form has no field for; labels are those of the categories that there are."""
    rest: dict[str, Any] = json.loads(words(row[REST]) or "{}")
    labels = rest.pop("labels", {})
    with suppress(csv.Error):
        known = split_categories(words(row[CATEGORIES])) if kind in LISTED else []
        labels = {category: labels[category] for category in known if category in labels}
    return rest | ({"labels": labels} if labels else {})


def _add_missing(column: dict[str, object], row: dict[str, object]) -> str:
    try:
        codes = split_categories(words(row[MISSING]))
    except csv.Error:
        return "a quotation mark among the codes for missing values is not closed."
    if codes:
        column["missing_codes"] = codes
    return ""


def _add_categories(column: dict[str, object], row: dict[str, object]) -> str:
    try:
        column["categories"] = split_categories(words(row[CATEGORIES]))
    except csv.Error:
        return 'a quotation mark is not closed. Write a category with ; as "a; b", and " as "".'
    if row[LOOSE]:
        column["matching"] = "loose"
    if not column["categories"] and ("derive" in column or "learn" in column):
        del column["categories"]  # They follow from what it is made of, or the check says that they are absent.
        return ""
    return "" if column["categories"] else "list its categories, separated by semicolons."


def _add_groups(column: dict[str, object], row: dict[str, object]) -> str:
    try:
        groups = split_groups(words(row[GROUPS]))
    except (csv.Error, ValueError):
        return (
            "write groups as name: category; category | name: category. A text that holds "
            'one of ; : | stands in quotes, such as "a; b".'
        )
    if groups:
        column["groups"] = groups
    return ""


def _add_numeric(column: dict[str, object], row: dict[str, Any]) -> str:
    if "derive" in column and pd.isna(row[LOWER]) and pd.isna(row[UPPER]):
        return ""  # They follow from what it is made of, or the check says that they are absent.
    if pd.isna(row[LOWER]) or pd.isna(row[UPPER]):
        return "give its lowest and its highest plausible value."
    column |= {"lower": float(row[LOWER]), "upper": float(row[UPPER]), "unit": words(row[UNIT])}
    cuts = re.split(r"[;\s]+", words(row[CUTS]).strip())
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


def _check(column: dict[str, object]) -> str:
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
