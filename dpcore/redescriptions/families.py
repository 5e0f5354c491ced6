"""Unions of leaves: which sets of people one side of a redescription may describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Unions:
    """Every union of a few leaves, and the complement of every leaf.

    A disjunction of leaves and negated leaves is always one of these, or everything: the
    negation of a leaf is the union of all other leaves.

    Attributes
    ----------
    members : bool array of shape (n_unions, n_leaves)
    more, fewer : arrays of shape (n_unions, n_leaves)
        Union with one leaf more, or less; -1 if there is none, or it is no step.
    """

    members: NDArray[np.bool_]
    more: NDArray[np.int64]
    fewer: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.members)


@lru_cache(maxsize=64)
def unions(leaves: int, most: int) -> Unions:
    """Unions of 1 to ``most`` of ``leaves`` leaves, and of all leaves but one."""
    chosen = [
        frozenset(parts)
        for size in range(1, min(most, leaves - 1) + 1)
        for parts in combinations(range(leaves), size)
    ]
    everything = frozenset(range(leaves))
    known = set(chosen)
    chosen += [everything - {leaf} for leaf in range(leaves) if everything - {leaf} not in known]
    place = {parts: position for position, parts in enumerate(chosen)}
    members = np.zeros((len(chosen), leaves), dtype=bool)
    more, fewer = np.full(members.shape, -1), np.full(members.shape, -1)
    for position, parts in enumerate(chosen):
        members[position, sorted(parts)] = True
        for leaf in range(leaves):
            steps = fewer if leaf in parts else more
            steps[position, leaf] = place.get(parts ^ {leaf}, -1)
    for array in (members, more, fewer):
        array.setflags(write=False)
    return Unions(members, more, fewer)
