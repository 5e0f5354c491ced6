"""What the Markov chains of the published methods converge to, over all their states.

A chain is private on the condition that its last state has the stationary distribution. So that
is what a replay compares; nothing here is shared with the chains' own steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import permutations, product
from typing import Any

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.models.redescriptions.learning.chains import PairWalk, TreeWalk
from dpcore.models.redescriptions.learning.queries import STEPS, crossed, pair_scores, purities
from dpcore.models.redescriptions.learning.views import Sets, leaf_sets
from dpcore.models.rules.learning.samplers import ListWalk

#: More states than this are not enumerated.
MOST_STATES = 50_000


@singledispatch
def log_weights(walk: Any) -> Floats:
    """Log-weight of every state of a chain, in an order that records do not change.

    Raises
    ------
    ValueError
        If there are too many states, or the chain is not known here.
    """
    raise ValueError(f"a replay does not know the chain {type(walk).__name__}")


@log_weights.register
def _(walk: ListWalk) -> Floats:
    prior, most = walk.prior, walk.prior.max_rules
    states = [members for length in range(most + 1) for members in _few(permutations(range(len(prior.sizes)), length))]
    lists = np.full((len(states), max(most, 1)), -1, dtype=np.int16)
    for row, members in zip(lists, states, strict=True):
        row[: len(members)] = members
    lengths = np.array([len(members) for members in states], dtype=np.int64)
    utilities = walk.problem.utilities(lists, lengths)
    public = [prior.log_probability(np.array(members, dtype=np.int64)) for members in states]
    return np.asarray(walk.weight * utilities + walk.prior_power * np.array(public))


@log_weights.register
def _(walk: TreeWalk) -> Floats:
    return np.asarray(walk.weight / STEPS * _masses(walk.table, _trees(walk.literals, walk), walk.classes))


@log_weights.register
def _(walk: PairWalk) -> Floats:
    firsts, seconds = (_trees(own, walk) for own in (walk.first_literals, walk.second_literals))
    joint = np.stack([_masses(walk.table, seconds, own) for own in firsts])
    scores = pair_scores(_masses(walk.table, firsts, walk.classes)[:, None], joint, walk.max_rows)
    return np.asarray(walk.weight / STEPS * scores).ravel()


def _trees(literals: Sets, walk: TreeWalk | PairWalk) -> list[Sets]:
    """The leaves of every complete tree."""
    states = _few(product(range(len(literals)), repeat=2**walk.depth - 1))
    return [leaf_sets(literals, np.array(own, dtype=np.int64)) for own in states]


def _masses(table: PrivateTable, trees: Sequence[Sets], classes: Sets) -> Ints:
    """Purity mass of each tree, in steps."""
    return np.asarray(purities(table.total(_counts, trees, classes)).sum(axis=1))


def _counts(partition: Partition, trees: Sequence[Sets], classes: Sets) -> Ints:
    """Kernel: records in the leaves of each tree, by class."""
    return np.stack([crossed(partition, own, classes) for own in trees])


def _few(states: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    for number, state in enumerate(states):
        if number >= MOST_STATES:
            raise ValueError("this chain has too many states for a replay")
        yield state
