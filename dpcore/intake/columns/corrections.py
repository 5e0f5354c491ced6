"""What would make more values of a column fit: changes to a schema, offered to the custodian."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dpcore.domain.columns import MAX_CATEGORIES, BooleanColumn, Column, ListedColumn, NumericColumn, folded
from dpcore.domain.schemas.origins import LOOKED_UP
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.columns.identifiers import is_identifying
from dpcore.intake.sources.decimal_commas import comma_in

#: Signs that people write where there is nothing to write.
NOTHING: Final = frozenset(
    {"?", "-", "--", ".", "*", "unknown", "not known", "not available", "n.a.", "unk", "-9", "-99"}
)
#: Fields that columns of every type have.
_ALWAYS: Final = ("name", "label", "description", "target", "view", "missing_codes", "derive")
#: Values that are listed as categories at the custodian's wish.
_MOST_LISTED: Final = 100


@dataclass(frozen=True)
class Correction:
    """A change to one column."""

    words: str
    """What it does, for a button."""
    change: dict[str, Any]
    """Fields of the column of a schema, and their new values; under ``privacy_unit`` those of who a person is."""


def corrections(
    column: ListedColumn, strange: Counter[str], unused: Collection[str], used: Collection[str] = ()
) -> list[Correction]:
    """Changes by which values that match nothing would match.

    Parameters
    ----------
    strange : Counter
        Values that match nothing.
    unused : collection of str
        Categories that no value matches.
    used : collection of str
        Of a yes/no column: how its values are spelled that are yes or no.
    """
    found = [*_nothing(column, strange)]
    listed = not unread_comma(column, strange) and not is_identifying(strange)
    if isinstance(column, (*NumericColumn, BooleanColumn)):
        return found if not listed else [*found, *_as_categories(column, [*strange, *used])]
    further = _listed(column, strange) if listed else ()
    return [*_loose(column, strange), *_respelled(column, strange, unused), *found, *further]


def unread_comma(column: Column, strange: Counter[str]) -> str:
    """What no schema mends: see :mod:`dpcore.intake.sources.decimal_commas`; empty where categories are listed."""
    plain = isinstance(column, (*NumericColumn, BooleanColumn))
    return comma_in({text: count for text, count in strange.items() if plain and text.lower() not in NOTHING})


def corrected(schema: Schema, changes: Mapping[str, Mapping[str, Any]]) -> Schema:
    """A schema with changes to some columns, by their names (``TABLE.COLUMN`` in a child table).

    A column whose type changes keeps what columns of every type have; ``keep: False`` leaves one out.
    """
    content = schema.model_dump(mode="json")
    for change in changes.values():
        _name_person(content, schema, change.get("privacy_unit", {}))
    changes = {place: change for place, change in changes.items() if "privacy_unit" not in change}
    for prefix, table in [("", content), *((f"{child['name']}.", child) for child in content["children"])]:
        pairs = [(column, changes.get(f"{prefix}{column['name']}", {})) for column in table["columns"]]
        table["columns"] = [_changed(column, change) for column, change in pairs if change.get("keep", True)]
    return Schema.from_mapping(content)


def _name_person(content: dict[str, Any], schema: Schema, unit: Mapping[str, object]) -> None:
    """Say otherwise who a person is; the column that names one is not stored."""
    content["privacy_unit"] |= unit
    if "column" in unit:
        person = unit["column"]
        content["privacy_unit"] |= {"missing_codes": [], "matching": "exact"}
        made = {column.name for column in schema if person in (column.name, *column.sources)}
        content["columns"] = [column for column in content["columns"] if column["name"] not in made]


def _changed(column: Mapping[str, object], change: Mapping[str, object]) -> dict[str, object]:
    kept = {name: column[name] for name in _ALWAYS if name in column} if "type" in change else column
    return {**kept, **change}


def _loose(column: ListedColumn, strange: Counter[str]) -> Iterator[Correction]:
    """Spelling that does not count."""
    plain: dict[str, str] = {}
    for category in column.categories:
        plain.setdefault(folded(category), category)
    alike = {text: plain[folded(text)] for text in strange if folded(text) in plain}
    if column.matching == "loose" or not alike or len(plain) < len(column.categories):
        return
    text, category = max(alike.items(), key=lambda pair: strange[pair[0]])
    yield Correction(f"Match in any spelling: '{text}' is '{category}'", {"matching": "loose"})


def _respelled(column: ListedColumn, strange: Counter[str], unused: Collection[str]) -> Iterator[Correction]:
    """Categories that nothing matches, spelled as values that match nothing."""
    plain = {folded(category) for category in column.categories}
    free, nearest = list(unused), {}
    for text, _ in strange.most_common(_MOST_LISTED):
        near = [] if folded(text) in plain else difflib.get_close_matches(text, free, 1, 0.6)
        if near:
            nearest[near[0]] = text
            free.remove(near[0])
    if nearest:
        spelled = [nearest.get(category, category) for category in column.categories]
        if len(set(spelled)) == len(spelled):
            pairs = ", ".join(f"'{text}' for '{category}'" for category, text in list(nearest.items())[:3])
            more = ", ..." if len(nearest) > 3 else ""
            yield Correction(f"Spell as in the file: {pairs}{more}", {"categories": spelled, "origin": LOOKED_UP})


def _nothing(column: Column, strange: Counter[str]) -> Iterator[Correction]:
    """Values that say that there is none."""
    absent = [text for text, _ in strange.most_common() if text.lower() in NOTHING][:10]
    if absent:
        listed = ", ".join(f"'{text}'" for text in absent)
        yield Correction(f"Take {listed} for missing", {"missing_codes": [*column.missing_codes, *absent]})


def _listed(column: ListedColumn, strange: Counter[str]) -> Iterator[Correction]:
    """Further categories."""
    new = [text for text, _ in strange.most_common() if text.lower() not in NOTHING]
    if new and len(new) <= _MOST_LISTED and len(column.categories) + len(new) <= MAX_CATEGORIES:
        count = f"{len(new)} values as categories" if len(new) > 1 else f"'{new[0]}' as a category"
        change = {"categories": [*column.categories, *new], "origin": LOOKED_UP}
        yield Correction(f"List {count}", change)


def _as_categories(column: Column, texts: Collection[str]) -> Iterator[Correction]:
    """Another type: what the column holds is no number, or neither yes nor no."""
    new = sorted((text for text in texts if text.lower() not in NOTHING), key=first_number)
    if new and len(new) <= _MOST_LISTED:
        numbers = isinstance(column, NumericColumn) and first_number(new[-1])[0] < math.inf
        kind = "ordinal" if numbers else "categorical"
        change = {"type": kind, "categories": new, "origin": LOOKED_UP}
        yield Correction(f"Take it as {kind}: {', '.join(new[:4])}{', ...' if len(new) > 4 else ''}", change)


def first_number(text: str) -> tuple[float, str]:
    """Orders numbers, and ranges such as ``[70-80)`` and ``<30``, by where they begin."""
    digits = "".join(sign if sign.isdigit() or sign == "." else " " for sign in text).split()
    try:
        return (float(digits[0]) - (0.5 if text.lstrip().startswith("<") else 0), text)
    except (IndexError, ValueError):
        return (math.inf, text)
