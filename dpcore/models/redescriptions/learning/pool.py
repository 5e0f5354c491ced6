"""A pair of trees chosen exactly from a public pool of random pairs."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.bits import fill_counts
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.models.redescriptions.learning.redescription_queries import (
    PAIR_SCORE,
    leaf_members,
    pair_scores,
    purities,
)
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.privacy.mechanisms import ExponentialMechanism, round_utility
from dpcore.privacy.randomness import RandomSource, uniforms

#: Bound on the rounding error of a score, in steps; scores are below 2^35.
_ERROR = 2.0**-10
#: Pairs scored at a time.
_BATCH = 4096


def choose_pair(
    table: PrivateTable,
    first_literals: Sets,
    second_literals: Sets,
    classes: Sets,
    depth: int,
    pool_size: int,
    epsilon: Decimal,
    max_rows: int,
    sensitivity: float,
    randomness: RandomSource,
) -> tuple[Ints, Ints]:
    """Draw random pairs of trees and select one by the exponential mechanism: pure, exact.

    Parameters
    ----------
    first_literals, second_literals : Sets
        Splits of either tree.
    classes : Sets
        What the first tree is to tell apart; the second is to tell its leaves apart.
    sensitivity : float
        Of the score, in records; at least that of
        :data:`dpcore.models.redescriptions.learning.redescription_queries.PAIR_SCORE`.
    """
    inner = 2**depth - 1
    numbers = uniforms(randomness, 2 * pool_size * inner).reshape(2, pool_size, inner)
    firsts = (numbers[0] * len(first_literals)).astype(np.int64)
    seconds = (numbers[1] * len(second_literals)).astype(np.int64)
    mass = np.empty((2, pool_size), dtype=np.int64)
    for start in range(0, pool_size, _BATCH):
        batch = slice(start, start + _BATCH)
        counts = table.total(_tables, first_literals, second_literals, classes, firsts[batch], seconds[batch])
        for tree, own in enumerate(counts):
            mass[tree, batch] = purities(own).sum(axis=1)
    wanted = max(float(PAIR_SCORE.value), sensitivity * PAIR_SCORE.value / 1.5)
    scores, reach = round_utility(pair_scores(mass[0], mass[1], max_rows), wanted, 1.0, _ERROR)
    mechanism = ExponentialMechanism(reach, epsilon, PAIR_SCORE.monotone)
    chosen = mechanism.select(scores, randomness)
    return firsts[chosen], seconds[chosen]


def _tables(
    partition: Partition, first_literals: Sets, second_literals: Sets, classes: Sets, firsts: Ints, seconds: Ints
) -> tuple[Ints, Ints]:
    """Kernel: records in the first trees' leaves per class, and in the second trees' per first leaf."""
    literals = first_literals(partition), second_literals(partition)
    labels, everyone = classes(partition), partition.members("all")
    pairs, leaves = len(firsts), firsts.shape[1] + 1
    tables = np.empty((pairs, leaves, len(labels)), dtype=np.int64)
    joints = np.empty((pairs, leaves, leaves), dtype=np.int64)
    in_threads(lambda which: _fill(*literals, labels, everyone, firsts, seconds, which, tables, joints), pairs)
    return tables, joints


@kernel
def _fill(
    first_literals: Words,
    second_literals: Words,
    classes: Words,
    everyone: Words,
    firsts: Ints,
    seconds: Ints,
    which: Ints,
    tables: Ints,
    joints: Ints,
) -> None:
    leaves = firsts.shape[1] + 1
    first = np.empty((leaves, everyone.shape[0]), dtype=np.uint64)
    second = np.empty((leaves, everyone.shape[0]), dtype=np.uint64)
    for pair in which:
        leaf_members(first_literals, firsts[pair], 0, everyone, first)
        leaf_members(second_literals, seconds[pair], 0, everyone, second)
        fill_counts(first, classes, tables[pair])
        fill_counts(second, first, joints[pair])
