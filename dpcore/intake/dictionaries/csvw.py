"""CSV on the Web with the privacy terms of CSVW-EO, once CSVW-SAFE, as Lomas uses them: read, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote, unquote

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.columns.guesses import LEFT_OUT
from dpcore.intake.dictionaries.dictionary_tables import TableDescription, child_head, draft_of_tables, objects, texts
from dpcore.intake.dictionaries.drafts import (
    LISTED,
    NUMERIC,
    TEXT,
    Draft,
    bounded,
    column_texts,
    listed,
    number,
    part_of,
    plain_text,
)
from dpcore.intake.dictionaries.extension import KEY, beyond

FORM: Final = "CSVW metadata"
#: The key of what this vocabulary has no words for: keys of others must have a prefix.
_REST: Final = f"{KEY}:schema"
#: As the vocabulary's own examples name it; its library takes nothing but names here.
_CONTEXT: Final = ["http://www.w3.org/ns/csvw", "csvw-eo-context.jsonld"]
#: Before the names of terms, in some versions of the vocabulary.
_PREFIX: Final = re.compile(r"^(csvw-(eo|safe|dp):)?((public|bounds)\.)?")
_WHOLE: Final = re.compile(r"((non)?(positive|negative))?integer|gyear|(unsigned)?(long|int|short|byte)", re.IGNORECASE)
_REAL: Final = frozenset({"decimal", "double", "float", "number"})
_DATES: Final = frozenset({"date", "dateTime", "datetime", "dateTimeStamp"})
_TEXTS: Final = frozenset({"string", "normalizedString", "token", "anyAtomicType", "any"})
_TYPES: Final = {"integer": "integer", "real": "double", "boolean": "boolean"}
#: Letters of dates in the format of CSVW, and what Python calls them.
_LETTERS: Final = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]*")


def fits(content: Mapping[str, object]) -> bool:
    """Whether this is such a description."""
    return "tableSchema" in content or isinstance(content.get("tables"), list)


def read(content: Mapping[str, object], title: str) -> Draft:
    """The draft of a table, or of a group of tables. Raises ``IngestError``."""
    tables = [_plain(table) for table in objects(content.get("tables", [content]))]
    headers = {_stem(table): _headers(table) for table in tables}
    described = [_table(table, headers) for table in tables]
    main = next((table for table in tables if "privacyUnit" in table or "maxLength" in table), content)
    person = next((table.person for table in described if table.person), None)
    head = _head({**main, **{name: value for name, value in content.items() if name.startswith("dc:")}}, title)
    if person is not None:
        each = number(main.get("maxContributions"))
        head["privacy_unit"] = {"column": person, "max_rows_per_person": max(1, int(each or 1))}
    return draft_of_tables(FORM, head, content.get(_REST), described)


def _plain(content: Mapping[str, Any]) -> dict[str, object]:
    """The same with terms that have no prefix and stand in no group."""
    groups = (content[name] for name in ("public", "bounds") if isinstance(content.get(name), Mapping))
    flat = {**content, **{name: value for group in groups for name, value in group.items()}}
    return {_PREFIX.sub("", str(name)): value for name, value in flat.items()}


def _stem(table: Mapping[str, object]) -> str:
    """What a table is called: its file without folder and ending."""
    return unquote(re.sub(r"\.[A-Za-z0-9]+$", "", str(table.get("url", "")).rpartition("/")[2]))


def _columns(table: Mapping[str, object]) -> list[Mapping[str, object]]:
    schema = table.get("tableSchema")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("columns"), list):
        raise IngestError("A table has no columns in this file. Put what another file says of it into this one.")
    return [field for field in objects(schema["columns"]) if field.get("virtual") is not True]


def _headers(table: Mapping[str, object]) -> dict[str, str]:
    """What columns are called in the file, by their names in this description."""
    return {str(field.get("name", "")): _header(field) for field in _columns(table)}


def _header(field: Mapping[str, object]) -> str:
    titles = field.get("titles")
    if isinstance(titles, Mapping):
        titles = next(iter(titles.values()), None)
    if isinstance(titles, list):
        titles = next(iter(titles), None)
    return str(titles or unquote(str(field.get("name", "")))).strip()


def _head(table: Mapping[str, object], title: str) -> dict[str, object]:
    head = {
        "name": _words(table.get("dc:title"), 128) or title,
        "description": _words(table.get("dc:description"), 2000),
    }
    most = number(next((table[term] for term in ("maxLength", "publicLength", "length") if term in table), None))
    return head | ({"max_rows": int(most)} if most is not None and most >= 1 else {})


def _words(value: object, most: int) -> str:
    """A text in a natural language: that itself, or with its language, or the first of several."""
    for _ in range(2):
        value = next(iter(value), "") if isinstance(value, list) else value
        if isinstance(value, Mapping):
            value = value.get("value", value.get("@value", next(iter(value.values()), "")))
    return plain_text(value, most)


def _table(table: Mapping[str, Any], headers: Mapping[str, dict[str, str]]) -> TableDescription:
    schema, own, name = table["tableSchema"], headers[_stem(table)], _stem(table)
    absent = texts(table.get("null", schema.get("null", ())), "value")
    fields = [_plain(field) for field in _columns(table)]
    keys = []
    for each in objects(schema.get("foreignKeys", [])):
        to = each.get("reference")
        side, there = _single(each.get("columnReference")), to if isinstance(to, Mapping) else {}
        place, other = _stem({"url": there.get("resource", "")}), _single(there.get("columnReference"))
        if side is not None and other is not None:
            keys.append((own.get(side, side), place, headers.get(place, {}).get(other, other)))
    people = [_header(field) for field in fields if field.get("privacyId") is True]
    unit = table.get("privacyUnit")
    said = own.get(unit, unit) if isinstance(unit, str) and (unit in own or not people) else None
    key = _single(schema.get("primaryKey"))
    return TableDescription(
        name,
        [{**field, **({KEY: field[_REST]} if _REST in field else {})} for field in fields],
        lambda field: _column(field, absent),
        keys,
        key=None if key is None else own.get(key, key),
        person=said or next(iter(people), None),
        description=_words(table.get("dc:description"), 2000),
        rest=table.get(_REST),
    )


def _single(names: object) -> str | None:
    names = names if isinstance(names, list) else [names]
    return names[0] if len(names) == 1 and isinstance(names[0], str) else None


def _column(field: Mapping[str, object], absent: object) -> dict[str, object]:
    column = column_texts(_header(field), _words(field.get("dc:title"), 128), _words(field.get("dc:description"), 500))
    return column | _facts(column["name"], field, texts(field.get("null", absent), "value"))


def _facts(name: str, field: Mapping[str, object], absent: list[str]) -> dict[str, object]:
    datatype = field.get("datatype", "string")
    about = datatype if isinstance(datatype, Mapping) else {"base": datatype}
    base = str(about.get("base", "string"))
    values, edges = _partitions(field)
    lower, upper = (_limit(field, about, side, edges) for side in ("min", "max"))
    if base == "boolean":
        sides = str(about.get("format") or "").split("|")
        return listed(sides, {}, absent) if len(sides) == 2 else {"type": "boolean", "missing_codes": absent}
    if base in _DATES:
        return part_of(name, _format(about), lower, upper)
    kind = "integer" if _WHOLE.fullmatch(base) else "real" if base in _REAL else ""
    if kind and (lower is not None or not values):
        found = bounded(kind, lower, upper) | {"missing_codes": absent}
        within = found["lower"] is not None and found["upper"] is not None
        return found | ({"edges": edges[1:-1]} if within and len(edges) > 1 else {})
    if values:
        return listed(values, {}, absent)
    return {"type": TEXT, "missing_codes": absent} if base in _TEXTS else {LEFT_OUT: f"of the type '{base[:40]}'"}


def _limit(field: Mapping[str, object], about: Mapping[str, object], side: str, edges: list[object]) -> object:
    """The least or greatest value that is named anywhere, ``None`` if there is none."""
    names = (f"{side}imum", f"{side}Inclusive", f"{side}Exclusive")
    found = [place[name] for place in (field, about) for name in names if place.get(name) is not None]
    return found[0] if found else edges[0 if side == "min" else -1] if edges else None


def _partitions(field: Mapping[str, object]) -> tuple[list[str], list[object]]:
    """The values that are listed, and the points at which neighbouring ranges meet."""
    parts = [_plain(part) for part in objects(field.get("partitions") or [])]
    rules = [rule for part in parts if isinstance(rule := part.get("predicate"), Mapping)]
    single = [rule["partitionValue"] for rule in rules if "partitionValue" in rule]
    ranges = [(number(rule.get("lowerBound")), number(rule.get("upperBound"))) for rule in rules]
    meeting = all(one[1] == other[0] for one, other in pairwise(ranges))
    whole = (
        bool(ranges) and meeting and all(low is not None and high is not None and low < high for low, high in ranges)
    )
    values = field.get("keyValues")
    return texts(values if isinstance(values, list) else single, "value"), (
        [ranges[0][0], *(high for _, high in ranges)] if whole else []
    )


def _format(about: Mapping[str, object]) -> str:
    form = str(about.get("format") or "")
    if form.startswith("yyyy-MM-dd"):
        return ""
    return re.sub("|".join(_LETTERS), lambda found: _LETTERS[found[0]], form)


def written(schema: Schema) -> dict[str, object]:
    """A schema as CSVW metadata with privacy terms; what these have no words for stands under ``frostglass:schema``."""
    content = schema.to_mapping()
    children, columns = content.pop("children", []), content.pop("columns")
    unit = schema.privacy_unit
    names = {"dc:title": schema.name, **({"dc:description": schema.description} if schema.description else {})}
    privacy = {"privacyUnit": unit.column} if unit.column else {}
    limits = {"maxContributions": unit.max_rows_per_person, "maxLength": schema.max_rows}
    main = {**_written_table(schema.entity, columns, unit.column, schema), **privacy, **limits}
    said = _head({**names, **main}, "")
    if unit.column:
        said["privacy_unit"] = {"column": unit.column, "max_rows_per_person": unit.max_rows_per_person}
    rest = {_REST: beyond(content, {name: value for name, value in said.items() if value != ""})}
    if not children:
        return {"@context": _CONTEXT, "@type": "Table", **names, **main, **rest}
    further = [_written_child(child, schema) for child in children]
    return {"@context": _CONTEXT, "@type": "TableGroup", **names, "tables": [main, *further], **rest}


def _written_child(child: dict[str, Any], schema: Schema) -> dict[str, object]:
    person = str(schema.privacy_unit.column)
    key = child.get("key", person)
    table = _written_table(child["name"], child.pop("columns"), key, schema)
    reference = {"resource": _url(schema.entity), "columnReference": _name(person)}
    table["tableSchema"]["foreignKeys"] = [{"columnReference": _name(key), "reference": reference}]
    description = child.get("description", "")
    head = child_head(_stem(table), key, person, plain_text(description, 2000))
    return {**table, **({"dc:description": description} if description else {}), _REST: beyond(child, head)}


def _written_table(name: str, columns: list[dict[str, object]], key: str | None, schema: Schema) -> dict[str, Any]:
    fields = [_field(column, schema) for column in columns]
    if key is not None:
        fields.insert(0, {**_named(key), "datatype": "string", "privacyId": True})
    return {"@type": "Table", "url": _url(name), "tableSchema": {"columns": fields}}


def _url(name: str) -> str:
    return f"{quote(name, safe='')}.csv"


def _name(header: str) -> str:
    """A name as this vocabulary allows it: letters, digits and what stands for others."""
    return header if _NAME.fullmatch(header) else quote(header, safe="").replace("-", "%2D").replace("~", "%7E")


def _named(header: str) -> dict[str, object]:
    name = _name(header)
    return {"@type": "Column", "name": name, **({} if name == header else {"titles": [header]})}


def _field(column: dict[str, Any], schema: Schema) -> dict[str, object]:
    kind = column["type"]
    field = {**_named(column["name"]), "datatype": _TYPES.get(kind, "string")}
    field |= {"dc:title": column["label"]} if "label" in column else {}
    field |= {"dc:description": column["description"]} if "description" in column else {}
    if "missing_codes" in column:
        field["null"] = ["", *column["missing_codes"]]
    if kind in NUMERIC:
        field |= {"minimum": column["lower"], "maximum": column["upper"], **_written_ranges(column, schema)}
    if kind in {*LISTED, "boolean"}:
        values = column["categories"] if kind in LISTED else [False, True]
        public = {"exhaustiveKeys": True, "invariantPublicKeys": True, "maxNumPartitions": len(values)}
        field |= {"keyValues": values, **public}
    read = {name: value for name, value in _column(_plain(field), ()).items() if value not in ("", None, [], {})}
    return {**field, _REST: beyond(column, read)}


def _written_ranges(column: dict[str, Any], schema: Schema) -> dict[str, object]:
    """The cells between cut points."""
    edges = [column["lower"], *column.get("edges", ()), column["upper"]]
    if len(edges) < 3 or sorted(set(edges)) != edges:  # A cell of one value, or none.
        return {}
    each = schema.privacy_unit.max_rows_per_person
    most = {"maxLength": schema.max_rows, "maxGroupsPerUnit": min(each, len(edges) - 1), "maxContributions": each}
    ranges = [{"lowerBound": low, "upperBound": high} for low, high in pairwise(edges)]
    return {
        "partitions": [{"@type": "Partition", "predicate": rule, **most} for rule in ranges],
        "maxNumPartitions": len(ranges),
    }
