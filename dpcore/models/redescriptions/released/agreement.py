"""How many people agree on both sides: margins of the noise, and exact numbers of public data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.consistent import consistent_counts
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.models.redescriptions.released.regions import Domain
from dpcore.models.redescriptions.released.significance import binomial_tail
from dpcore.models.redescriptions.released.tree_pair import TreePair


@dataclass(frozen=True)
class Exact:
    """A redescription on the records themselves.

    Attributes
    ----------
    support, left_only, right_only : int
        People for whom both sides hold, only the left one, only the right one.
    jaccard : float
        Support over the people for whom a side holds; 0 if there are none.
    p_value : float
        Chance of such a support if the two sides were independent (binomial, as in Mihelčić and
        Miettinen 2023).
    """

    support: int
    left_only: int
    right_only: int
    jaccard: float
    p_value: float


def exact_agreement(tables: Sequence[Ints], found: Sequence[Redescription]) -> tuple[Exact, ...]:
    """Exact numbers of redescriptions. For public records only.

    Parameters
    ----------
    tables : sequence of int arrays of shape (n_left_leaves, n_right_leaves)
        Exact counts of each pair of trees, see
        :meth:`~dpcore.models.redescriptions.released.redescription_model.RedescriptionModel.exact_tables`.
    """
    sizes = np.array([_sizes(tables[item.pair], item) for item in found], dtype=np.int64)
    people, both, left, right = sizes.reshape(-1, 4).T
    n = np.maximum(people, 1)
    chance = binomial_tail(both, n, (left / n) * (right / n))
    either = np.maximum(left + right - both, 1)
    return tuple(
        Exact(
            support=int(both[place]),
            left_only=int(left[place] - both[place]),
            right_only=int(right[place] - both[place]),
            jaccard=float(both[place] / either[place]),
            p_value=float(chance[place]),
        )
        for place in range(len(found))
    )


def _sizes(table: Ints, item: Redescription) -> tuple[int, int, int, int]:
    """People, and those for whom both sides, the left side and the right side hold."""
    left, right = list(item.left_leaves), list(item.right_leaves)
    both = table[np.ix_(left, right)].sum()
    return int(table.sum()), int(both), int(table[left].sum()), int(table[:, right].sum())


def agreement_margins(item: Redescription, pair: TreePair, schema: Schema) -> tuple[int, int, int]:
    """Noise on left only, both and right only stays within plus or minus this: 95 %, each.

    They agree with
    :attr:`~dpcore.models.redescriptions.released.redescription_set.Redescription.support_margin`.
    """
    counts = consistent_counts(pair, Domain(schema))
    left = np.isin(counts.left, item.left_leaves)
    right = np.isin(counts.right, item.right_leaves)
    parts = (left, ~right), (left, right), (~left, right)
    left_only, both, right_only = (math.ceil(counts.margin(*part)) for part in parts)
    return left_only, both, right_only
