"""What a schema says of any table: its columns, and which of a person's rows are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.domain.columns import Column
from dpcore.domain.dates import DateFormat
from dpcore.domain.schemas.names import Name, SchemaPart
from dpcore.errors import SchemaError

Keep = Literal["random", "first", "last"]
#: Column of stored rows, where these are public, with the place of each in the order of time; none of a schema can be
#: called so. What is stored of a column that tells the order is less than what put the rows in order.
TIME: Final = "\ttime"


def absent(value: object) -> bool:
    """Whether a field is left out wherever a schema is written: older ones stay what they are."""
    return not value


class RowFilter(SchemaPart):
    """Which rows of a file are those of a table: the ones with one value in a column, which need not be stored."""

    column: Name
    value: str = Field(default="", max_length=200)
    """Empty: rows without a value there."""


class RowSelection(SchemaPart):
    """Which rows of a file belong to a table, and which of a person's are kept, if there are more than may be."""

    where: RowFilter | None = Field(default=None, exclude_if=absent)
    """Which rows of the file; ``None``: all."""
    keep: Keep = "random"
    """``random``, or those that come ``first`` or ``last`` by ``order_by``; among rows that come at once, and among
    rows without order, chance decides, never the order of the file."""
    order_by: Name | None = None
    """Column of the file with dates or numbers. It need not be stored."""
    order_format: DateFormat = ""
    """How its dates are written, in the letters of ``strptime``; ISO 8601, if empty."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.keep != "random" and self.order_by is None:
            raise ValueError(f"to keep the {self.keep} rows, say with 'order_by' which column tells their order")
        return self

    @property
    def chosen(self) -> str:
        """Which rows are kept, for people; empty if chance chooses them."""
        return "" if self.keep == "random" else f"the {self.keep} by '{self.order_by}'"

    def unordered(self) -> Self:
        """The same for rows of their own file, that no column puts in order."""
        return self.model_copy(update={"keep": "random", "order_by": None, "where": None})


class Table(SchemaPart):
    """Columns under names of their own. Subclasses declare the field, for its place in texts."""

    if TYPE_CHECKING:
        columns: tuple[Column, ...]

    @model_validator(mode="after")
    def _distinct_columns(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("column names must be distinct")
        return self

    @model_validator(mode="after")
    def _distinct_sources(self) -> Self:
        made = {column.name: column for column in self.columns if column.derive is not None}
        for column in made.values():
            for source in column.sources:
                if source in made and source not in made[source].sources:
                    raise ValueError(
                        f"'{column.name}' is made of the file's column '{source}', but here '{source}' is made of "
                        "others: rename it"
                    )
        return self

    @property
    def file_columns(self) -> tuple[str, ...]:
        """Columns of a file that are read, which are those of the table or what they are made of."""
        sources = [source for column in self.columns for source in column.sources]
        where = self.keeping.where
        further = (self.keeping.order_by, None if where is None else where.column)
        return tuple(dict.fromkeys([*sources, *(name for name in further if name is not None)]))

    @property
    def keeping(self) -> RowSelection:
        """Which of a person's rows are kept."""
        raise NotImplementedError

    def lacking(self, present: Iterable[str]) -> list[str]:
        """Columns without which values are missing; a column that is made of others may itself be there."""
        known = set(present)
        needed = (source for column in self.columns if column.name not in known for source in column.sources)
        return [source for source in dict.fromkeys(needed) if source not in known]

    def column(self, name: str) -> Column:
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
        raise SchemaError(f"There is no column '{name}' in {self._place}. Columns: {known}.")

    def index(self, name: str) -> int:
        """Position of the column called ``name``."""
        found = self.column(name)
        return next(place for place, column in enumerate(self.columns) if column is found)

    @property
    def _place(self) -> str:
        return "this data set"
