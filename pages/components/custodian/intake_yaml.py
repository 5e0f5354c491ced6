"""The draft of a schema as text: written from the form, and taken over into it."""

from __future__ import annotations

from typing import Any

import yaml

from dpcore.domain.unfinished import Unfinished
from pages.components.custodian import belonging, schema_rows
from pages.components.custodian.intake_draft import Draft
from pages.components.custodian.intake_tables import TableDraft

_HEAD = """\
# Public description of a data set: everybody who sees a result may read it.
# type: boolean; categorical or ordinal (categories); integer or real (lower, upper, and
# either bins: NUMBER or edges: [..]). Any column may have label, description, missing: never, missing_codes
# ('-9'), target: true, view: left or right, origin; listed ones matching: loose and
# labels: {'11': died}. Columns that are not here are not stored. With learn: true in place of
# bins or categories these are learned privately, paid from the budget.
"""


def text_of(content: dict[str, Any], rows: dict[str, Any]) -> str:
    """YAML of what the form describes; what is missing in a column is said in a remark.

    Parameters
    ----------
    rows : dict
        The rows of the form by the names of tables; ``""`` for the main one.
    """
    head = {name: value for name, value in content.items() if name not in {"columns", "children"} and _said(value)}
    lines = [_HEAD.rstrip(), _dump({"version": 1, **head}), "columns:"]
    lines += _columns(content.get("columns", []), rows.get(""), "")
    if content.get("children"):
        lines.append("children:")
    for child in content.get("children", []):
        first = {name: value for name, value in child.items() if name != "columns" and _said(value)}
        lines += [*_item(first, ""), "  columns:", *_columns(child["columns"], rows.get(child["name"]), "  ")]
    return "\n".join(lines) + "\n"


def _columns(columns: list[dict[str, Any]], rows: Any, margin: str) -> list[str]:
    faults = {} if rows is None else {row[schema_rows.NAME]: row for row in schema_rows.written(rows)}
    lines: list[str] = []
    for column in columns:
        lines += _item({name: value for name, value in column.items() if _said(value)}, margin)
        fault = schema_rows.fault_of(faults[column["name"]]) if column["name"] in faults else ""
        lines += [f"{margin}  # to answer: {fault}"] if fault else []
    return lines


def _item(content: dict[str, Any], margin: str) -> list[str]:
    body = _dump(content).splitlines()
    return [f"{margin}{'- ' if place == 0 else '  '}{line}" for place, line in enumerate(body)]


def _said(value: object) -> bool:
    nobody = isinstance(value, dict) and value.get("column", "") is None  # No column identifies a person.
    return value is not None and value is not False and value not in ("", [], {}) and not nobody


def _dump(content: dict[str, Any]) -> str:
    return yaml.safe_dump(_plain(content), sort_keys=False, allow_unicode=True).rstrip()


def _plain(value: Any) -> Any:
    """The same with whole numbers as people write them."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def take_over(wanted: Unfinished, draft: Draft, tables: list[TableDraft]) -> None:
    """Let the form say what a schema says; ``tables`` are those described, the main one first."""
    main, *children = tables
    schema = wanted.schema
    _fill(main, wanted.columns)
    unit = schema.privacy_unit
    draft.fresh = {
        "intake-name": schema.name,
        "intake-description": schema.description,
        "intake-max-rows": schema.max_rows,
        "intake-holdout": schema.holdout_percent,
    }
    if children:
        draft.fresh[f"intake-main-key-{main.ident}"] = unit.column
    elif not draft.keys:
        draft.fresh |= {
            "intake-person": unit.column or schema_rows.EACH_ROW,
            "intake-rows-each": unit.max_rows_per_person,
            "intake-keep": unit.keep,
            "intake-order-by": unit.order_by,
            "intake-order-format": unit.order_format,
        }
    for table in children:
        for child in schema.children:
            if child.name == table.name:
                _fill(table, [column.model_dump(mode="json") for column in child.columns])
                draft.fresh[f"intake-child-key-{table.ident}"] = schema.key_of(child)
                draft.fresh[f"intake-kept-{table.ident}"] = child.max_rows_per_person
    draft.fresh |= belonging.answers(schema, children)


def _fill(table: TableDraft, columns: list[dict[str, Any]]) -> None:
    table.show(schema_rows.only(table.now, columns))
