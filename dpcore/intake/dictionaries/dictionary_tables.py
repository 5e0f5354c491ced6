"""Several tables of one dictionary: which is the main one, whose rows the others hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.errors import IngestError
from dpcore.intake.columns.identifiers import suggest_person
from dpcore.intake.dictionaries.drafts import Draft, Gathered, as_text, draft_of
from dpcore.intake.dictionaries.extension import FOREIGN, KEY, completed


@dataclass
class TableDescription:
    """A table as a dictionary describes it.

    Attributes
    ----------
    name, description : str
        Empty if it has none.
    fields : list of mapping
        Its columns, in the words of the dictionary.
    column : callable
        What one of them says, in the words of a schema.
    keys : list of (str, str, str)
        Columns whose values are those of a column of another table: column, table, column there.
    key : str or None
        The column that tells its rows apart.
    person : str or None
        The column that says who they are about.
    rest : object
        What this program once wrote of the table beside that; ``None``: nothing.
    """

    name: str
    fields: list[Mapping[str, object]]
    column: Callable[[Mapping[str, Any]], dict[str, Any]]
    keys: list[tuple[str, str, str]]
    key: str | None = None
    person: str | None = None
    description: str = ""
    rest: object = None

    @property
    def names(self) -> list[str]:
        """Of its columns."""
        return [self.column(field)["name"] for field in self.fields]

    def gathered(self, person: str | None, table: str = "") -> Gathered:
        """Its columns but that of the person. Raises ``IngestError``."""
        found = Gathered(table)
        for field in self.fields:
            column = self.column(field)
            if KEY in field:
                read = {name: value for name, value in column.items() if value not in ("", None, [], {})}
                whole = completed(read, field[KEY])
                if not {"name", "type"} <= whole.keys() or not all(isinstance(whole[x], str) for x in ("name", "type")):
                    raise IngestError(FOREIGN)
                found.add(whole)
            elif column["name"] == self.key != person:
                found.leave(column["name"], "tells rows apart")
            elif column["name"] != person:
                found.take(column)
        return found


def objects(items: object) -> list[Mapping[str, object]]:
    """A list of objects. Raises ``IngestError`` if it is none."""
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise IngestError("The dictionary is not as it should be: where objects are listed, something else stands.")
    return items


def texts(values: Any, key: str) -> list[str]:
    """Values as texts; of objects among them what stands under the key."""
    values = [values] if isinstance(values, str) else values
    single = [each.get(key) if isinstance(each, Mapping) else each for each in values or () if each is not None]
    return [text for text in map(as_text, single) if text]


def file_name(name: str) -> str:
    """A name that files may have."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "data"


def draft_of_tables(form: str, head: dict[str, Any], rest: object, tables: list[TableDescription]) -> Draft:
    """The draft of one or several tables; ``rest`` is what this program once wrote beside the head.

    Raises
    ------
    IngestError
        If there is no table.
    """
    if not tables:
        raise IngestError("The dictionary describes no table.")
    used = Counter(table for description in tables for _, table, _ in description.keys)
    main = max(tables, key=lambda description: used[description.name] if description.name else 0)
    children = [(side, child) for child in tables if child is not main for side in _towards(child, main)]
    joined = [there for _, child in children for _, table, there in child.keys if table == main.name]
    person, notes = next(iter([*joined, *filter(None, [main.person])]), None), []
    content = {name: value for name, value in head.items() if value != ""}
    if rest is not None:
        content = {"privacy_unit": {}, **completed(content, rest)}
        person = content["privacy_unit"].get("column")
    elif person is None and (person := suggest_person(main.names) or main.key):
        notes = [f"'{person}' is taken for the column that identifies a person, by its name or as the key."]
    draft = draft_of(form, main.gathered(person), content, person, notes)
    if children:
        draft.content["children"] = [_child(draft, child, side, person) for side, child in children]
        draft.content.setdefault("entity", main.name)
    taken = [main, *(child for _, child in children)]
    draft.notes += [
        f"The table '{table.name}' names no column with the people of '{main.name}': it is left out."
        for table in tables
        if table not in taken
    ]
    return draft


def _towards(child: TableDescription, main: TableDescription) -> list[str]:
    return [side for side, table, _ in child.keys if main.name and table == main.name][:1]


def _child(draft: Draft, child: TableDescription, side: str, person: str | None) -> dict[str, object]:
    gathered = child.gathered(side, child.name)
    draft.left_out |= gathered.left_out
    draft.notes += gathered.notes()
    head = child_head(child.name, side, person, child.description)
    if child.rest is not None:
        head = completed(head, child.rest)
    return head | {"columns": gathered.columns}


def child_head(name: str, side: str, person: str | None, description: str) -> dict[str, object]:
    """What a schema says of a further table beside its columns."""
    key = {} if side == person else {"key": side}
    return {"name": name, **({"description": description} if description else {}), **key}
