"""What the learner asks of the records, with the sensitivity of each question.

Proofs are in ``docs/privacy/ebm.md``. All sensitivities are L2, for one row added or removed,
and in grid steps; a person with several rows is covered by a smaller mu per row.
"""

from __future__ import annotations

import math
from typing import Final

from dpcore.models.ebm.learning.kernels import PAIR_STEPS, RESIDUAL_STEPS

#: Grid steps per record of a count: noise is drawn for steps, so that its scale is fine.
COUNT_STEPS: Final = 2**28


def histogram_sensitivity(histograms: int) -> int:
    """Of several histograms together: a row is in one cell of each."""
    return _ceil_root(histograms * COUNT_STEPS**2)


def residual_sensitivity(outputs: int, replicates: int) -> int:
    """Of the residual sums of one feature for all replicates: a row is in one run of bins of each.

    One output: a residual is within plus or minus one clip. Several: the residuals of a row,
    an indicator minus probabilities, have an L2 norm of at most sqrt(2).
    """
    # Probabilities sum to 1 up to rounding, for which two steps are ample.
    one = RESIDUAL_STEPS if outputs == 1 else _ceil_root(2 * RESIDUAL_STEPS**2) + 2
    return _ceil_root(replicates * one**2)


def pair_sensitivity(outputs: int) -> int:
    """Of the sum of sizes of a pair's residual table: the L1 norm of a row's residuals."""
    return PAIR_STEPS if outputs == 1 else 2 * PAIR_STEPS + 2


def _ceil_root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1
