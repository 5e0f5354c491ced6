"""Which factors follow from which: of two that say one thing, a clause needs but one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpcore.arrays import Flags, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.data.packing import pack_rows, word_count
from dpcore.models.ilp.language.cells import Cells
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.within import RowAtom, Within


class Implications:
    """Which factors follow from which, by the cells of their atoms and by what belongs to what."""

    def __init__(self, atoms: Sequence[RowAtom], cells: Cells, factors: Factors) -> None:
        self._factors = factors
        implied = cells.implied()
        forms = factors.forms
        self._implied = np.array([[one.implies(other) for other in forms] for one in forms], dtype=np.bool_)
        self._two = np.array([form.least == 2 for form in forms], dtype=np.bool_)
        self._then = np.array([form.then for form in forms], dtype=np.bool_)
        self._row = np.array([bool(form.row) for form in forms], dtype=np.bool_)
        self._settled = self._alike(cells)
        self._parents = np.array(factors.parents)
        self._rows = np.array([2 if form.alike else form.least for form in forms], dtype=np.int64)
        self._counted = np.array([form.quantifier in ("exists", "counts") for form in forms], dtype=np.bool_)
        self._below = _rows_below(atoms, factors)
        words = word_count(len(cells.cells))
        self._own = np.zeros((len(factors), words), dtype=np.uint64)
        self._closure = np.zeros((len(factors), words), dtype=np.uint64)
        bits = pack_rows(np.eye(len(cells.cells), dtype=np.bool_))
        closures = pack_rows(implied)
        for place in range(factors.members.shape[1]):
            held = np.flatnonzero(factors.sizes > place)
            self._own[held] |= bits[factors.members[held, place]]
            self._closure[held] |= closures[factors.members[held, place]]

    def _alike(self, cells: Cells) -> Flags:
        """Whether the rows that a factor asks for must share what a form asks for: by form and factor."""
        factors = self._factors
        settled = np.zeros((len(factors.forms), len(factors)), dtype=np.bool_)
        least = np.array([2 if form.alike else form.least for form in factors.forms])[factors.form]
        for which, form in enumerate(factors.forms):
            for factor in np.flatnonzero(least > 1) if form.alike else ():
                members = factors.members[factor, : factors.sizes[factor]].tolist()
                settled[which, factor] = cells.must_share(members, form.alike, int(least[factor]))
        return settled

    def _within(self, other: Ints | Ints32, one: Ints | Ints32) -> Flags:
        """Whether the atoms of each ``other`` follow from those of ``one``."""
        result = np.empty(len(one), dtype=np.bool_)
        _are_within(self._own, self._closure, other.astype(np.int32), one.astype(np.int32), result)
        return result

    def _follows(self, one: Ints32, other: Ints32) -> Flags:
        """Whether each ``other`` holds wherever ``one`` does, both taken as not negated."""
        form, later = self._factors.form, self._factors.later
        first = self._within(other, one)
        result = (self._implied[form[one], form[other]] | self._settled[form[other], one]) & first
        pairs = np.flatnonzero(self._then[form[one]])
        if len(pairs):
            first, one, other = first[pairs], one[pairs], other[pairs]
            second, asked = self._within(other, later[one]), form[other]
            ordered = self._then[asked] & first & self._within(later[other], later[one])
            result[pairs] = ((asked == 0) & (first | second)) | (self._two[asked] & first & second) | ordered
        return result

    def _follows_across(self, one: Ints32, other: Ints32) -> Flags:
        """The same of two tables, where the rows of either may belong to those of the other.

        Of stays with a high value, as many values are high, or more; and every value belongs to a stay.
        """
        factors = self._factors
        mine, theirs, form = factors.table[one], factors.table[other], factors.form[other]
        least = np.where(self._counted[form], self._rows[form], np.iinfo(np.int64).max)
        rows = self._below[one, theirs] * self._rows[factors.form[one]]
        result = (rows >= least) & self._within(other, one)
        later = factors.later[one]
        result |= (self._below[later, theirs] >= least) & self._within(other, later)
        exists = (form == 0) & (factors.sizes[other] == 0)
        return np.asarray(result | (exists & (self._parents[mine] == theirs)))

    def apart(self, one: Ints32, other: Ints32) -> Flags:
        """Whether two variables may stand in one clause: neither superfluous nor contradictory."""
        factors = self._factors
        result = np.ones(len(one), dtype=np.bool_)
        mine, theirs = factors.table[one], factors.table[other]
        alike = np.flatnonzero(mine == theirs)
        result[alike] = self._apart(one[alike], other[alike], self._follows)
        linked = np.flatnonzero((self._parents[mine] == theirs) | (self._parents[theirs] == mine))
        result[linked] = self._apart(one[linked], other[linked], self._follows_across)
        return result

    def _apart(self, one: Ints32, other: Ints32, follows: Callable[[Ints32, Ints32], Flags]) -> Flags:
        factors = self._factors
        forward, backward = follows(one, other), follows(other, one)
        first, second = factors.negated[one], factors.negated[other]
        # What two variables say of the same last row is said by one.
        same = self._row[factors.form[one]] & self._row[factors.form[other]] & ~first & ~second
        same &= factors.table[one] == factors.table[other]
        told = np.where(first == second, forward | backward, np.where(first, backward, forward))
        return np.asarray(~(told | same))


def _rows_below(atoms: Sequence[RowAtom], factors: Factors) -> Ints:
    """Rows of each table that belong to a row which satisfies each factor, at least: (n_factors, n_tables)."""
    least = np.zeros((len(atoms) + 1, len(factors.tables)), dtype=np.int64)  # The last is of no atom.
    for place, atom in enumerate(atoms):
        if isinstance(atom, Within):
            least[place, factors.tables.index(atom.inner)] = atom.least
    return np.asarray(least[factors.members].max(axis=1))


@kernel
def _are_within(sets: Words, wider: Words, one: Ints32, other: Ints32, result: Flags) -> None:
    """Whether each of some ``sets``, by its position, is within another one of ``wider``."""
    for pair in range(len(result)):
        word = 0
        while word < sets.shape[1] and sets[one[pair], word] & ~wider[other[pair], word] == 0:
            word += 1
        result[pair] = word == sets.shape[1]
