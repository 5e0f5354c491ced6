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

from dpcore.arrays import Floats, Ints, Words
from dpcore.data.bits import count_bits
from dpcore.models.redescriptions.learning.chains import PairWalk, TreeWalk
from dpcore.models.redescriptions.learning.queries import STEPS, pair_scores, purities, tree_leaves
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
    return np.asarray(walk.weight / STEPS * _masses(_leaves(walk.literals, walk), walk.classes))


@log_weights.register
def _(walk: PairWalk) -> Floats:
    firsts, seconds = (_leaves(own, walk) for own in (walk.first_literals, walk.second_literals))
    joint = np.stack([_masses(seconds, own) for own in firsts])
    scores = pair_scores(_masses(firsts, walk.classes)[:, None], joint, walk.max_rows)
    return np.asarray(walk.weight / STEPS * scores).ravel()


def _leaves(literals: Words, walk: TreeWalk | PairWalk) -> list[Words]:
    """Records in the leaves of every complete tree."""
    trees = _few(product(range(len(literals)), repeat=2**walk.depth - 1))
    return [tree_leaves(literals, np.array(own, dtype=np.int64), walk.everyone) for own in trees]


def _masses(trees: Sequence[Words], classes: Words) -> Ints:
    """Purity mass of each tree, in steps."""
    return np.array([purities(count_bits(own, classes)).sum() for own in trees], dtype=np.int64)


def _few(states: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    for number, state in enumerate(states):
        if number >= MOST_STATES:
            raise ValueError("this chain has too many states for a replay")
        yield state
