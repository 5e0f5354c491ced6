"""Which axes are linked by pairs that are counted."""

from __future__ import annotations

from collections.abc import Iterable

from dpcore.models.summaries.released.estimates import Axes, Pair


class Links:
    """Axes in groups: two of a group are linked by pairs, directly or one after another.

    Parameters
    ----------
    axes : int
        How many there are.
    tables : iterable of axes
        What is counted; only tables of two axes link.
    """

    def __init__(self, axes: int, tables: Iterable[Axes]) -> None:
        self._group = list(range(axes))
        for own in tables:
            if len(own) > 1:
                self.add((own[0], own[1]))

    def add(self, pair: Pair) -> None:
        """Link two axes."""
        kept, gone = (self._group[axis] for axis in pair)
        self._group = [kept if group == gone else group for group in self._group]

    def linked(self, pair: Pair) -> bool:
        """Whether two axes are linked already."""
        return self._group[pair[0]] == self._group[pair[1]]

    def missing(self, candidates: Iterable[Pair]) -> int:
        """How many further links of some that could be made are no circle; all of them are made."""
        made = 0
        for pair in candidates:
            if not self.linked(pair):
                self.add(pair)
                made += 1
        return made
