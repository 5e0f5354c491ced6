"""Which blocks to stack and what to keep for the leaves: a rule in public inputs only.

Chosen on Mushroom, Nursery, Adult and Titanic with ``python -m benchmarks trees``; it never
looks at the records of the data set at hand.
"""

from __future__ import annotations

from decimal import Decimal

from dpcore.data.packing import word_count
from dpcore.learning.exact_draws.joint_counts import WORK_LIMIT, block_work, fits_memory, tree_work, triple_count

#: Words that one block may visit where the rule decides: some seconds.
_QUICK = 2 * 10**10
#: Sums of exponentials that a second level of blocks may take where the rule decides, one for each triple of
#: splits, class and block: some seconds.
_SUMS = 2 * 10**7
#: Least signal per split for a block of depth 3, and for a second block below it.
_DEEP, _STACKED = 0.4, 25.0


def choose_blocks(epsilon: Decimal, max_rows: int, splits: int, classes: int) -> tuple[int, ...]:
    """Depths of the blocks, from the root down.

    The signal, epsilon times the row limit, is the number of records that one budget can tell
    from none, and the splits are what it must choose among.

    Parameters
    ----------
    epsilon : Decimal
        Row-level budget of the run.
    """
    signal = float(epsilon) * max_rows / max(1, splits)
    literals, words = splits + 1, word_count(max_rows)  # With the choice not to split.
    quick = block_work(literals, classes, words, depth=3) <= _QUICK
    deep = quick and signal >= _DEEP and fits_memory(literals, classes, depth=3)
    depth = 3 if deep else 2
    below = 2 if 2**depth * triple_count(literals) * classes > _SUMS else depth
    wanted = [(depth,)] if signal < _STACKED else [(depth, below), (depth,)]
    for blocks in wanted:
        work = tree_work(blocks, literals, classes, words)
        if work <= WORK_LIMIT and fits_memory(literals, classes, depth):
            return blocks
    return (1,)


def choose_leaf_share(epsilon: Decimal, max_rows: int, splits: int) -> float:
    """Share of the budget for the noisy counts of the leaves, which are for reading."""
    return 0.1 if float(epsilon) * max_rows >= _STACKED * splits else 0.2
