"""Which rule may follow others: one that they leave somebody to, and that leaves somebody itself.

Public: it looks at the cells of the schema alone, never at a record. The cells ``(other)`` and
``(missing)`` count as nobody unless some condition names them. What is left by rules that
do not narrow a single column is not followed exactly: some rules that nobody can meet may stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Flags, Ints, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.domain.schema import Schema
from dpcore.models.rules.learning.antecedents import Antecedents

_WORD = 64


@dataclass(frozen=True)
class Following:
    """The cells that each of some conjunctions allows.

    Attributes
    ----------
    cells : array of shape (n_conjunctions, n_words)
        Bits of the cells of each column, which begins with a word of its own.
    whole : array of shape (n_words,)
        Cells of known values, and others that some condition names.
    columns : array of shape (n_words,)
        Column of each word, in increasing order.
    """

    cells: Words
    whole: Words
    columns: Ints

    @classmethod
    def of(cls, antecedents: Antecedents, schema: Schema) -> Following:
        """From the conditions of all conjunctions."""
        known = {own.column: len(schema.column(own.column).classes) for own in antecedents.literals}
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
        _next(self.cells, self.whole, self.columns, chosen, may)
        return may

    def after_each(self, chosen: Ints) -> Flags:
        """Whether each may follow a list and one rule more: shape (n, n), that rule first."""
        size = len(self.cells)
        may = np.zeros((size, size), dtype=np.bool_)
        in_threads(lambda firsts: _next_of_all(self.cells, self.whole, self.columns, chosen, firsts, may), size)
        return may

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
def _follows(cells: Words, columns: Ints, left: Words, before: Ints, length: int, rule: int) -> bool:
    """Whether a rule captures some of the cells left, not all of them, and more than any rule before."""
    words = len(left)
    everything, some = True, True
    w = 0
    while w < words:
        column, reached = columns[w], False
        while w < words and columns[w] == column:
            reached |= (left[w] & cells[rule, w]) != 0
            everything &= (left[w] & ~cells[rule, w]) == 0
            w += 1
        some &= reached
    if everything or not some:
        return False
    for b in range(length):
        inside = True
        for w in range(words):
            if left[w] & cells[rule, w] & ~cells[before[b], w] != 0:
                inside = False
                break
        if inside:
            return False
    return True


@kernel
def _take(cells: Words, columns: Ints, left: Words, rule: int) -> None:
    """Take from the cells left what a rule captures, if it narrows one column only."""
    narrowed = -1
    for w in range(len(left)):
        if left[w] & ~cells[rule, w] != 0 and columns[w] != narrowed:
            if narrowed >= 0:
                return
            narrowed = columns[w]
    for w in range(len(left)):
        if columns[w] == narrowed:
            left[w] &= ~cells[rule, w]


@kernel
def _next(cells: Words, whole: Words, columns: Ints, chosen: Ints, may: Flags) -> None:
    left = whole.copy()
    for rule in chosen:
        _take(cells, columns, left, rule)
    for rule in range(len(cells)):
        may[rule] = _follows(cells, columns, left, chosen, len(chosen), rule)


@kernel
def _next_of_all(cells: Words, whole: Words, columns: Ints, chosen: Ints, firsts: Ints, may: Flags) -> None:
    longer = np.empty(len(chosen) + 1, np.int64)
    longer[: len(chosen)] = chosen
    for first in firsts:
        longer[len(chosen)] = first
        _next(cells, whole, columns, longer, may[first])


@kernel
def _keep(cells: Words, whole: Words, columns: Ints, chosen: Ints, kept: Ints) -> int:
    left, length = whole.copy(), 0
    for rule in chosen:
        if _follows(cells, columns, left, kept, length, rule):
            _take(cells, columns, left, rule)
            kept[length] = rule
            length += 1
    return length
