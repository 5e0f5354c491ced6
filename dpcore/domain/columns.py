"""The columns of a schema: what values each may have, and what a model may ask of it."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    field_validator,
    model_validator,
)

from dpcore.arrays import Array
from dpcore.frozen import FrozenModel

OTHER = "(other)"
MISSING = "(missing)"
RESERVED = (OTHER, MISSING)
MAX_COLUMNS = 1000
MAX_CATEGORIES = 1000
MAX_BINS = 256


def _plain(name: str) -> str:
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise ValueError("a name must not contain control characters")
    return name


Name = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_plain)]
#: Which side of a redescription a column may stand on.
View = Literal["left", "right"]
#: How a rule over several tables may ask about a column: one category, a cut point, a group.
Mode = Literal["equal", "threshold", "member"]


class SchemaPart(FrozenModel):
    """Base of everything in a schema: spaces around a text do not count."""

    model_config = ConfigDict(str_strip_whitespace=True)


class _Column(SchemaPart):
    name: Name
    description: str = Field(default="", max_length=500)
    target: bool = False
    view: View | None = None
    modes: tuple[Mode, ...] | None = None

    @model_validator(mode="after")
    def _possible_modes(self) -> Self:
        for mode in self.modes or ():
            if mode not in self.possible_modes:
                known = ", ".join(self.possible_modes)
                raise ValueError(f"a rule cannot ask '{mode}' of this column, only {known}")
        return self

    @property
    def possible_modes(self) -> tuple[Mode, ...]:
        """Ways in which a rule over several tables can ask about the column."""
        return ("threshold",) if self.ordered else ("equal",)

    @property
    def asked_by(self) -> tuple[Mode, ...]:
        """Ways in which it does: those declared as ``modes``, or else all that are possible."""
        return self.possible_modes if self.modes is None else self.modes

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """Labels of every member of the column's public domain, in code order."""
        raise TypeError("an abstract column has no cells")

    @property
    def ordered(self) -> bool:
        """Whether ``<=`` and ``>`` make sense between this column's cells."""
        return False

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Labels that a model predicts when this column is the target."""
        return tuple(cell for cell in self.cells if cell not in RESERVED)


class BooleanColumn(_Column):
    """A yes/no column. Accepts true/false, yes/no, 1/0 in any case."""

    type: Literal["boolean"] = "boolean"

    @cached_property
    def cells(self) -> tuple[str, ...]:
        return ("no", "yes", OTHER, MISSING)


class CategoryGroup(SchemaPart):
    """Categories of one column that belong together, such as the codes of heart diseases."""

    name: Name
    members: tuple[Name, ...] = Field(min_length=1, max_length=MAX_CATEGORIES)


class _Listed(_Column):
    categories: tuple[Name, ...] = Field(min_length=1, max_length=MAX_CATEGORIES)
    groups: tuple[CategoryGroup, ...] = Field(default=(), max_length=MAX_CATEGORIES)

    @field_validator("groups", mode="before")
    @classmethod
    def _from_mapping(cls, groups: object) -> object:
        if isinstance(groups, dict):
            return [{"name": name, "members": members} for name, members in groups.items()]
        return groups

    @model_validator(mode="after")
    def _known_members(self) -> Self:
        names = [group.name for group in self.groups]
        if len({*names, *self.categories}) != len(names) + len(self.categories):
            raise ValueError("a group needs a name of its own, which no category has")
        known, seen = set(self.categories), set[frozenset[str]]()
        for group in self.groups:
            members = frozenset(group.members)
            unknown = [member for member in group.members if member not in known]
            if unknown:
                raise ValueError(f"the group '{group.name}' holds '{unknown[0]}', no category")
            if len(members) < 2:
                raise ValueError(f"the group '{group.name}' needs at least two categories")
            if members in seen:
                raise ValueError(f"the group '{group.name}' holds the same as another one")
            seen.add(members)
        return self

    @property
    def possible_modes(self) -> tuple[Mode, ...]:
        first: tuple[Mode, ...] = ("threshold", "equal") if self.ordered else ("equal",)
        return (*first, "member") if self.groups else first

    @field_validator("categories")
    @classmethod
    def _distinct(cls, categories: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(categories)) != len(categories):
            raise ValueError("categories must be distinct")
        if any(category in RESERVED for category in categories):
            raise ValueError(f"{OTHER} and {MISSING} are added to every column and need no listing")
        return categories

    @cached_property
    def cells(self) -> tuple[str, ...]:
        return (*self.categories, *RESERVED)


class CategoricalColumn(_Listed):
    """A column with a fixed list of unordered categories."""

    type: Literal["categorical"] = "categorical"


class OrdinalColumn(_Listed):
    """A column with a fixed list of categories, in increasing order."""

    type: Literal["ordinal"] = "ordinal"

    @property
    def ordered(self) -> bool:
        return True


class _Numeric(_Column):
    lower: float
    upper: float
    edges: tuple[float, ...] | None = Field(default=None, max_length=MAX_BINS - 1)
    bins: int | None = Field(default=None, ge=1, le=MAX_BINS)
    unit: str = Field(default="", max_length=32)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_bounds()
        if (self.edges is None) == (self.bins is None):
            raise ValueError("give either edges or a number of equal-width bins, not both")
        if any(not self.lower <= edge < self.upper for edge in self.inner_edges):
            raise ValueError("edges must lie between lower and upper")
        if any(a >= b for a, b in pairwise(self.inner_edges)):
            raise ValueError(
                "edges must increase"
                if self.bins is None
                else "lower and upper are too close together for so many bins"
            )
        return self

    def _check_bounds(self) -> None:
        if not np.isfinite(self.upper - self.lower):
            raise ValueError("lower and upper must be finite numbers")
        if not self.lower < self.upper:
            raise ValueError("lower must be below upper")

    @property
    def ordered(self) -> bool:
        return True

    @cached_property
    def inner_edges(self) -> tuple[float, ...]:
        """Cut points inside the bounds: bin i holds edge[i-1] < value <= edge[i]."""
        if self.edges is not None:
            return self.edges
        assert self.bins is not None
        steps = np.linspace(self.lower, self.upper, self.bins + 1)[1:-1]
        return tuple(self._snap(steps))

    def _snap(self, steps: Array) -> list[float]:
        return [float(f"{step:.12g}") for step in steps]

    @cached_property
    def cells(self) -> tuple[str, ...]:
        points = [format_number(value) for value in (self.lower, *self.inner_edges, self.upper)]
        pairs = list(pairwise(points))
        first = f"[{pairs[0][0]}, {pairs[0][1]}]"
        return (first, *(f"({low}, {high}]" for low, high in pairs[1:]), MISSING)


class IntegerColumn(_Numeric):
    """A whole-number column with public bounds."""

    type: Literal["integer"] = "integer"

    def _check_bounds(self) -> None:
        super()._check_bounds()
        if self.lower != int(self.lower) or self.upper != int(self.upper):
            raise ValueError("the bounds of an integer column must be whole numbers")

    def _snap(self, steps: Array) -> list[float]:
        return sorted({float(np.floor(step)) for step in steps})


class RealColumn(_Numeric):
    """A real-valued column with public bounds."""

    type: Literal["real"] = "real"


Column = Annotated[
    BooleanColumn | CategoricalColumn | OrdinalColumn | IntegerColumn | RealColumn,
    Field(discriminator="type"),
]
NumericColumn = (IntegerColumn, RealColumn)
#: Adapter that builds one column from a mapping with a ``type`` key.
COLUMN_ADAPTER: TypeAdapter[Any] = TypeAdapter(Column)


def format_number(value: float) -> str:
    """Shortest exact text of a number, without a trailing ``.0``."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
