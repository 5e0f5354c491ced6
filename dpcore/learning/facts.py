"""Cut points, bounds and categories, learned privately from records that stand on a wide domain.

Quantiles: cumulative counts over a public grid, then over cells that are about equally full by what
was released, twice; the last counts tell. Proof: ``docs/privacy/learned.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.data.packing import unpack
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import IntegerColumn, NumberColumn
from dpcore.domain.schemas.learned import ColumnQuestion
from dpcore.privacy.budgets import float_below
from dpcore.privacy.mechanisms import ThresholdMechanism
from dpcore.privacy.prefixes import PrefixSums
from dpcore.privacy.randomness import RandomSource
from dpcore.released.learning_plan import ROUNDS, LearningPlan

#: Cells of a grid, about.
_CELLS: Final = 256
#: Of a refined grid, the part of the cells that is spread over the whole range, come what may.
_SPREAD: Final = 0.1
#: Smallest size of a number, as a share of the largest, that the first grid tells from zero.
_NEAR_ZERO: Final = 1e-6
_LOWEST, _HIGHEST = 0.005, 0.995


def cell_counts(table: PrivateTable, place: int, edges: Floats) -> Ints:
    """Rows in each cell between cut points, of the numeric column at a place. A row is in one, or none."""
    return table.total(counted, place, edges)


def counted(partition: Partition, place: int, edges: Floats) -> Ints:
    """The kernel of :func:`cell_counts`."""
    from dpcore.data.counting import counts_between  # Brings the compiler, which storing alone does not need.

    numbers = partition.numbers[place]
    return counts_between(edges, numbers, unpack(partition.members("all"), partition.rows) & ~np.isnan(numbers))


def learn_cuts(
    table: PrivateTable, place: int, column: Any, question: ColumnQuestion, plan: LearningPlan, randomness: RandomSource
) -> dict[str, object]:
    """Cut points between bins of about equal mass, and bounds if wished: fields of a column."""
    edges = first_grid(column)
    for number, share in enumerate(ROUNDS):
        sums = _prefix_sums(plan, share).release(cell_counts(table, place, edges), randomness)
        below = np.concatenate([[0.0], np.maximum.accumulate(np.maximum(sums, 0.0))])
        below /= max(below[-1], 1.0)
        if number + 1 < len(ROUNDS):
            edges = _refined(column, edges, below)
    ends = np.array([column.lower, *edges, column.upper])
    lower, upper = column.lower, column.upper
    if question.bounds:
        lower, upper = (quantile(ends, below, share) for share in (_LOWEST, _HIGHEST))
        lower, upper = (lower, upper) if lower < upper else (column.lower, column.upper)
    cuts = {quantile(ends[:-1], below[:-1], i / question.bins) for i in range(1, question.bins)}
    kept = sorted(cut for cut in cuts if lower <= cut < upper)
    return {"lower": lower, "upper": upper, "edges": kept, "bins": None}


def _prefix_sums(plan: LearningPlan, share: Decimal) -> PrefixSums:
    rows, part = plan.schema.privacy_unit.max_rows_per_person, plan.share_of_round(share)
    return PrefixSums(rows, epsilon=part) if plan.pure else PrefixSums(rows, rho=part)


def first_grid(column: NumberColumn) -> Floats:
    """Public cut points: half of them evenly between the limits, the others ever closer around zero."""
    largest = max(abs(column.lower), abs(column.upper))
    sizes = np.geomspace(largest * _NEAR_ZERO, largest, _CELLS // (4 if column.lower < 0 < column.upper else 2))
    evenly = np.linspace(column.lower, column.upper, _CELLS // 2 + 1)[1:-1]
    return _distinct(column, np.concatenate([evenly, sizes, [0.0], -sizes]))


def _refined(column: NumberColumn, edges: Floats, below: Floats) -> Floats:
    """Cut points of cells that are about equally full, where nothing more is known of a cell than its share."""
    rising = (1 - _SPREAD) * below + _SPREAD * np.linspace(0, 1, len(below))
    wanted = np.arange(1, _CELLS) / _CELLS
    return _distinct(column, np.interp(wanted, rising, [column.lower, *edges, column.upper]))


def _distinct(column: NumberColumn, points: Floats) -> Floats:
    if isinstance(column, IntegerColumn):
        points = np.floor(points)
    inside = np.unique(points[(points >= column.lower) & (points < column.upper)])
    return inside if len(inside) else np.array([column.lower])


def quantile(ends: Floats, below: Floats, share: float) -> float:
    """The plainest number of the cell in which a share is reached; ``below`` is the share up to each end."""
    place = min(max(int(np.searchsorted(below, share, side="left")), 1), len(ends) - 1)
    low, high = ends[place - 1], ends[place]
    return plainest(float(low), float(high), closed=place == 1)


def plainest(low: float, high: float, *, closed: bool = False) -> float:
    """The number above ``low`` (or equal to it, if ``closed``) and up to ``high`` with fewest digits.

    Values that many people share are mostly such numbers, and a cut point lies best at one.
    """
    exact, most = Decimal(high), Decimal(max(abs(low), abs(high)) or 1).adjusted() + 1
    for exponent in range(most, most - 17, -1):
        number = float(exact.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_FLOOR))
        if low < number <= high or (closed and number == low):
            return number + 0.0  # No negative zero.
    return high


def learn_categories(
    table: PrivateTable,
    place: int,
    names: Sequence[str],
    question: ColumnQuestion,
    plan: LearningPlan,
    randomness: RandomSource,
) -> list[str]:
    """Those of the names that enough people have, in alphabetical order; numbers in the column are places of names."""
    counts = cell_counts(table, place, np.arange(len(names) - 1.0))[: len(names)]
    rows = plan.schema.privacy_unit.max_rows_per_person
    mechanism = ThresholdMechanism(rows, float_below(plan.share), float_below(plan.share_of_delta))
    noisy = mechanism.release(counts, randomness)
    found = sorted((-int(count), name) for count, name in zip(noisy, names, strict=True) if count)
    return sorted(name for _, name in found[: question.most])
