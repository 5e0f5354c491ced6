"""Where later searches may still look, so that they do not find the same again.

Everything here is a function of what was released, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.redescription_set import Redescription, read_pairs
from dpcore.models.redescriptions.released.tree_pair import TreePair


def best_found(pair: TreePair, schema: Schema) -> Redescription | None:
    """The redescription of a pair on which most people agree, as the noisy table tells."""
    read = read_pairs([pair], schema, Constraints())

    def agreement(item: Redescription) -> float:
        apart = item.left_only + item.right_only
        return min(item.support, read.people - item.support - apart) - apart

    return max(read.found, key=agreement, default=None)


def telling_columns(pair: TreePair, best: Redescription | None) -> frozenset[str]:
    """Columns of the best redescription of a pair.

    A condition that was drawn but adds nothing stays free. Without any redescription, all
    columns of the pair.
    """
    if best is None:
        return frozenset(item.column for tree in (pair.left, pair.right) for item in tree.splits)
    return best.columns


def unused(literals: Sequence[Condition], pairs: Ints, used: set[str]) -> Flags:
    """Pairs of literals that refer to no used column; all of them if there are none.

    Parameters
    ----------
    pairs : array of shape (n_pairs, 2)

    Returns
    -------
    bool array of shape (n_pairs,)
    """
    known = np.array([item.column in used for item in literals])
    free = np.asarray(~known[pairs].any(axis=1))
    return free if free.any() else np.ones(len(pairs), dtype=np.bool_)
