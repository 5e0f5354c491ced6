"""The columns of a schema: what values each may have, and what a model may ask of it."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, TypeAdapter, field_validator, model_validator

from dpcore.arrays import Array
from dpcore.domain.derivations import Derivation, facts_of
from dpcore.domain.schemas.names import Name, OneLine, SchemaPart
from dpcore.domain.schemas.origins import Origin

OTHER = "(other)"
MISSING = "(missing)"
RESERVED = (OTHER, MISSING)
MAX_COLUMNS = 1000
MAX_CATEGORIES = 1000
MAX_BINS = 256
MAX_MISSING_CODES = 100


#: Which side of a redescription a column may stand on.
View = Literal["left", "right"]
#: How a rule over several tables may ask about a column: one category, a cut point, a group.
Mode = Literal["equal", "threshold", "member"]
#: What is made of the values that one person has in several rows.
Summary = Literal["count", "any", "all", "minimum", "maximum", "mean", "first", "last"]
#: Whether a value must be spelled as the category is.
Matching = Literal["exact", "loose"]


class _Column(SchemaPart):
    """What columns of every type have."""

    ordered: ClassVar[bool] = False
    """Whether ``<=`` and ``>`` make sense between its cells."""
    name: Name
    label: Annotated[str, Field(max_length=128), OneLine] = ""
    """What people call the column: ``Discharge``. Its name, if empty."""
    description: str = Field(default="", max_length=500)
    target: bool = False
    view: View | None = None
    modes: tuple[Mode, ...] | None = None
    missing: Literal["possible", "never"] = "possible"
    """``never``: everybody has a value, so that texts do not speak of missing ones. One that is missing all the same
    has its cell as in any other column."""
    missing_codes: tuple[Name, ...] = Field(default=(), max_length=MAX_MISSING_CODES)
    """Values that stand for an absent one: ``-9``, ``?``. Case does not count; ``-9`` and ``-9.0`` are the same number
    in a numeric column."""
    origin: Origin | None = None
    """Where its facts come from, if not from where the schema's others do."""
    derive: Derivation | None = None
    """How its values are made of the columns of a file; ``None``: it is one of them."""
    summary: Summary | None = None
    """What of a person's rows makes the one row that is kept; ``None``: the value of the row that is. ``count`` counts
    the rows, and needs no column in the file."""
    _for_people: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _told_by_derivation(cls, content: object) -> object:
        return facts_of(content, cls.model_fields) if isinstance(content, dict) else content

    @model_validator(mode="after")
    def _possible_derivation(self) -> Self:
        if self.derive is not None and self.name in self.derive.sources and not self.derive.keeps_made:
            raise ValueError(f"what is made of '{self.name}' needs a name of its own")
        return self

    @property
    def for_people(self) -> bool:
        """Whether conditions on it are told to people only; no program reads them back."""
        return self._for_people

    def told(self) -> Self:
        """The same column, of which conditions are for people: only ``labels`` makes such columns."""
        shown = self.model_copy()
        shown._for_people = True
        return shown

    @property
    def sign(self) -> str:
        """What stands behind its name where it has one of its cells: ``sex = male``, ``Sex: male``."""
        return ":" if self.for_people else " ="

    @cached_property
    def unsaid(self) -> frozenset[int]:
        """Codes of cells that texts leave out: that of missing values, if there are none."""
        return frozenset({self.cells.index(MISSING)} if self.missing == "never" else ())

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of a file that its values are made of."""
        if self.summary == "count":
            return ()
        return (self.name,) if self.derive is None else self.derive.sources

    @property
    def made(self) -> str:
        """What its values are made of, for people; empty if they stand in the file as they are."""
        if self.summary == "count":
            return "the number of a person's rows"
        itself = "" if self.summary is None else f"'{self.name}'"
        derived = itself if self.derive is None else self.derive.words
        return derived if self.summary is None else f"{self.summary} of a person's rows: {derived}"

    @model_validator(mode="after")
    def _possible_summary(self) -> Self:
        if self.summary is not None and self.summary not in self.possible_summaries:
            raise ValueError(f"the summary is one of {', '.join(self.possible_summaries)}")
        if self.summary == "count" and self.derive is not None:
            raise ValueError("a count of rows is made of no column")
        return self

    @property
    def possible_summaries(self) -> tuple[Summary, ...]:
        """What may be made of the values in a person's rows."""
        return ("first", "last", "minimum", "maximum") if self.ordered else ("first", "last")

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

    @property
    def possible_summaries(self) -> tuple[Summary, ...]:
        return (*super().possible_summaries, "any", "all")


class CategoryGroup(SchemaPart):
    """Categories of one column that belong together, such as the codes of heart diseases."""

    name: Name
    members: tuple[Name, ...] = Field(min_length=1, max_length=MAX_CATEGORIES)


class CategoryLabel(SchemaPart):
    """What people call a category: ``died`` for the code ``11``."""

    category: Name
    label: Annotated[str, Field(min_length=1, max_length=200), OneLine]


def folded(text: str) -> str:
    """A text without what loose matching ignores: case, accents, and how much space there is."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(sign for sign in apart if not unicodedata.combining(sign)).casefold().split())


class _Listed(_Column):
    """A column with a list of categories."""

    categories: tuple[Name, ...] = Field(min_length=1, max_length=MAX_CATEGORIES)
    labels: tuple[CategoryLabel, ...] = Field(default=(), max_length=MAX_CATEGORIES)
    """What people call the categories that are codes."""
    matching: Matching = "exact"
    """``loose``: values match a category whatever their case, accents and number of spaces."""
    groups: tuple[CategoryGroup, ...] = Field(default=(), max_length=MAX_CATEGORIES)

    @field_validator("labels", mode="before")
    @classmethod
    def _labels_from_mapping(cls, labels: object) -> object:
        if isinstance(labels, dict):
            return [{"category": str(category), "label": label} for category, label in labels.items()]
        return labels

    @model_validator(mode="after")
    def _known_labels(self) -> Self:
        named = [each.category for each in self.labels]
        if len(set(named)) != len(named):
            raise ValueError("give each category one label")
        unknown = [category for category in named if category not in self.categories]
        if unknown:
            raise ValueError(f"the label of '{unknown[0]}' belongs to no category")
        return self

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        absent = {code.lower() for code in self.missing_codes}
        twice = [category for category in self.categories if category.lower() in absent]
        if twice:
            raise ValueError(f"'{twice[0]}' is listed as a category and as a code for missing values")
        if self.matching == "loose":
            seen = {folded(cell): cell for cell in RESERVED}
            for category in self.categories:
                other = seen.setdefault(folded(category), category)
                if other != category:
                    raise ValueError(f"loose matching cannot tell '{other}' from '{category}'")
        return self

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
    ordered: ClassVar[bool] = True


class _Numeric(_Column):
    ordered: ClassVar[bool] = True
    lower: float
    upper: float
    edges: tuple[float, ...] | None = Field(default=None, max_length=MAX_BINS - 1)
    bins: int | None = Field(default=None, ge=1, le=MAX_BINS)
    unit: str = Field(default="", max_length=32)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_bounds()
        if self.edges is None and self.bins is None:
            raise ValueError("give a number of equal-width bins, for example 'bins: 8', or edges between bins")
        if self.edges is not None and self.bins is not None:
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
    def possible_summaries(self) -> tuple[Summary, ...]:
        return (*super().possible_summaries, "mean", "count")

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
    def marks(self) -> tuple[str, ...]:
        """Texts of the bounds and of the cut points between them, in order: shape (n_bins + 1,)."""
        return tuple(format_number(value) for value in (self.lower, *self.inner_edges, self.upper))

    @cached_property
    def cells(self) -> tuple[str, ...]:
        pairs = list(pairwise(self.marks))
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
#: Types of columns of numbers, and of those that list their categories.
NumberColumn = IntegerColumn | RealColumn
ListedColumn = CategoricalColumn | OrdinalColumn
#: Adapter that builds one column from a mapping with a ``type`` key.
COLUMN_ADAPTER: TypeAdapter[Column] = TypeAdapter(Column)


def format_number(value: float) -> str:
    """Shortest exact text of a number, without a trailing ``.0``."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
