"""The public description of a data set as Croissant 1.0: written only, as it has no words for much of a schema."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from dpcore.domain.columns import Column, ListedColumn, NumericColumn
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.intake.dictionaries.dictionary_tables import file_name

_CONFORMS: Final = "http://mlcommons.org/croissant/1.0"
_OWN: Final = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references"),
    *("regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
_CONTEXT: Final[dict[str, object]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _OWN},
}
_TYPES: Final = {"boolean": "sc:Boolean", "integer": "sc:Integer", "real": "sc:Float"}
_PRIVATE: Final = "The records are private: only results with differential privacy are given out."


def written(schema: Schema) -> dict[str, object]:
    """A schema as Croissant: its tables, their columns, and categories with their labels.

    Who made the data set, its licence and its address are no part of a schema: they are to be added.
    """
    tables: list[Schema | ChildTable] = [schema, *schema.children]
    names = [schema.entity, *(child.name for child in schema.children)]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS,
        "name": schema.name,
        "description": schema.description or _PRIVATE,
        "conditionsOfAccess": _PRIVATE,
        "isAccessibleForFree": False,
        "isLiveDataset": True,  # No file is given out, so there is none to take a checksum of.
        "distribution": [_file(name) for name in names],
        "recordSet": [part for name, table in zip(names, tables, strict=True) for part in _record_sets(name, table)],
        "variableMeasured": [_variable(column) for table in tables for column in table.columns],
    }


def _id(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def _file(name: str) -> dict[str, object]:
    address = f"{file_name(name)}.csv"
    told = {"name": name, "contentUrl": address, "encodingFormat": "text/csv"}
    return {"@type": "cr:FileObject", "@id": _id("files", name), **told}


def _record_sets(name: str, table: Schema | ChildTable) -> list[dict[str, object]]:
    """The rows of a table, and before them the categories of its columns."""
    fields = [_field(name, column) for column in table.columns]
    rows: dict[str, object] = {"@type": "cr:RecordSet", "@id": _id(name), "name": name, "field": fields}
    return [*(_categories(name, column) for column in table.columns if isinstance(column, ListedColumn)), rows]


def _field(table: str, column: Column) -> dict[str, object]:
    ident = _id(table, column.name)
    field: dict[str, object] = {"@type": "cr:Field", "@id": ident, "name": column.name}
    field["description"] = column.description or column.label or column.name
    field["dataType"] = _TYPES.get(column.type, "sc:Text")
    if column.sources == (column.name,):
        field["source"] = {"fileObject": {"@id": _id("files", table)}, "extract": {"column": column.name}}
    if isinstance(column, ListedColumn):
        field["references"] = {"field": {"@id": f"{_id('categories', table, column.name)}/value"}}
    return field


def _categories(table: str, column: ListedColumn) -> dict[str, object]:
    ident = _id("categories", table, column.name)
    labels = {each.category: each.label for each in column.labels}
    fields = [
        {"@type": "cr:Field", "@id": f"{ident}/{part}", "name": part, "description": words, "dataType": "sc:Text"}
        for part, words in (("value", "The category as it stands in the rows"), ("name", "What people call it"))
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": ident,
        "name": f"categories of {column.name}",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{ident}/value"},
        "field": fields,
        "data": [{f"{ident}/value": value, f"{ident}/name": labels.get(value, value)} for value in column.categories],
    }


def _variable(column: Column) -> dict[str, object]:
    """A column as others than Croissant find it: with its range and unit."""
    told: dict[str, object] = {"@type": "PropertyValue", "name": column.label or column.name}
    told["description"] = column.description
    if isinstance(column, NumericColumn):
        told |= {"minValue": column.lower, "maxValue": column.upper, "unitText": column.unit}
    return {name: value for name, value in told.items() if value != ""}
