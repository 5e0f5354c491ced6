"""A schema file to fill in: what the header tells, and a mark where only people can tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from textwrap import indent, wrap
from typing import Any

import yaml

from dpcore.commands.files.several_tables import source_with
from dpcore.errors import IngestError, RequestError
from dpcore.intake.columns.identifiers import suggest_person
from dpcore.intake.dictionaries import redcap
from dpcore.intake.dictionaries.drafts import Draft, sources_of
from dpcore.intake.joins.relations import Source
from dpcore.intake.process.repeats import divide_repeats
from dpcore.intake.process.uploads import ask, files_of, headers_of
from dpcore.intake.profile.suggestions import suggest_entity, suggest_key
from dpcore.intake.sources.parts import is_database

_HEAD = """\
# Public description of a data set. Everybody who sees a result may read it, so write down
# what you know of the field, not what you find in the records.
# Fill in every place marked 'required', then run: python -m dpcore schema check THIS_FILE
# Types: boolean; categorical or ordinal (categories); integer or real (lower, upper, and
# either bins: NUMBER or edges: [..]). Mark what is to be predicted with 'target: true'.
version: 1
"""
_TWO_FILES = """\
# Two files joined person by person, one row per person in each; view says on which side of
# redescriptions a column may stand: left, right, or (without a view) on neither.
"""
_ENTITY = """\
# What one row of the main table is called. In a database, its table has this name.
"""
_ASKING = """\
# For rules over several tables, a categorical or ordinal column may have groups of its
# categories, and a column of any type may say how rules ask about it (default: in all ways):
#   groups: {heart: [I21, I22], lung: [J44]}
#   modes: [equal, threshold, member]  # one category; a cut point; a group; [] for none
"""
_CHILDREN = """\
# Further tables: any number of rows about each person. Neighbouring data sets differ in one
# person with all these rows. 'key' is the column that says whose row it is. Rows may belong to
# rows of another further table: 'parent' is its name, 'parent_key' the column here that names the
# row, and 'row_key', there, the column that tells its rows apart.
"""
_ROWS = "max_rows:  # required: a round number that is never exceeded; it becomes public"
_ROWS_KEPT = "max_rows_per_person:  # required: rows kept of each person, chosen at random; it is public"
#: Fields of a schema that stand elsewhere in its text, or say nothing.
_NO_HEAD = ("version", "columns", "children", "privacy_unit", "description", "entity")
#: Drafts some columns from their values, by their names.
_Look = Callable[[list[str]], dict[str, dict[str, Any]]]
_REQUIRED: dict[str, list[str]] = {
    "boolean": [],
    "categorical": ["categories: []  # required: every category there may be"],
    "ordinal": ["categories: []  # required: every category there may be, lowest first"],
    "integer": ["lower:  # required", "upper:  # required", "bins: 8"],
    "real": ["lower:  # required", "upper:  # required", "bins: 8"],
}


def schema_template(
    path: Path,
    *,
    name: str | None = None,
    suggest: Collection[str] = (),
    right: Path | None = None,
    key: str | None = None,
    tables: Mapping[str, Path] | None = None,
    entity: str | None = None,
) -> str:
    """YAML text from the header of a CSV or Parquet file, or of two, or of several tables.

    Parameters
    ----------
    name : str or None
        Name of the data set; ``None`` takes that of the file.
    suggest : collection of str
        Columns whose values are read. What they hold then stands in the template; see
        :data:`dpcore.intake.profile.column_profiles.PUBLICATION_WARNING`.
    right : Path or None
        A second file about the same people.
    key : str or None
        Column that identifies people in several files or tables; ``None`` guesses it by name.
    tables : mapping of str to Path, optional
        Files of further tables, by their names. A database holds its tables itself.
    entity : str or None
        The main table; ``None`` takes the name of the file, or guesses the table of a database.

    Raises
    ------
    IngestError
        If a file cannot be used or has no such column.
    RequestError
        If there is a key or a main table without further files or tables.
    """
    title = name or title_of(path)
    if tables or is_database(path):
        source = source_with(path, entity or title_of(path), tables or {}, right)
        return _relational(title, source, suggest, entity, key)
    if entity is not None:
        raise RequestError("--entity names the main one of several tables: add --table NAME=FILE.")
    draft, look = _drafting(path, right, key)
    known = [column["name"] for column in draft["columns"]]
    unknown = [column for column in suggest if column not in known]
    if unknown:
        raise IngestError(
            f"There is no column '{unknown[0]}' to suggest a domain for. Columns: {', '.join(known[:20])}."
        )
    looked = look(list(suggest)) if suggest else {}
    columns = _with_found(draft["columns"], looked)
    lines = [_HEAD.rstrip(), _dump({"name": title}), "description: ''"]
    lines += _unit(draft["person_column"])
    lines += [_ROWS]
    lines += ["holdout_percent: 20", *([_TWO_FILES.rstrip()] if right else []), "columns:"]
    lines += map(_column, columns)
    return "\n".join(lines) + "\n"


def dictionary_template(path: Path, *, name: str | None = None, data: Path | None = None) -> str:
    """YAML text from a data dictionary.

    Parameters
    ----------
    name : str or None
        Name of the data set; ``None`` takes what the dictionary says, or that of the file.
    data : Path or None
        A file of the main table: columns that it lacks are left out, others are guessed by name.

    Raises
    ------
    IngestError
        If a file cannot be used.
    """
    draft = Draft(**ask("dictionary", [path], path=path))
    content = draft.content
    if name is not None:
        content["name"] = name
    told = [] if data is None else _within(data, draft)
    first = {field: content[field] for field in ("name", "description", "entity", "privacy_unit") if content.get(field)}
    rest = {field: value for field, value in content.items() if field not in {*first, *_NO_HEAD}}
    lines = [_HEAD.rstrip(), f"# From a dictionary ({draft.form}):"]
    lines += [f"#   {line}" for sentence in [*draft.sentences, *told] for line in wrap(" ".join(sentence.split()), 110)]
    lines += [
        _dump(first | rest),
        *([] if "max_rows" in content else [_ROWS]),
        "columns:",
        *map(_column, content["columns"]),
    ]
    if content.get("children"):
        lines += [_CHILDREN.rstrip(), "children:", *map(_described_child, content["children"])]
    return "\n".join(lines) + "\n"


def _within(data: Path, draft: Draft) -> list[str]:
    """Keep the columns that a data file has, with those that no dictionary tells of; sentences about both."""
    drafts = {column["name"]: column for column in ask("draft", [data], path=data)["columns"]}
    header = ask("header", [data], path=data)
    told = draft.within(header)
    divide_repeats(draft, header, [data])
    columns = draft.content["columns"]
    known = {draft.content.get("privacy_unit", {}).get("column"), *draft.left_out}
    tables = [draft.content, *draft.content.get("children", ())]
    known = known.union(*(sources_of(column) for table in tables for column in table["columns"]))
    own = "redcap_" if draft.form == redcap.FORM else "\0"
    further = [drafts[each] for each in header if each in drafts and each not in known and not each.startswith(own)]
    draft.content["columns"] = columns + further
    guessed = [column["name"] for column in further]
    return [*told, f"Not in the dictionary, so guessed by name: {_names(guessed)}."] if guessed else told


def _names(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _described_child(child: dict[str, Any]) -> str:
    head = {field: value for field, value in child.items() if field != "columns"}
    lacking = [] if "max_rows_per_person" in child else [_ROWS_KEPT]
    columns = [indent(_column(column), "  ") for column in child["columns"]]
    return "- " + indent("\n".join([_dump(head), *lacking, "columns:"]), "  ").lstrip() + "\n" + "\n".join(columns)


def title_of(path: Path) -> str:
    """What a file is called, without folder and endings."""
    return path.name.partition(".")[0] or "data"


def _relational(title: str, source: Source, suggest: Collection[str], entity: str | None, key: str | None) -> str:
    """The text for several tables."""
    files = files_of(source)
    headers = headers_of(source)
    key = key or suggest_key(headers)
    if isinstance(source, Mapping):
        entity = next(iter(source))
    entity = entity or suggest_entity(headers, key)
    if entity is None:
        listed = ", ".join(f"'{table}'" for table in list(headers)[:20])
        raise RequestError(f"Say with --entity which table is the main one: {listed}.")
    if key is None and len(headers) > 1:
        raise RequestError(f"Say with --key which column of '{entity}' identifies people.")
    draft = ask("relations draft", files, source=source, entity=entity, key=key)
    wanted: dict[str, list[str]] = defaultdict(list)
    for table, column in _wanted(suggest, draft):
        wanted[table].append(column)
    for table, names in wanted.items():
        looked = _looked(files, names, source=source, table=table)
        place = _table(draft, table)
        place["columns"] = _with_found(place["columns"], looked)
    lines = [_HEAD.rstrip(), _dump({"name": title}), "description: ''"]
    lines += [_ENTITY.rstrip(), _dump({"entity": entity}), *_unit(draft["person_column"])]
    lines += [_ROWS]
    lines += ["holdout_percent: 20", _ASKING.rstrip(), "columns:"]
    lines += map(_column, draft["columns"])
    if draft["children"]:
        lines += [_CHILDREN.rstrip(), "children:", *map(_child, draft["children"])]
    lines += [f"# left out, as it has no column {key!r}: {table!r}" for table in draft["left_out"]]
    return "\n".join(lines) + "\n"


def _table(draft: dict[str, Any], name: str) -> dict[str, Any]:
    return next((child for child in draft["children"] if child["name"] == name), draft)


def _wanted(suggest: Collection[str], draft: dict[str, Any]) -> list[tuple[str, str]]:
    """Table and column of each text ``COLUMN`` or ``TABLE.COLUMN``; the main table goes first."""
    columns = {
        name: [item["name"] for item in _table(draft, name)["columns"]]
        for name in [draft["entity"], *(child["name"] for child in draft["children"])]
    }
    return [_meant(text, columns, draft["entity"]) for text in suggest]


def _meant(text: str, columns: Mapping[str, list[str]], entity: str) -> tuple[str, str]:
    if text in columns[entity]:
        return entity, text
    plain = [(table, name) for table, names in columns.items() for name in names if name == text]
    full = [(table, name) for table, names in columns.items() for name in names if f"{table}.{name}" == text]
    found = full or plain
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{table}.{name}" for table, names in columns.items() for name in names[:20])
    problem = "Several tables have a" if found else "There is no"
    raise IngestError(f"{problem} column '{text}' to suggest a domain for. Columns: {listed}.")


def _child(child: dict[str, Any]) -> str:
    key = _dump({"key": child["key"]}) if child["key"] else "key:  # required: whose row it is"
    head = [f"- {_dump({'name': child['name']})}", f"  {key}", f"  {_ROWS_KEPT}", "  columns:"]
    return "\n".join([*head, *(indent(_column(column), "  ") for column in child["columns"])])


def _drafting(path: Path, right: Path | None, key: str | None) -> tuple[dict[str, Any], _Look]:
    """The draft from the header or the two headers, and a way to draft one column from values."""
    if right is not None:
        key = key or _key(path, right)
        both = partial(ask, files=[path, right], left=path, right=right, key=key)
        return both("joint draft"), lambda names: _looked([path, right], names, source=path, right=right, key=key)
    if key is not None:
        raise RequestError("--key identifies people in several files: name another with --right or --table.")
    one = partial(ask, files=[path], path=path)
    return one("draft"), lambda names: _looked([path], names, source=path)


def _looked(files: list[Path], names: list[str], **place: Any) -> dict[str, dict[str, Any]]:
    """Drafts of columns from their values. Raises ``IngestError`` if one of them has none."""
    looked = ask("look", files, kinds=dict.fromkeys(names), **place)
    if looked["notes"]:
        raise IngestError(" ".join(looked["notes"]))
    return {column["name"]: column for column in looked["columns"]}


def _with_found(drafts: list[dict[str, Any]], looked: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Drafts with what values told in their place, each followed by the columns that are made of it."""
    known = {column["name"] for column in drafts}
    made = [column for name, column in looked.items() if name not in known]
    return [
        each
        for column in drafts
        for each in (
            looked.get(column["name"], column),
            *(further for further in made if column["name"] in sources_of(further)),
        )
    ]


def _key(left: Path, right: Path) -> str:
    shared = ask("shared columns", [left, right], left=left, right=right)
    key = suggest_person(shared) or (shared[0] if len(shared) == 1 else None)
    if key is None:
        listed = ", ".join(f"'{name}'" for name in shared[:10])
        raise IngestError(f"Both files have {listed}: say with --key which of them identifies people.")
    return key


def _dump(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True).rstrip()


def _unit(person: str | None) -> list[str]:
    if person is None:
        return [
            "# Each row is one person. If a column identifies the person, write instead:",
            "# privacy_unit: {column: patient_id, max_rows_per_person: 2}",
        ]
    unit = {"privacy_unit": {"column": person, "max_rows_per_person": 1}}
    return ["# Whose rows belong together, and how many are kept of each person.", _dump(unit)]


def _column(column: dict[str, Any]) -> str:
    if column["type"] == "leave out":
        return f"# left out, as it looks like a date, a name or free text: {column['name']!r}"
    shaped = "edges" in column
    made = "derive" in column and column["type"] not in {"integer", "real"}  # Its categories follow from that.
    lacking = [line for line in _REQUIRED[column["type"]] if line.partition(":")[0] not in column and not made]
    body = _dump(column).splitlines() + [line for line in lacking if not (shaped and line.startswith("bins"))]
    return "\n".join(("- " if i == 0 else "  ") + line for i, line in enumerate(body))
