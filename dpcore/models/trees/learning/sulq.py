"""SuLQ-ID3: splits chosen by noisy counts (Blum, Dwork, McSherry, Nissim 2005).

As described by Friedman and Schuster (2010, Algorithm 1). Proof: ``docs/privacy/trees.md``.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from dpcore.models.trees.learning.contingency import NodeData, nth_split
from dpcore.models.trees.learning.criteria import real_losses
from dpcore.models.trees.learning.driver import Level, Place, grow
from dpcore.models.trees.learning.greedy import stops
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_parameters import Criterion
from dpcore.privacy.randomness import RandomSource


def grow_sulq(data: NodeData, budget: Decimal, criterion: Criterion, depth: int, randomness: RandomSource) -> Grown:
    """Grow a SuLQ-ID3 tree of a fixed depth.

    Each level has budget / (depth + 1): half for the node's count, half for one noisy table of
    cells by classes for all columns that can still be split. The loss of a split is evaluated
    on noisy counts, negative ones taken as 0. Deviations as in
    :func:`dpcore.models.trees.learning.greedy.grow_fixed`: leaves take what is left, and nothing is
    asked that decides nothing.

    Raises
    ------
    BudgetError
        If the budget is too small for so many queries.
    """
    share = data.form.part(budget, 2 * (depth + 1))

    def visit(place: Place, room: int, level: Level) -> Split | Decimal:
        candidates = data.candidates(place.region) if place.depth < depth else []
        if stops(place, share, candidates, room, level, data.n_classes, randomness):
            return place.left
        if sum(map(len, candidates)) == 1:
            return nth_split(data.schema, candidates, 0)
        exact = [data.of_column(level.cell_counts(place), item.column) for item in candidates]
        tables = data.form.noisy(exact, place.pay(share), randomness)  # A record is in one cell of each column.
        scores = np.concatenate(
            [
                real_losses(criterion, item.tables(np.maximum(table, 0)).astype(np.float64)).sum(axis=-1)
                for item, table in zip(candidates, tables, strict=True)
            ]
        )
        return nth_split(data.schema, candidates, int(np.argmin(scores)))

    return grow(data, budget, visit, randomness)
