"""The draft of a schema as text: written from the form, and taken over into it."""

from __future__ import annotations

from typing import Any

import yaml

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.origins import DECLARED, Origin
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from dpcore.intake.columns import schema_columns, schema_rows
from pages.components.custodian.intake import intake_check
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_tables import TableDraft

_HEAD = """\
# Public description of a data set: everybody who sees a result may read it.
# type: boolean; categorical or ordinal (categories); integer or real (lower, upper, and
# either bins: NUMBER or edges: [..]). Any column may have label, description, missing: never, missing_codes
# ('-9'), target: true, view: left or right, origin; listed ones matching: loose and
# labels: {'11': died}. Columns that are not here are not stored. With learn: true in place of
# bins or categories these are learned privately, paid from the budget.
"""
#: What a schema says of the rows that are kept, and of a further table, beyond the fields of the form.
_KEEPING = {"keep", "order_by", "order_format"}
_BESIDE = {*_KEEPING, "description", "row_key"}
#: And of how people are named.
_NAMING = {"missing_codes", "matching", "where"}


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
        fault = schema_columns.fault_of(faults[column["name"]]) if column["name"] in faults else ""
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


def completed(content: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """What the form says, with what a schema that was taken over says beyond its fields.

    Where facts come from by that schema holds for what it said, not for what was described since.
    """
    if "origin" in rest:
        for table in (content, *content.get("children", ())):
            for column in table["columns"]:
                if not column["origin"] and "learn" not in column:
                    column["origin"] = DECLARED
    return rest | content


def take_over(wanted: LearnableSchema, draft: Draft, tables: list[TableDraft], *, database: bool = False) -> None:
    """Let the form say what a schema says.

    Parameters
    ----------
    tables : list of TableDraft
        Those that the form can describe: of a ``database`` all that it holds, else the main one first.

    Raises
    ------
    SchemaError
        If the form cannot say it, or if nothing that rests on it would be private. Nothing is changed then.
    """
    schema = wanted.schema
    schema.check_private()
    main, children = _places(schema, tables, database)
    if draft.keys and schema.privacy_unit.column != draft.person:
        raise SchemaError(
            f"The form joins these files by '{draft.person}', not as the schema says: choose the column there first."
        )
    unit = schema.privacy_unit
    draft.rest = schema.model_dump(mode="json", include={"origin", "learned"}, exclude_defaults=True)
    if not (children or database):
        draft.rest |= schema.model_dump(include={"entity"}, exclude_defaults=True)
    _fill(main, wanted.columns, schema.origin)
    draft.fresh = {
        "intake-name": schema.name,
        "intake-description": schema.description,
        "intake-max-rows": schema.max_rows,
        "intake-holdout": schema.holdout_percent,
    }
    if children or draft.keys:
        main.rest = unit.model_dump(
            mode="json", include={*_KEEPING, *_NAMING, "max_rows_per_person"}, exclude_defaults=True
        )
    else:
        ordered = _KEEPING if unit.keep == "random" else set()  # The form orders rows only to choose among them.
        main.rest = unit.model_dump(mode="json", include={*ordered, *_NAMING}, exclude_defaults=True)
        draft.fresh |= {
            "intake-person": unit.column or schema_rows.EACH_ROW,
            "intake-rows-each": unit.max_rows_per_person,
            "intake-keep": unit.keep,
            "intake-order-by": unit.order_by,
            "intake-order-format": unit.order_format,
        }
    if children:
        draft.fresh[f"intake-main-key-{main.ident}"] = unit.column
    if database:
        mark = draft.file_ids[0]
        draft.fresh[f"intake-main-{mark}"] = main.name
        draft.fresh[f"intake-further-{mark}-{main.name}"] = [child.name for child in children]
    elif children:
        draft.fresh[f"intake-table-{main.ident}"] = main.name = schema.entity
    for table in children:
        _fill_further(table, schema, draft)
    draft.fresh |= intake_check.answers(schema, children)


def _places(schema: Schema, tables: list[TableDraft], database: bool) -> tuple[TableDraft, list[TableDraft]]:
    """The main table of the form and the further ones that a schema describes. Raises ``SchemaError``."""
    further = {child.name for child in schema.children}
    for child in schema.children:
        if child.from_rows:
            raise SchemaError(
                f"The form cannot say 'from_rows' of the table '{child.name}'. Store from the text instead."
            )
    main, others = tables[0], tables[1:]
    if database:
        named = {table.name: table for table in tables}
        if schema.entity not in named:
            raise SchemaError(f"There is no table '{schema.entity}' here, which the schema calls 'entity'.")
        main = named[schema.entity]
        others = [table for table in tables if table is not main and table.name in further]
    if (here := {table.name for table in others}) != further:
        raise SchemaError(
            f"The further tables of the schema are {_listed(further)}, and those here {_listed(here)}: give them the "
            "same names first."
        )
    return main, others


def _listed(names: set[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"


def _fill_further(table: TableDraft, schema: Schema, draft: Draft) -> None:
    """Let a further table say what the schema says of that name."""
    child = next(child for child in schema.children if child.name == table.name)
    _fill(table, [column.model_dump(mode="json") for column in child.columns], schema.origin)
    table.rest = child.model_dump(include=_BESIDE, exclude_defaults=True)
    draft.fresh[f"intake-child-key-{table.ident}"] = schema.key_of(child)
    draft.fresh[f"intake-kept-{table.ident}"] = child.max_rows_per_person


def _fill(table: TableDraft, columns: list[dict[str, Any]], origin: Origin) -> None:
    """Describe the columns, each with the origin of its facts, which may be that of the whole schema."""
    for column in columns:
        known = column.get("origin") or (None if "learn" in column else origin)
        column["origin"] = None if known == DECLARED else known
    table.show(schema_rows.only(table.now, columns))
