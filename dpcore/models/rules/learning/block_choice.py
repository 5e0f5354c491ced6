"""How many blocks of two rules a list has: a rule in public inputs only.

Chosen on Adult and Mushroom with ``python -m benchmarks rules``; it never looks at the records of
the data set at hand.
"""

from __future__ import annotations

from decimal import Decimal

#: Least signal for a second block, and for a third one.
_SECOND, _THIRD = 800.0, 20_000.0


def choose_blocks(epsilon: Decimal, max_rows: int) -> int:
    """Blocks of a list, by the signal: epsilon times the row limit, the records that one budget can tell from none.

    Parameters
    ----------
    epsilon : Decimal
        Row-level budget of the run.
    """
    signal = float(epsilon) * max_rows
    return 1 + (signal >= _SECOND) + (signal >= _THIRD)
