"""How many blocks of two rules a list has, and how long its rules are: rules in public inputs only.

Chosen on Adult with ``python -m benchmarks rules``, the first step on Titanic, the length on parts of Titanic, Pima,
Telco, Adult, Mushroom and heart; they never look at the records of the data set at hand. The signal, epsilon times the
row limit, is the number of records that one budget can tell from none.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from dpcore.data.packing import word_count

#: Least signal for each block more than one.
_STEPS: Final = (600.0, 2_000.0, 6_000.0, 20_000.0)
#: Least signal for rules of two conditions.
_PAIRS: Final = 300.0

#: Least signal for blocks with the same part of the budget each.
_EVEN: Final = 5_000.0
#: Part of the first of several blocks where the signal is less.
_FIRST: Final = 0.9

#: Most conjunctions, and words that all blocks may visit where the rule decides: some seconds.
_MOST: Final = 1000
_QUICK: Final = 2 * 10**10


def choose_blocks(epsilon: Decimal, max_rows: int) -> int:
    """Blocks of a list.

    Parameters
    ----------
    epsilon : Decimal
        Row-level budget of the run.
    """
    return 1 + sum(float(epsilon) * max_rows >= step for step in _STEPS)


def are_even(epsilon: Decimal, max_rows: int) -> bool:
    """Whether all blocks get the same part of the budget, so that each may count on later ones."""
    return float(epsilon) * max_rows >= _EVEN


def choose_parts(epsilon: Decimal, max_rows: int, blocks: int) -> list[float]:
    """Parts of the budget that blocks get, in order.

    A list of more rules than epsilon can tell apart must not tell less than a shorter one: with a small signal
    nearly all goes to the first block, which is then about what a list of two rules is.
    """
    if blocks == 1 or are_even(epsilon, max_rows):
        return [1 / blocks] * blocks
    return [_FIRST, *[(1 - _FIRST) / (blocks - 1)] * (blocks - 1)]


def choose_length(epsilon: Decimal, max_rows: int) -> int:
    """Most conditions of a rule."""
    return 2 if float(epsilon) * max_rows >= _PAIRS else 1


def choose_conditions(blocks: int, max_rows: int, classes: int) -> int:
    """Conjunctions to choose from."""
    return min(_MOST, math.isqrt(2 * _QUICK // (blocks * classes * word_count(max_rows))))
