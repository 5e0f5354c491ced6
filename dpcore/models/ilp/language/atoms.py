"""What a clause may ask: the atoms of the bottom clause, made from the schema alone.

The bottom clause of Zeng et al. (2013, section 5.2) comes from a fake example that satisfies every
predicate of the language. Here it comes from the mode declarations of the schema: which columns may
be asked about, and how. Constants are categories, cut points and groups, all public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpcore.arrays import Flags
from dpcore.domain.columns import RESERVED, CategoricalColumn, Column, Mode, OrdinalColumn
from dpcore.domain.conditions import Condition, cell_conditions, threshold_conditions
from dpcore.domain.schemas.labels import Labels
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.errors import RequestError
from dpcore.frozen import FrozenModel
from dpcore.models.ilp.language.rows import CaseRow, TableRows, Verdict

#: Written in place of a condition where a row of a table need only exist.
ANY = "any"


class Atom(FrozenModel):
    """A condition on one row of a table."""

    table: str = ""
    """Child table of the row; empty for the main table."""
    column: str = ""
    """Column asked about; empty if the row need only exist."""
    cells: tuple[int, ...] = ()
    """Cells of the column that satisfy it, increasing."""
    group: str = ""
    """Name of the group that these cells make up, if they are one."""

    @property
    def exists(self) -> bool:
        """Whether a row need only exist."""
        return not self.column

    @property
    def about(self) -> tuple[str, ...]:
        """Its table and what of a row it asks about: two atoms about the same may exclude each other."""
        return self.table, self.column

    @property
    def length(self) -> int:
        """Number of conditions."""
        return 1

    @property
    def asks(self) -> tuple[tuple[str, str], ...]:
        """Tables and columns that it looks at."""
        return ((self.table, self.column),)

    def fits(self, rows: TableRows) -> Flags:
        """Which rows satisfy it."""
        return rows.among(self.column, self.cells)

    def verdict(self, row: CaseRow) -> Verdict:
        """Whether it surely holds for a row of which some cells are not known, and whether it may."""
        here, fit = row.cells[self.column], frozenset(self.cells)
        return here <= fit, bool(here & fit)

    def condition(self, schema: Schema) -> str:
        """Plain text without the table: ``roof = flat``, ``age > 60``, ``code in heart``."""
        if self.exists:
            return ANY
        if self.group:
            return f"{self.column} in {self.group}"
        bounds = Condition(column=self.column, first=self.cells[0], last=self.cells[-1])
        return bounds.text(schema.table(self.table))

    def called(self, labels: Labels) -> Atom:
        """The same condition in the words of people."""
        return self.model_copy(update={"column": labels.column(self.column, self.table)})

    def text(self, schema: Schema) -> str:
        """Plain text; a child table stands before a colon: ``car: roof = flat``."""
        condition = self.condition(schema)
        return f"{self.table}: {condition}" if self.table else condition


def bottom_atoms(schema: Schema, target: str, *, reserved: bool = False) -> tuple[Atom, ...]:
    """Every atom that the schema declares, main table first, without the target.

    ``reserved`` also asks whether a value is missing or other.
    """
    atoms = list(_column_atoms(schema, "", target, reserved=reserved))
    for child in schema.children:
        atoms.append(Atom(table=child.name))
        atoms += _column_atoms(child, child.name, "", reserved=reserved)
    return tuple(atoms)


def _column_atoms(table: Schema | ChildTable, name: str, target: str, *, reserved: bool) -> Iterable[Atom]:
    """Atoms of one table; of two that ask for the same cells, the first."""
    for column in table.columns:
        seen: set[tuple[int, ...]] = set()
        if column.name == target:
            continue
        for literal, group in _conditions(column, column.asked_by, reserved=reserved):
            cells = tuple(literal) if group else tuple(range(literal[0], literal[-1] + 1))
            if cells not in seen:
                seen.add(cells)
                yield Atom(table=name, column=column.name, cells=cells, group=group)


def _conditions(column: Column, modes: Sequence[Mode], *, reserved: bool) -> Iterable[tuple[list[int], str]]:
    """Cells and group name of each condition on a column: equalities, cut points, groups."""
    if "equal" in modes:
        for literal in cell_conditions(column, reserved=False):
            yield [literal.first], ""
    if "threshold" in modes:
        for literal in threshold_conditions(column, reserved=False):
            yield [literal.first, literal.last], ""
    if "member" in modes and isinstance(column, CategoricalColumn | OrdinalColumn):
        for group in column.groups:
            yield sorted({column.categories.index(member) for member in group.members}), group.name
    if reserved and modes:
        yield from (([code], "") for code, cell in enumerate(column.cells) if cell in RESERVED)


def chosen_atoms(
    schema: Schema, target: str, texts: Sequence[str] | None, *, reserved: bool = False
) -> tuple[Atom, ...]:
    """The atoms called ``texts``, in the order of the schema; all of them if it is ``None``.

    Raises
    ------
    RequestError
        If a text names none.
    """
    atoms = bottom_atoms(schema, target, reserved=reserved)
    if texts is None:
        return atoms
    named = {atom.text(schema): atom for atom in bottom_atoms(schema, target, reserved=True)}
    for text in texts:
        if text not in named:
            examples = ", ".join(f"'{known}'" for known in list(named)[:5])
            raise RequestError(f"'{text}' is not a condition of this data set. Conditions are written like {examples}.")
    wanted = set(texts)
    return tuple(atom for text, atom in named.items() if text in wanted)
