"""Table Schema and Data Package of Frictionless Data, versions 1 and 2: read, and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.columns.guesses import LEFT_OUT
from dpcore.intake.dictionaries.dictionary_tables import (
    TableDescription,
    child_head,
    draft_of_tables,
    file_name,
    objects,
    texts,
)
from dpcore.intake.dictionaries.drafts import (
    LISTED,
    NUMERIC,
    TEXT,
    Draft,
    bounded,
    column_texts,
    listed,
    part_of,
    plain_text,
)
from dpcore.intake.dictionaries.extension import KEY, beyond

PACKAGE: Final = "Data Package"
TABLE: Final = "Frictionless Table Schema"
_PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
_NUMBERS: Final = {"integer": "integer", "year": "integer", "number": "real"}
_TYPES: Final = {"integer": "integer", "real": "number", "boolean": "boolean"}
_YES: Final = ["true", "True", "TRUE", "yes", "Yes", "YES", "1"]
_NO: Final = ["false", "False", "FALSE", "no", "No", "NO", "0"]
_SWITCHED: Final = frozenset({*(text.lower() for text in [*_YES, *_NO])})
_TEXTS: Final = frozenset({"string", "any"})


def fits(content: Mapping[str, object]) -> str:
    """Which of the two it is; empty if it is neither."""
    if isinstance(content.get("resources"), list):
        return PACKAGE
    schema = content.get("schema", content)
    return TABLE if isinstance(schema, Mapping) and isinstance(schema.get("fields"), list) else ""


def read(content: Mapping[str, object], title: str) -> Draft:
    """The draft of a package, or of a schema alone. Raises ``IngestError``."""
    form = fits(content)
    resources = objects(content["resources"]) if form == PACKAGE else [{"schema": content, **content}]
    return draft_of_tables(form, _head(content, title), content.get(KEY), list(map(_table, resources)))


def _head(content: Mapping[str, object], title: str) -> dict[str, object]:
    name = content.get("title") or content.get("name") or title
    return {"name": plain_text(name, 128) or title, "description": plain_text(content.get("description"), 2000)}


def _table(resource: Mapping[str, object]) -> TableDescription:
    name = str(resource.get("name") or "")
    schema = resource.get("schema")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("fields"), list):
        raise IngestError(
            f"The table '{name}' has no schema in this file. Put what another file says of it into this one."
        )
    absent = schema.get("missingValues", ())
    keys = [
        (side, str(to.get("resource", "")), other)
        for each in objects(schema.get("foreignKeys", []))
        if isinstance(to := each.get("reference"), Mapping)
        and (side := _single(each.get("fields"))) is not None
        and (other := _single(to.get("fields"))) is not None
    ]
    fields = objects(schema["fields"])
    return TableDescription(
        name,
        fields,
        lambda field: _column(field, absent),
        keys,
        key=_single(schema.get("primaryKey")),
        description=plain_text(resource.get("description"), 2000),
        rest=resource.get(KEY),
    )


def _single(names: object) -> str | None:
    names = [names] if isinstance(names, str) else names
    return names[0] if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str) else None


def _column(field: Mapping[str, Any], absent: object) -> dict[str, object]:
    column = column_texts(field.get("name", ""), field.get("title"), field.get("description"))
    return column | _facts(column["name"], field, texts(field.get("missingValues", absent), "value"))


def _facts(name: str, field: Mapping[str, object], absent: list[str]) -> dict[str, object]:
    kind = field.get("type", "string")
    limits = field.get("constraints")
    limits = limits if isinstance(limits, Mapping) else {}
    values = field.get("categories", limits.get("enum"))
    if kind == "boolean":
        return _switch(field, absent)
    if isinstance(values, list):
        labels = {str(each.get("value")): str(each.get("label", "")) for each in values if isinstance(each, Mapping)}
        return listed(
            texts(values, "value"),
            labels,
            absent,
            "ordinal" if field.get("categoriesOrdered") is True else "categorical",
        )
    if kind in _NUMBERS:
        lower, upper = (limits.get(side, limits.get(f"exclusive{side.title()}")) for side in ("minimum", "maximum"))
        return bounded(_NUMBERS[kind], lower, upper) | {"missing_codes": absent}
    if kind in {"date", "datetime"}:
        form = field.get("format", "default")
        return part_of(name, "" if form == "default" else str(form), limits.get("minimum"), limits.get("maximum"))
    return {"type": TEXT, "missing_codes": absent} if kind in _TEXTS else {LEFT_OUT: f"of the type '{str(kind)[:40]}'"}


def _switch(field: Mapping[str, object], absent: list[str]) -> dict[str, object]:
    """Yes or no; a column of two categories, if they are written in words of its own."""
    sides = [texts(field.get(f"{side}Values", [side]), "value") for side in ("true", "false")]
    if {text.lower() for side in sides for text in side} <= _SWITCHED:
        return {"type": "boolean", "missing_codes": absent}
    return listed([text for side in sides for text in side], {}, absent)


def written(schema: Schema) -> dict[str, object]:
    """A schema as a Data Package; what that has no words for stands under ``frostglass``."""
    content = schema.to_mapping()
    children = content.pop("children", [])
    columns = content.pop("columns")
    person = schema.privacy_unit.column
    main = _resource(schema.entity, columns, person)
    further = []
    for child in children:
        key = child.get("key", person)
        resource = _resource(child["name"], child.pop("columns"), key)
        reference = {"resource": schema.entity, "fields": person}
        resource["schema"]["foreignKeys"] = [{"fields": key, "reference": reference}]
        said = {"description": child["description"]} if "description" in child else {}
        head = child_head(child["name"], key, person, plain_text(child.get("description"), 2000))
        further.append({**resource, **said, KEY: beyond(child, head)})
    package = {
        "$schema": _PROFILE,
        "name": file_name(schema.name),
        "title": schema.name,
        **({"description": schema.description} if schema.description else {}),
        "resources": [main, *further],
    }
    return {**package, KEY: beyond(content, _head(package, ""))}


def _resource(name: str, columns: list[dict[str, object]], key: str | None) -> dict[str, Any]:
    fields = [_field(column) for column in columns]
    if key is not None:
        fields.insert(0, {"name": key, "type": "any"})
    return {"name": name, "path": f"{file_name(name)}.csv", "schema": {"fields": fields}}


def _field(column: dict[str, Any]) -> dict[str, object]:
    kind = column["type"]
    field: dict[str, object] = {"name": column["name"], "type": _TYPES.get(kind, "string")}
    field |= {"title": column["label"]} if "label" in column else {}
    field |= {"description": column["description"]} if "description" in column else {}
    if kind in NUMERIC:
        field["constraints"] = {"minimum": column["lower"], "maximum": column["upper"]}
    if kind == "boolean":
        field |= {"trueValues": _YES, "falseValues": _NO}
    if kind in LISTED:
        labels = column.get("labels", {})
        field["categories"] = [
            {"value": value, "label": labels[value]} if value in labels else {"value": value}
            for value in column["categories"]
        ]
        field |= {"categoriesOrdered": True} if kind == "ordinal" else {}
        field["constraints"] = {"enum": column["categories"]}
    if "missing_codes" in column:
        field["missingValues"] = ["", *column["missing_codes"]]
    read = {name: value for name, value in _column(field, ()).items() if value not in ("", None, [], {})}
    return {**field, KEY: beyond(column, read)}
