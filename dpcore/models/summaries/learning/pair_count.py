"""How many pairs pay for invented records: a public rule, before any record is seen.

Pairs take a part of the budget, which leaves more noise to the columns. How far invented records are expected
to be off is told for some numbers of pairs from the plan alone: the sizes of tables, their noise, and the
declared ``max_rows`` in place of the number of people. The number with the least is taken. Constants were
chosen on six public tables.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Final

import numpy as np

from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import PlanRequest
from dpcore.models.summaries.learning.accounting import Noise, expected, noise_of, plan_of
from dpcore.models.summaries.learning.division import division_of
from dpcore.models.summaries.released.summary_parameters import MOST_PAIRS, SummaryParameters

#: Numbers of pairs that are compared, for each axis.
_FOR_EACH: Final = (0.5, 1, 2, 4)
#: Half the mean size of a standard normal variable: total variation for each cell and unit of its deviation.
_HALF_SIZE: Final = 0.4
#: Total variation that pairs may take off, if all are counted; how that grows with the share of them; the noise
#: that halves it.
_GAIN, _GROWTH, _HALVED = 0.08, 0.3, 0.3
#: What noise on a column counts for in its pairs: in both columns, and some of it is taken off afterwards.
_BOTH: Final = 1.4


def with_pairs(plan_request: PlanRequest) -> PlanRequest:
    """What is asked for with a number of pairs in place of ``records``. Public.

    Raises
    ------
    BudgetError, RequestError
        If what is asked for cannot be planned even without pairs.
    """
    parameters: SummaryParameters = plan_request.parameters
    if not parameters.records:
        return plan_request
    plain = parameters.model_copy(update={"records": False, "pairs": 0})
    best, least = plain, expected_variation(plan_request, plain)
    for number in _numbers(plan_request, plain):
        own = plain.model_copy(update={"pairs": number})
        try:
            away = expected_variation(plan_request, own)
        except (BudgetError, RequestError):  # Too many: fewer may do.
            continue
        if away < least:
            best, least = own, away
    return replace(plan_request, parameters=best)


def _numbers(plan_request: PlanRequest, plain: SummaryParameters) -> list[int]:
    """Numbers of pairs that are compared, 0 apart."""
    try:
        division = division_of(plan_request.schema, plain.model_copy(update={"pairs": 1}))
    except RequestError:  # There are no pairs, or too many to look through.
        return []
    most, axes = min(len(division.candidates), MOST_PAIRS), len(division.axes)
    return sorted({most, *(min(most, round(each * axes)) for each in _FOR_EACH)})


def expected_variation(plan_request: PlanRequest, parameters: SummaryParameters) -> float:
    """Total variation that invented records are expected to have, but for what all numbers of pairs share."""
    noise = noise_of(plan_of(replace(plan_request, parameters=parameters)))
    division, rows = noise.division, plan_request.schema.max_rows
    own = expected(noise)
    columns = [_HALF_SIZE * size * own.deviation((axis,)) / rows for axis, size in enumerate(division.sizes)]
    away = _BOTH * float(np.mean(columns))
    if not division.pairs:
        return away
    counted = (division.pairs / comb(len(division.axes), 2)) ** _GROWTH
    return away - _GAIN * float(counted) / (1 + _noise_of_pairs(noise) / rows / _HALVED)


def _noise_of_pairs(noise: Noise) -> float:
    """People that noise moves in the table of a pair: on average over as many as are found, mostly smaller ones."""
    division = noise.division
    order = sorted(division.candidates, key=division.cells)
    last = max(division.pairs, len(order) // 2) - 1
    places = np.linspace(0, last, division.pairs).round().astype(int)
    found = noise.found([order[place] for place in places])
    own = [_HALF_SIZE * division.cells(pair) * noise.deviation(mechanism) for pair, mechanism in found.items()]
    return float(np.mean(own))
