"""What a clause may say of rows beyond that one exists: how many, in which order, what two share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.cells import Cells, conjunctions
from dpcore.models.ilp.language.nested_conditions import MOST_WITHIN, NestedCondition

#: What may be said of the rows of a table: that one exists, how many, which comes last or later, that two
#: have the same value, and which rows of another table belong to one.
Quantifier = Literal["exists", "counts", "order", "alike", "within"]
#: Which row of a person is meant, by the order in which rows are kept.
Row = Literal["", "first", "last"]
#: A column whose value two rows may share has at least so many categories: of three rows, two
#: always have the same value of a column with two.
_LEAST_CATEGORIES: Final = 3


class Form(NamedTuple):
    """How a conjunction about one row is said of all rows of a person."""

    least: int = 1
    """So many rows satisfy it."""
    row: Row = ""
    """Instead: this row does."""
    alike: str = ""
    """Instead: two rows do that share the value of this column."""
    then: bool = False
    """Instead: a row does, and a later one satisfies another conjunction."""

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


def within_atoms(
    schema: Schema, atoms: Sequence[Atom], quantifiers: Collection[Quantifier], most: int, longest: int
) -> Iterator[NestedCondition]:
    """Every condition on a row by the rows that belong to it, one after another: there may be very many.

    Parameters
    ----------
    atoms : sequence of Atom
        Conditions that a clause may use, of all tables.
    most : int
        Rows are counted up to so many, if they are counted.
    longest : int
        Conditions of a clause.

    Raises
    ------
    RequestError
        If there are too many ways to join the conditions.
    """
    if "within" not in quantifiers:
        return
    cells, counted = Cells(atoms), most if "counts" in quantifiers else 1
    for child in schema.children:
        if child.parent is not None:
            yield from _of_table(child, atoms, cells, counted, longest)


def _of_table(
    child: ChildTable, atoms: Sequence[Atom], cells: Cells, counted: int, longest: int
) -> Iterator[NestedCondition]:
    own = [place for place, atom in enumerate(atoms) if atom.table == child.name]
    asked = [place for place in own if not atoms[place].exists]
    anything: list[tuple[int, ...]] = [()] if len(asked) < len(own) else []
    for members in anything + conjunctions(asked, cells, min(MOST_WITHIN, longest)):
        for least in range(1, min(counted, child.max_rows_per_person) + 1):
            found = NestedCondition(
                table=str(child.parent), inner=child.name, atoms=tuple(atoms[member] for member in members), least=least
            )
            if found.length <= longest:
                yield found
