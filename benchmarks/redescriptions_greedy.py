"""Without privacy: greedy alternation over the same splits, with exact counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.data.bits import count_bits
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import View
from dpcore.models.redescriptions.learning.redescription_queries import purities, tree_leaves
from dpcore.models.redescriptions.learning.views import Sides, opposite
from dpcore.models.redescriptions.released.redescription_family import view_conditions
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair

#: Of the trees, and searches: those of the house method at its best.
DEPTH, STARTS = 2, 6
_VIEWS: tuple[View, View] = ("left", "right")


def greedy_model(table: PrivateTable, depth: int = DEPTH, starts: int = STARTS) -> RedescriptionModel:
    """Searches from the pairs of splits that are farthest from independent, each in new columns.

    Every tree is grown split by split, each the one with the largest purity.
    """
    schema = table.schema
    columns = {view: schema.view(view) for view in _VIEWS}
    literals = {view: view_conditions(schema, columns[view], reserved=False) for view in _VIEWS}
    search = _Search(Sides(table, columns, literals), depth)
    pairs = tuple(search.pair(number) for number in range(starts))
    return RedescriptionModel(left_columns=columns["left"], right_columns=columns["right"], pairs=pairs)


@dataclass
class _Search:
    sides: Sides
    depth: int

    def __post_init__(self) -> None:
        self._used: set[str] = set()
        (self._records,) = self.sides.table.partitions

    def pair(self, number: int) -> TreePair:
        """One search: a tree for the best start that is left, and a tree for its leaves."""
        places = self._start()
        first: View = "left" if number % 2 == 0 else "right"
        second = opposite(first)
        holds, everyone = self._bits(second)[places[second]], self._records.members("all")
        splits = {first: self._grow(first, np.stack([holds & everyone, ~holds & everyone]))}
        leaves = {first: tree_leaves(self._bits(first), splits[first], everyone)}
        splits[second] = self._grow(second, leaves[first])
        leaves[second] = tree_leaves(self._bits(second), splits[second], everyone)
        counts = count_bits(leaves["left"], leaves["right"])
        return TreePair(
            start=number,
            round=0,
            target=self.sides.literals[second][places[second]].text(self.sides.table.schema),
            left=self._tree("left", splits["left"]),
            right=self._tree("right", splits["right"]),
            noisy_counts=tuple(tuple(int(count) for count in row) for row in counts),
            count_scale=0.0,
        )

    def _start(self) -> dict[View, int]:
        """Places of the two literals with the largest leverage among unused columns."""
        free = {
            view: [i for i, item in enumerate(items) if item.column not in self._used] or list(range(len(items)))
            for view, items in self.sides.literals.items()
        }
        table = self.sides.leverages[np.ix_(free["left"], free["right"])]
        chosen = np.unravel_index(int(table.argmax()), table.shape)
        places = {view: free[view][int(at)] for view, at in zip(_VIEWS, chosen, strict=True)}
        self._used |= {self.sides.literals[view][place].column for view, place in places.items()}
        return places

    def _grow(self, view: View, classes: Words) -> Ints:
        """Splits of a complete tree, in heap order."""
        bits = self._bits(view)
        splits: list[int] = []
        members = [np.full(bits.shape[1], ~np.uint64(0))]
        for node in range(2**self.depth - 1):
            here = classes & members[node]
            holds = count_bits(bits, here)
            fails = np.bitwise_count(here).sum(axis=1, dtype=np.int64) - holds
            best = int((purities(holds) + purities(fails)).argmax())
            splits.append(best)
            members += [members[node] & bits[best], members[node] & ~bits[best]]
        return np.array(splits)

    def _bits(self, view: View) -> Words:
        return self.sides.sets[view](self._records)

    def _tree(self, view: View, places: Ints) -> Tree:
        literals = self.sides.literals[view]
        return Tree(view=view, splits=tuple(literals[place] for place in places))
