"""The public domain of a data set: what anybody may know before seeing a record.

A schema is written by the custodian, in YAML or JSON. Every shape, candidate split and label
that a learner uses is derived from it, never from the records.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from dpcore.errors import SchemaError
from dpcore.validation import explain_validation

OTHER = "(other)"
MISSING = "(missing)"
RESERVED = (OTHER, MISSING)
SCHEMA_VERSION: Final = 1
MAX_COLUMNS = 1000
MAX_CATEGORIES = 1000
MAX_BINS = 256

Name = Annotated[str, Field(min_length=1, max_length=128)]
#: Which side of a redescription a column may stand on.
View = Literal["left", "right"]


def _has_control_character(text: str) -> bool:
    return any(unicodedata.category(character) == "Cc" for character in text)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class _Column(_Frozen):
    name: Name
    description: str = Field(default="", max_length=500)
    target: bool = False
    view: View | None = None

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if _has_control_character(name):
            raise ValueError("a column name must not contain control characters")
        return name

    @property
    def cells(self) -> tuple[str, ...]:
        """Labels of every member of the column's public domain, in code order."""
        raise TypeError("an abstract column has no cells")

    @property
    def ordered(self) -> bool:
        """Whether ``<=`` and ``>`` make sense between this column's cells."""
        return False

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels that a model predicts when this column is the target."""
        return tuple(cell for cell in self.cells if cell not in RESERVED)


class BooleanColumn(_Column):
    """A yes/no column. Accepts true/false, yes/no, 1/0 in any case."""

    type: Literal["boolean"] = "boolean"

    @property
    def cells(self) -> tuple[str, ...]:
        return ("no", "yes", OTHER, MISSING)


class _Listed(_Column):
    categories: tuple[Name, ...] = Field(min_length=1, max_length=MAX_CATEGORIES)

    @field_validator("categories")
    @classmethod
    def _distinct(cls, categories: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(categories)) != len(categories):
            raise ValueError("categories must be distinct")
        if any(_has_control_character(category) for category in categories):
            raise ValueError("a category must not contain control characters")
        if any(category in RESERVED for category in categories):
            raise ValueError(f"{OTHER} and {MISSING} are added to every column and need no listing")
        return categories

    @property
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

    @property
    def inner_edges(self) -> tuple[float, ...]:
        """Cut points inside the bounds: bin i holds edge[i-1] < value <= edge[i]."""
        if self.edges is not None:
            return self.edges
        assert self.bins is not None
        steps = np.linspace(self.lower, self.upper, self.bins + 1)[1:-1]
        return tuple(self._snap(steps))

    def _snap(self, steps: np.ndarray[Any, Any]) -> list[float]:
        return [float(f"{step:.12g}") for step in steps]

    @property
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

    def _snap(self, steps: np.ndarray[Any, Any]) -> list[float]:
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


class PrivacyUnit(_Frozen):
    """Who is protected: a row, or the person that ``column`` identifies.

    Attributes
    ----------
    column : str or None
        Column that identifies the person. It is never stored. ``None``: each row is one person.
    max_rows_per_person : int
        Rows kept for one person, chosen at random at ingestion.
    """

    column: Name | None = None
    max_rows_per_person: int = Field(default=1, ge=1, le=1000)

    @model_validator(mode="after")
    def _one_row_each(self) -> Self:
        if self.column is None and self.max_rows_per_person != 1:
            raise ValueError("without a person column each row is one person: keep 1 row")
        return self


class Schema(_Frozen):
    """The declared, public description of a data set.

    Attributes
    ----------
    columns : tuple of columns
        Columns that are stored. Others in an uploaded file are dropped at ingestion.
    max_rows : int
        Public upper limit N on the number of rows kept; a round number, not the row count.
    holdout_percent : int
        Chance, per person, of being put in the hold-out part at ingestion.
    """

    version: Literal[1] = SCHEMA_VERSION
    name: Name
    description: str = Field(default="", max_length=2000)
    privacy_unit: PrivacyUnit = PrivacyUnit()
    max_rows: int = Field(ge=1, le=100_000_000)
    holdout_percent: int = Field(default=20, ge=0, le=50)
    columns: tuple[Column, ...] = Field(min_length=1, max_length=MAX_COLUMNS)

    @model_validator(mode="after")
    def _distinct_names(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("column names must be distinct")
        if self.privacy_unit.column in names:
            raise ValueError("the column that identifies a person cannot also be a stored column")
        return self

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.columns)

    def column(self, name: str) -> Any:
        """Return the column called ``name``.

        Raises
        ------
        SchemaError
            If there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns[:20])
        raise SchemaError(f"There is no column '{name}' in this data set. Columns: {known}.")

    def index(self, name: str) -> int:
        """Position of the column called ``name``."""
        return self.columns.index(self.column(name))

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns that the custodian marked as targets."""
        return tuple(column.name for column in self.columns if column.target)

    def view(self, side: View) -> tuple[str, ...]:
        """Names of the columns on one side of redescriptions, in schema order."""
        return tuple(column.name for column in self.columns if column.view == side)

    @property
    def hash(self) -> str:
        """SHA-256, in hexadecimal, of the form without defaults.

        A field that a later version adds, with a default, leaves the hash of older schemas.
        """
        canonical = json.dumps(self._written(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    def to_json(self, indent: int | None = 2) -> str:
        """JSON with every field, defaults included, in declaration order."""
        return json.dumps(self.model_dump(mode="json"), indent=indent, ensure_ascii=False)

    def to_yaml(self) -> str:
        """YAML form, defaults left out, for people to read and edit."""
        return yaml.safe_dump(self._written(), sort_keys=False, allow_unicode=True)

    def _written(self) -> dict[str, Any]:
        content = {"version": self.version, **self.model_dump(mode="json", exclude_defaults=True)}
        content["columns"] = [_compact(column) for column in self.columns]
        return content

    @classmethod
    def from_mapping(cls, content: object) -> Schema:
        """Build a schema from parsed YAML or JSON; errors become one readable sentence.

        Raises
        ------
        SchemaError
            If the mapping is no valid schema. The message names each faulty field.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise SchemaError(explain_validation(error, content)) from None

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """Parse JSON, or else YAML.

        Raises
        ------
        SchemaError
            If the text is neither, or is no valid schema.
        """
        try:
            return cls.from_mapping(_parse(text))
        except (yaml.YAMLError, ValueError, RecursionError):
            raise SchemaError("The schema is not valid YAML or JSON.") from None

    @classmethod
    def from_file(cls, path: str | Path) -> Schema:
        """Read a schema file.

        Raises
        ------
        SchemaError
            If the file cannot be read as UTF-8 text or is no valid schema.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise SchemaError(f"The schema file {path} cannot be read as UTF-8 text.") from None
        return cls.from_text(text)


def _parse(text: str) -> object:
    """JSON first: YAML refuses or folds a few characters that JSON strings may hold."""
    try:
        return json.loads(text)
    except ValueError:
        return yaml.safe_load(text)


def format_number(value: float) -> str:
    """Shortest exact text of a number, without a trailing ``.0``."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _compact(column: Any) -> dict[str, Any]:
    head = {"name": column.name, "type": column.type}
    return {**head, **column.model_dump(mode="json", exclude_defaults=True)}
