"""How many people are so and so, by a first look that was released: free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpcore.domain.conditions import Condition, parse_conjunction
from dpcore.domain.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.summaries.released.estimates import Axes, Estimates, cells_beside, parts_of
from dpcore.models.summaries.released.intervals import intervals
from dpcore.models.summaries.released.model import SummaryModel
from dpcore.models.summaries.released.reading import Amount


def how_many(model: SummaryModel, schema: Schema, question: str) -> Amount:
    """How many records satisfy conditions such as ``age > 60 and sex = female``, with an interval for the noise.

    Raises
    ------
    RequestError
        If it cannot be read, or asks of columns that were not counted together.
    """
    conditions = parse_conjunction(question, schema)
    places = [_place(model, condition) for condition in conditions]
    if any(one == other for one, other in pairwise(sorted(places))):
        raise RequestError(f"'{question}' uses a column twice: combine them into one condition.")
    order = sorted(range(len(places)), key=lambda number: places[number])
    axes = tuple(places[number] for number in order)
    if axes not in model.estimates:
        raise RequestError(
            f"'{question}' asks of columns that this first look has not counted together: make one with the pair "
            f"'{' by '.join(condition.column for condition in conditions)}'."
            if len(axes) == 2
            else f"'{question}' asks of {len(axes)} columns: a first look counts two together at most."
        )
    return _within(model.estimates, axes, [conditions[number] for number in order])


def _place(model: SummaryModel, condition: Condition) -> int:
    try:
        return model.place(condition.column)
    except KeyError:
        raise RequestError(f"This first look has not counted '{condition.column}'.") from None


def _within(own: Estimates, axes: Axes, conditions: Sequence[Condition]) -> Amount:
    chosen = tuple(slice(condition.first, condition.last + 1) for condition in conditions)
    spans = dict(zip(axes, (condition.last + 1 - condition.first for condition in conditions), strict=True))
    value = float(own.table(axes)[chosen].sum())
    deviation = math.sqrt(sum(own.variance(part) * _share(own, axes, part, spans) for part in parts_of(axes)))
    low, high = intervals(np.array([value]), deviation, gaussian=own.gaussian)
    near = min(max(float(own.consistent(axes)[chosen].sum()), float(low[0])), float(high[0]))
    return Amount(near, float(low[0]), float(high[0]))


def _share(own: Estimates, axes: Axes, part: Axes, spans: dict[int, int]) -> float:
    """Variance of the sum of some cells of a table for each unit of variance of a part of it."""
    inside = math.prod(spans[axis] * (1 - spans[axis] / own.sizes[axis]) for axis in part)
    beside = math.prod(spans[axis] for axis in axes if axis not in part) / cells_beside(own.sizes, axes, part)
    return inside * beside**2
