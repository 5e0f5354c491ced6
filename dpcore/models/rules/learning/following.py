"""Which rule may follow others: one that they leave somebody to, and that leaves somebody itself.

Public: it looks at the cells of the schema alone, never at a record. The cells ``(other)`` and
``(missing)`` count as nobody unless some condition names them. What rules leave is kept exactly, as boxes
that are apart from each other; only a list of so many rules of so many conditions that there would be more than
:data:`_MOST` boxes takes nothing more from them, so that a rule that nobody can meet may stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Flags, Ints, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.domain.schemas.schema import Schema
from dpcore.models.rules.learning.antecedents import Antecedents

_WORD = 64
#: Most boxes in which those left are kept.
_MOST: Final = 2000


@dataclass(frozen=True)
class Following:
    """The cells that each of some conjunctions allows."""

    cells: Words
    """Array of shape (n_conjunctions, n_words). Bits of the cells of each column, which begins with a word of its own.
    """
    whole: Words
    """Array of shape (n_words,). Cells of known values, and others that some condition names."""
    columns: Ints
    """Array of shape (n_words,). Column of each word, in increasing order."""

    @classmethod
    def of(cls, antecedents: Antecedents, schema: Schema) -> Following:
        """From the conditions of all conjunctions."""
        names = dict.fromkeys(own.column for own in antecedents.literals)
        known = {name: len(schema.column(name).classes) for name in names}
        last = {name: count - 1 for name, count in known.items()}
        for literal in antecedents.literals:
            last[literal.column] = max(last[literal.column], literal.last)
        widths = [1 + end // _WORD for end in last.values()]
        starts = dict(zip(last, np.cumsum([0, *widths[:-1]]), strict=True))
        literals = np.zeros((len(antecedents.literals), sum(widths)), dtype=np.uint64)
        for place, literal in enumerate(antecedents.literals):
            _mark(literals[place], starts[literal.column], literal.first, literal.last)
        whole = np.bitwise_or.reduce(literals, axis=0)
        for name, count in known.items():
            _mark(whole, starts[name], 0, count - 1)
        columns = np.repeat(np.arange(len(widths)), widths)
        cells = np.tile(whole, (len(antecedents), 1))
        own = {name: columns == place for place, name in enumerate(last)}
        for place, itemset in enumerate(antecedents.itemsets):
            for item in itemset:
                here = own[antecedents.literals[item].column]
                cells[place, here] &= literals[item, here]
        return cls(cells, whole, columns)

    def after(self, chosen: Ints) -> Flags:
        """Whether each conjunction may follow a list: shape (n_conjunctions,)."""
        may = np.zeros(len(self.cells), dtype=np.bool_)
        _next(self.cells, self.columns, self._left(chosen), may)
        return may

    def after_each(self, chosen: Ints) -> Flags:
        """Whether each may follow a list and one rule more: shape (n, n), that rule first."""
        size = len(self.cells)
        may = np.zeros((size, size), dtype=np.bool_)
        left = self._left(chosen)
        in_threads(lambda firsts: _next_of_all(self.cells, self.columns, left, firsts, may), size)
        return may

    def _left(self, chosen: Ints) -> Words:
        return _left_by(self.cells, self.whole, self.columns, chosen)

    def kept(self, chosen: Ints) -> Ints:
        """A list without the rules that may not follow those before them. Public: post-processing of the list."""
        kept = np.empty_like(chosen)
        return kept[: _keep(self.cells, self.whole, self.columns, chosen, kept)]


def _mark(words: Words, start: int, first: int, last: int) -> None:
    """Set the bits of the cells of a column whose words begin at ``start``."""
    for cell in range(first, last + 1):
        word, bit = divmod(cell, _WORD)
        words[start + word] |= np.uint64(1) << np.uint64(bit)


@kernel
def _follows(cells: Words, columns: Ints, left: Words, rule: int) -> bool:
    """Whether a rule captures some of the boxes left, and not all of them."""
    some, everything = False, True
    for box in left:
        if not some:
            some = _meets(cells[rule], columns, box)
        if everything:
            for w in range(len(box)):
                if box[w] & ~cells[rule, w] != 0:
                    everything = False
                    break
        if some and not everything:
            return True
    return False


@kernel
def _meets(own: Words, columns: Ints, box: Words) -> bool:
    """Whether a box has cells of every column that a rule captures."""
    w, words = 0, len(box)
    while w < words:
        column, reached = columns[w], False
        while w < words and columns[w] == column:
            reached |= (box[w] & own[w]) != 0
            w += 1
        if not reached:
            return False
    return True


@kernel
def _without(own: Words, columns: Ints, left: Words) -> Words:
    """The boxes left once a rule has taken its own: one for each column that it narrows, of each that it meets."""
    words, count = left.shape[1], 0
    parts = np.empty((_MOST + 1, words), np.uint64)
    for box in left:
        if not _meets(own, columns, box):
            if count >= _MOST:
                return left
            parts[count] = box
            count += 1
            continue
        inside = box.copy()
        w = 0
        while w < words:
            column, start, outside = columns[w], w, False
            while w < words and columns[w] == column:
                outside |= (inside[w] & ~own[w]) != 0
                w += 1
            if not outside:
                continue
            if count >= _MOST:
                return left
            parts[count] = inside
            for v in range(start, w):
                parts[count, v] &= ~own[v]
                inside[v] &= own[v]
            count += 1
    return parts[:count].copy()


@kernel
def _left_by(cells: Words, whole: Words, columns: Ints, chosen: Ints) -> Words:
    """Boxes that a list leaves."""
    left = whole.reshape(1, -1).copy()
    for rule in chosen:
        left = _without(cells[rule], columns, left)
    return left


@kernel
def _next(cells: Words, columns: Ints, left: Words, may: Flags) -> None:
    for rule in range(len(cells)):
        may[rule] = _follows(cells, columns, left, rule)


@kernel
def _next_of_all(cells: Words, columns: Ints, left: Words, firsts: Ints, may: Flags) -> None:
    for first in firsts:
        _next(cells, columns, _without(cells[first], columns, left), may[first])


@kernel
def _keep(cells: Words, whole: Words, columns: Ints, chosen: Ints, kept: Ints) -> int:
    left, length = whole.reshape(1, -1).copy(), 0
    for rule in chosen:
        if _follows(cells, columns, left, rule):
            left = _without(cells[rule], columns, left)
            kept[length] = rule
            length += 1
    return length
