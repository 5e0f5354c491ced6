"""Conditions on one column (literals, in rule learning): ranges of cells of the public domain, at chosen cut points."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NoReturn

from dpcore.domain.columns import (
    MISSING,
    OTHER,
    RESERVED,
    BooleanColumn,
    Column,
    NumberColumn,
    NumericColumn,
    format_number,
)
from dpcore.domain.encoding import cell_of
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.errors import RequestError, SchemaError
from dpcore.frozen import FrozenModel


def amount(value: float, unit: str, *, once: bool = False) -> str:
    """A number with its unit: $100, 5.6%, 69/min, 11 mmol/L.

    A unit that follows the number is left to the second of two if it is said ``once``.
    """
    return with_unit(format_number(value), unit, once=once)


def with_unit(number: str, unit: str, *, once: bool = False) -> str:
    """The same of a number that is a text already."""
    if unit and unicodedata.category(unit[-1]) == "Sc":
        return f"-{unit}{number[1:]}" if number.startswith("-") else f"{unit}{number}"
    if once:
        return number
    if unit.startswith("1/") and len(unit) > 2:
        return f"{number}{unit[1:]}"
    return f"{number}{unit}" if unit.startswith("%") else f"{number} {unit}".strip()


#: By column: codes of the last cells below each cut, increasing. Other columns have all of theirs.
Cuts = Mapping[str, tuple[int, ...]]
ALL_CUTS: Final[Cuts] = {}


def cuts_of(column: Column, cuts: Cuts) -> Sequence[int]:
    """Last cells below each cut of an ordered column."""
    return cuts.get(column.name, range(len(column.classes) - 1))


def cut_text(column: NumberColumn, places: Iterable[int]) -> str:
    """Some cut points of a column of numbers, as :func:`read_cuts` reads them: ``age: 40, 60``."""
    return f"{column.name}: {', '.join(format_number(column.inner_edges[place]) for place in places)}"


def read_cuts(schema: Schema, texts: Iterable[str]) -> Cuts:
    """Cut points from texts such as ``age: 40, 60``.

    Raises
    ------
    RequestError
        If a text names no column of numbers, or a point that is none of its cut points.
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, _, points = text.rpartition(":")
        column = next((column for column in schema if column.name == name.strip()), None)
        if not isinstance(column, NumericColumn):
            raise RequestError(f"'{text}' names no column of numbers. Write cut points like 'age: 40, 60'.")
        if column.name in found:
            raise RequestError(f"The cut points of '{column.name}' are given twice.")
        places = {format_number(edge): place for place, edge in enumerate(column.inner_edges)}
        found[column.name] = tuple(sorted({_place(column, places, point.strip()) for point in points.split(",")}))
    return found


def _place(column: Column, places: Mapping[str, int], point: str) -> int:
    try:
        return places[format_number(float(point))]
    except (ValueError, OverflowError, KeyError):
        shown = f"'{point}' is not a cut point of '{column.name}'."
        listed = f" Those of the data set: {', '.join(list(places)[:20])}." if places else " It has none."
        raise RequestError(shown + listed) from None


class Condition(FrozenModel):
    """A record satisfies it if its cell of ``column`` lies in ``first`` .. ``last``."""

    column: str
    first: int
    last: int

    @property
    def cells(self) -> range:
        """Codes of the cells that satisfy the condition."""
        return range(self.first, self.last + 1)

    def holds(self, cell: int) -> bool:
        """Whether a cell code satisfies the condition."""
        return self.first <= cell <= self.last

    def text(self, schema: Schema | ChildTable) -> str:
        """Plain text, such as ``age > 60``; :func:`parse_condition` reads it back."""
        return self.text_on(schema.column(self.column))

    def text_on(self, column: Column) -> str:
        """The same, given the column itself."""
        if self.first == self.last and column.cells[self.first] in RESERVED:
            return f"{self.column}{column.sign} {column.cells[self.first]}"
        if isinstance(column, NumericColumn):
            return self._numeric_text(column)
        return self._category_text(column)

    def _numeric_text(self, column: NumberColumn) -> str:
        unit = column.unit if column.for_people else ""
        low, high = with_unit(column.marks[self.first], unit), with_unit(column.marks[self.last + 1], unit)
        if self.first == 0:
            return f"{self.column} <= {high}"
        if self.last == len(column.cells) - 2:
            return f"{self.column} > {low}"
        return f"{with_unit(column.marks[self.first], unit, once=True)} < {self.column} <= {high}"

    def _category_text(self, column: Column) -> str:
        if self.first == self.last:
            return f"{self.column}{column.sign} {column.cells[self.first]}"
        if self.first == 0:
            return f"{self.column} <= {column.cells[self.last]}"
        if self.last == len(column.classes) - 1:
            return f"{self.column} > {column.cells[self.first - 1]}"
        return f"{column.cells[self.first - 1]} < {self.column} <= {column.cells[self.last]}"


def cell_conditions(column: Column, *, reserved: bool, cuts: Cuts = ALL_CUTS) -> list[Condition]:
    """One condition per cell, or per run of cells between two cuts, and the reserved cells if asked for."""
    known = len(column.classes)
    ends = [*cuts[column.name], known - 1] if column.name in cuts else range(known)
    conditions, first = [], 0
    for last in ends:
        conditions.append(Condition(column=column.name, first=first, last=last))
        first = last + 1
    return conditions + (_reserved_conditions(column) if reserved else [])


def threshold_conditions(column: Column, *, reserved: bool, cuts: Cuts = ALL_CUTS) -> list[Condition]:
    """``<=`` and ``>`` at every cut of an ordered column, and reserved cells if asked."""
    known = len(column.classes)
    conditions = []
    for edge in cuts_of(column, cuts):
        conditions.append(Condition(column=column.name, first=0, last=edge))
        conditions.append(Condition(column=column.name, first=edge + 1, last=known - 1))
    return conditions + (_reserved_conditions(column) if reserved else [])


def _reserved_conditions(column: Column) -> list[Condition]:
    return [
        Condition(column=column.name, first=code, last=code)
        for code, cell in enumerate(column.cells)
        if cell in RESERVED
    ]


def schema_conditions(
    schema: Schema, target: str, *, thresholds: bool, reserved: bool, cuts: Cuts = ALL_CUTS
) -> list[Condition]:
    """Every condition over the columns other than ``target``, in schema order.

    ``thresholds`` gives ordered columns ``<=`` / ``>`` conditions; otherwise each record
    satisfies exactly one condition per column.
    """
    conditions: list[Condition] = []
    for column in schema:
        if column.name == target:
            continue
        make = threshold_conditions if thresholds and column.ordered else cell_conditions
        conditions += make(column, reserved=reserved, cuts=cuts)
    return conditions


def split_conditions(schema: Schema, target: str, *, reserved: bool, cuts: Cuts = ALL_CUTS) -> list[Condition]:
    """Every binary question over the columns other than ``target``, each once.

    Ordered columns: ``<=`` at every cut; others: ``= category``, but for a column of
    two categories only one, ``yes`` of a yes/no column. If ``reserved``, ``= (missing)`` too,
    and ``= (other)`` if the column has that cell; nobody is asked for missing values of a column
    that has none.
    """
    conditions: list[Condition] = []
    for column in schema:
        if column.name == target:
            continue
        codes = range(len(column.classes))
        if column.ordered:
            ranges = [(0, edge) for edge in cuts_of(column, cuts)]
        elif len(codes) == 2:
            ranges = [(1, 1) if isinstance(column, BooleanColumn) else (0, 0)]
        else:
            ranges = [(code, code) for code in codes]
        if reserved:
            beyond = range(len(codes), len(column.cells))
            ranges += [(code, code) for code in beyond if code not in column.unsaid]
        conditions += [Condition(column=column.name, first=first, last=last) for first, last in ranges]
    return conditions


_BETWEEN = r"(?P<low>{value}) < (?P<name>{name}) (?:<=|≤) (?P<high>{value})"
_COMPARISON = re.compile(r"\s*(?P<sign><=|≤|>=|≥|=|>|<)\s*(?P<value>.+)")
_TYPED = {"≤": "<=", "≥": ">="}


def parse_condition(text: str, schema: Schema) -> Condition:
    """Read one condition: ``column = value``, ``column <= edge``, ``column > edge``, or between two edges.

    ``≤`` is ``<=``, and ``edge < column <= edge`` is both.

    Raises
    ------
    RequestError
        If it is none of these, or names no category or public edge.
    SchemaError
        If it names no column.
    """
    text = text.strip()
    known = _known_column(text, schema)
    between = _between(text, schema)
    if between and (known is None or known[1] == "<"):
        high = parse_condition(f"{between['name']} <= {between['high']}", schema)
        low = parse_condition(f"{between['name']} > {between['low']}", schema)
        if low.first > high.last:
            raise RequestError(f"No value satisfies '{text}'.")
        return Condition(column=high.column, first=low.first, last=high.last)
    column, sign, value = known or _unknown_column(text, schema)
    if sign == "=":
        return _equality(column, value)
    if sign in {"<", ">="}:
        raise RequestError("Use '<=' or '>': each bin holds its upper edge.")
    return _threshold(column, sign, value)


def _known_column(text: str, schema: Schema) -> tuple[Column, str, str] | None:
    """Column, sign and value; a column's name may itself hold signs, so the longest name wins."""
    for column in sorted(schema, key=lambda column: -len(column.name)):
        match = _COMPARISON.fullmatch(text.removeprefix(column.name))
        if text.startswith(column.name) and match:
            return column, _TYPED.get(match["sign"], match["sign"]), match["value"]
    return None


def _between(text: str, schema: Schema) -> re.Match[str] | None:
    """Edges and name of what lies between two edges; the longest name wins, and edges may hold spaces."""
    names = [column.name for column in schema if f" < {column.name} " in text]
    for name in sorted(names, key=len, reverse=True):
        match = re.fullmatch(_BETWEEN.format(value=".+", name=re.escape(name)), text)
        if match:
            return match
    return re.fullmatch(_BETWEEN.format(value=r"\S+", name=".+"), text)


def _unknown_column(text: str, schema: Schema) -> NoReturn:
    match = _COMPARISON.search(text)
    if match:
        schema.column(text[: match.start()])
    raise RequestError(f"'{text}' is not a condition. Write 'column = value', 'column <= edge' or 'column > edge'.")


def parse_conjunction(text: str, schema: Schema) -> list[Condition]:
    """Read conditions joined by ``and``, also where a name or category holds that word.

    Raises
    ------
    RequestError, SchemaError
        If some condition cannot be read.
    """
    words = text.split(" and ")
    faults: list[RequestError | SchemaError] = []
    for end in range(1, len(words) + 1):
        try:
            first = parse_condition(" and ".join(words[:end]), schema)
        except (RequestError, SchemaError) as fault:
            faults.append(fault)
            continue
        rest = words[end:]
        return [first, *(parse_conjunction(" and ".join(rest), schema) if rest else [])]
    raise faults[0]


def _equality(column: Column, value: str) -> Condition:
    if isinstance(column, NumericColumn) and value != MISSING:
        raise RequestError(f"'{column.name}' is a number: compare it with '<=' or '>'.")
    codes = {cell: code for code, cell in enumerate(column.cells)}
    code = codes.get(value)
    if code is None and isinstance(column, BooleanColumn):
        code = cell_of(column, value)
        code = None if column.cells[code] in {OTHER, MISSING} else code
    if code is None:
        raise RequestError(f"'{value}' is not a category of '{column.name}'.")
    return Condition(column=column.name, first=code, last=code)


def _threshold(column: Column, sign: str, value: str) -> Condition:
    if not column.ordered:
        raise RequestError(f"'{column.name}' has no order: use '='.")
    numeric, last = isinstance(column, NumericColumn), len(column.classes) - 1
    marks = column.marks[1:] if isinstance(column, NumericColumn) else column.classes
    wanted = _plain(value) if numeric else value
    # Everything known is "<=" the last mark; nothing is above it.
    if wanted not in (marks if sign == "<=" else marks[:-1]):
        listed = ", ".join(marks[:-1][:20])
        raise RequestError(f"'{value}' is not a public edge of '{column.name}'. Edges: {listed}.")
    edge = marks.index(wanted)
    if sign == "<=":
        return Condition(column=column.name, first=0, last=edge)
    return Condition(column=column.name, first=edge + 1, last=last)


def _plain(value: str) -> str:
    try:
        return format_number(float(value))
    except (ValueError, OverflowError):
        return value


def pretty(condition: str) -> str:
    """A condition as people write it: ``age ≤ 60 or missing``."""
    for written, shown in ((" <= ", " ≤ "), ("(missing)", "missing"), ("(other)", "other")):
        condition = condition.replace(written, shown)
    return condition
