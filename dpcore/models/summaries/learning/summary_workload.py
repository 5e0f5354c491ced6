"""How much a first look has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

from typing import Final

from dpcore.learning.workload import rows_alone, table_bytes
from dpcore.models.summaries.learning.division import division_of
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

COUNTING: Final = "counting columns"
COMPARING: Final = "comparing columns"
PAIRS_FOUND: Final = "counting pairs"
#: Places of the same price as a place of a table on one axis, and on two, and of finer cells.
_SINGLE, _DOUBLE, _SEARCHED = 0.7, 1.0, 20.0
_CALLS: Final = 60.0


def summary_workload(plan: RunPlan) -> Workload:
    """All work of a first look."""
    division, rows = division_of(plan.schema, plan.parameters), plan.schema.max_rows
    cores = rows_alone(plan.schema)
    single = sum(len(axes) == 1 for axes in division.steps)
    places = rows * (_SINGLE * single + _DOUBLE * (len(division.steps) - single))
    places += _SINGLE * rows * len(division.trees) + _SEARCHED * rows * len(division.finer)
    groups = sum(len(level.cells) for levels in division.trees.values() for level in levels)
    groups += sum(len(cells) for _, cells in division.finer.values())
    draws = float(sum(map(division.cells, division.steps)) + groups)
    steps = {COUNTING: Work(places=places, draws=draws, calls=_CALLS, cores=cores)}
    if division.pairs:
        steps[COMPARING] = Work(places=_DOUBLE * rows * len(division.candidates), calls=_CALLS, cores=cores)
        usual = sum(map(division.cells, division.candidates)) / len(division.candidates)
        steps[PAIRS_FOUND] = Work(draws=division.pairs * usual, calls=_CALLS)
    cells = sum(map(division.cells, division.candidates))
    return Workload(steps, table_bytes(plan.schema) + 8.0 * (draws + cells))
