"""Unions of leaves: which sets of people one side of a redescription may describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from dpcore.arrays import Flags, Floats, Ints


@dataclass(frozen=True)
class Unions:
    """Every union of a few leaves, and the complement of every leaf.

    A disjunction of leaves and negated leaves is always one of these, or everything: the
    negation of a leaf is the union of all other leaves.

    Attributes
    ----------
    members : bool array of shape (n_unions, n_leaves)
    more, fewer : int arrays of shape (n_unions, n_leaves)
        Union with one leaf more, or less; -1 if there is none, or it is not a step.
    sizes : array of shape (n_unions,)
        Leaves of each union.
    """

    members: Flags
    more: Ints
    fewer: Ints
    sizes: Floats

    def __len__(self) -> int:
        return len(self.members)

    def near(self, union: int) -> Ints:
        """Unions that differ from one in one leaf or two, itself first."""
        steps = np.maximum(self.more, self.fewer)
        one = steps[union][steps[union] >= 0]
        two = steps[one][steps[one] >= 0]
        found = np.unique(np.concatenate([one, two]))
        return np.concatenate([[union], found[found != union]])


@lru_cache(maxsize=64)
def unions(leaves: int, most: int) -> Unions:
    """Unions of 1 to ``most`` of ``leaves`` leaves, and of all leaves but one; never of all."""
    bits = [1 << leaf for leaf in range(leaves)]
    everything = sum(bits)
    few = [sum(some) for size in range(1, most + 1) for some in combinations(bits, size)]
    chosen = dict.fromkeys([*few, *(everything - bit for bit in bits)])
    sets = np.array([one for one in chosen if 0 < one < everything], dtype=np.int64)
    place = np.full(everything + 1, -1)
    place[sets] = np.arange(len(sets))
    members = sets[:, None] >> np.arange(leaves) & 1 == 1
    steps = place[sets[:, None] ^ np.array(bits)]
    more, fewer = np.where(members, -1, steps), np.where(members, steps, -1)
    family = Unions(members, more, fewer, members.sum(axis=1).astype(np.float64))
    for array in vars(family).values():
        array.setflags(write=False)
    return family
