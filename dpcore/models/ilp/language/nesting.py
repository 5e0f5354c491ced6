"""What may be asked of the rows that belong to a row: from the schema alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.cells import Cells, conjunctions
from dpcore.models.ilp.language.forms import Quantifier
from dpcore.models.ilp.language.within import MOST_WITHIN, Within


def within_atoms(
    schema: Schema, atoms: Sequence[Atom], quantifiers: Collection[Quantifier], most: int, longest: int
) -> Iterator[Within]:
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


def _of_table(child: ChildTable, atoms: Sequence[Atom], cells: Cells, counted: int, longest: int) -> Iterator[Within]:
    own = [place for place, atom in enumerate(atoms) if atom.table == child.name]
    asked = [place for place in own if not atoms[place].exists]
    anything: list[tuple[int, ...]] = [()] if len(asked) < len(own) else []
    for members in anything + conjunctions(asked, cells, min(MOST_WITHIN, longest)):
        for least in range(1, min(counted, child.max_rows_per_person) + 1):
            found = Within(
                table=str(child.parent),
                inner=child.name,
                atoms=tuple(atoms[member] for member in members),
                least=least,
            )
            if found.length <= longest:
                yield found
