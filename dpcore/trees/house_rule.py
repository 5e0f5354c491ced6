"""Which blocks to stack and what to keep for the leaves: a rule in public inputs only."""

from __future__ import annotations

from decimal import Decimal

from dpcore.trees.joint_counts import triple_count

#: Words that one block may visit where the rule decides: some seconds.
_QUICK = 2 * 10**10
LEAF_SHARE = 0.2


def choose_blocks(epsilon: Decimal, max_rows: int, splits: int, classes: int) -> tuple[int, ...]:
    """Depths of the blocks, from the root down.

    The signal, epsilon times the row limit, says how many blocks the budget can tell apart.

    Parameters
    ----------
    epsilon : Decimal
        Row-level budget of the run.
    """
    signal = float(epsilon) * max_rows
    deep = triple_count(splits) * classes * (max_rows / 64) <= _QUICK
    first = 3 if deep else 2
    if signal < 2_000:
        return (first,)
    return (first, 2)
