"""What a clause may say of rows beyond that one exists: how many, in which order, what two share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, NamedTuple

from dpcore.domain.schemas.schema import ChildTable

#: What may be said of the rows of a table: that one exists, how many, which comes last or later, that two
#: have the same value, and which rows of another table belong to one.
Quantifier = Literal["exists", "counts", "order", "alike", "within"]
#: Which row of a person is meant, by the order in which rows are kept.
Row = Literal["", "first", "last"]
#: A column whose value two rows may share has at least so many categories: of three rows, two
#: always have the same value of a column with two.
_LEAST_CATEGORIES: Final = 3


class Form(NamedTuple):
    """How a conjunction about one row is said of all rows of a person.

    Attributes
    ----------
    least : int
        So many rows satisfy it.
    row : {"", "first", "last"}
        Instead: this row does.
    alike : str
        Instead: two rows do that share the value of this column.
    then : bool
        Instead: a row does, and a later one satisfies another conjunction.
    """

    least: int = 1
    row: Row = ""
    alike: str = ""
    then: bool = False

    @property
    def quantifier(self) -> Quantifier:
        """What it says of rows."""
        if self.alike:
            return "alike"
        if self.row or self.then:
            return "order"
        return "counts" if self.least > 1 else "exists"

    def implies(self, other: Form) -> bool:
        """Whether it says all that another form does of a conjunction that is no narrower.

        What follows from a later row is left to the lattice.
        """
        if other == EXISTS:
            return True
        if other.least > 1:
            return self.least >= other.least or (bool(self.alike) and other.least == 2)
        return self == other


EXISTS: Final = Form()


def forms_of(
    table: ChildTable, quantifiers: Collection[Quantifier], most: int, columns: Collection[str]
) -> tuple[Form, ...]:
    """Forms other than that a row exists, from the schema alone.

    Parameters
    ----------
    most : int
        Rows are counted up to so many.
    columns : collection of str
        Columns of the table that clauses ask about.
    """
    slots = table.max_rows_per_person
    if slots == 1:
        return ()
    found: list[Form] = []
    if "counts" in quantifiers:
        found += [Form(least=least) for least in range(2, min(most, slots) + 1)]
    if "order" in quantifiers and table.keep != "random":
        found += [Form(row=table.keep), Form(then=True)]
    if "alike" in quantifiers:
        found += [Form(alike=column.name) for column in table.columns if column.name in columns and _shared(column)]
    return tuple(found)


def _shared(column: object) -> bool:
    """Whether it means something that two rows have the same value of a column."""
    modes, classes = getattr(column, "asked_by", ()), getattr(column, "classes", ())
    return "equal" in modes and len(classes) >= _LEAST_CATEGORIES
