"""How much a run of a boosting machine has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

from typing import Final

from dpcore.domain.columns import NumericColumn
from dpcore.learning.workload import table_bytes
from dpcore.models.ebm.learning.accounting import EBMSettings, most_cells, output_count, pair_count
from dpcore.models.ebm.learning.boosting import FeatureTables
from dpcore.models.ebm.learning.grid import feature_cells
from dpcore.models.ebm.released.ebm_derived import CHOICE
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

#: Places for each row: of a feature in the histograms, of it and a replicate in an epoch, of a term in scores.
_HISTOGRAM, _EPOCH, _TERM = 12.0, 4.0, 40.0
#: Draws of the price of one of Gaussian noise on a fine grid.
_GAUSSIAN: Final = 3.3
#: A bin holds so many standard deviations of the noise on a count, about.
_CLEAR: Final = 6.0
#: Calls of a question to the table, and of a turn of all replicates; those of smoothing, for each square of bins; of
#: each column with random splits.
_QUESTION: Final = 1.0
_TURN, _SMOOTHING, _SPLITS = 2.6, 1 / 80, 0.3
_BEGINNING, _ENDING = 50.0, 100.0


def ebm_workload(plan: RunPlan) -> Workload:
    """All work of a boosting machine."""
    schema, parameters = plan.schema, plan.parameters
    rows, outputs = schema.max_rows, output_count(schema, plan.target)
    features, replicates = len(schema.columns) - 1, parameters.replicates
    most = most_cells(parameters.max_bins)
    cells = sum(len(own.merged(most)[0]) for own in feature_cells(schema, plan.target))
    steps = {
        "finding bins": Work(places=_HISTOGRAM * rows * features, draws=cells, calls=_BEGINNING),
        "learning shapes": _shapes(plan),
    }
    if parameters.pairs:
        asked = pair_count(schema, plan.target, parameters) if CHOICE in plan.split.parts else 0
        steps["choosing pairs"] = Work(places=rows * outputs * (asked * 3 + features), calls=_BEGINNING)
        steps["learning pairs"] = _boosting(plan, parameters.pairs, 64)
    terms = features + parameters.pairs
    steps["checking on people set aside"] = Work(places=_TERM * rows * terms, calls=_ENDING)
    scores = rows * (4 * replicates * outputs + features)
    return Workload(steps, table_bytes(schema, numbers=True) + scores + 8 * rows * outputs)


def _sizes(plan: RunPlan) -> list[int]:
    """Bins of each feature, about."""
    parameters: EBMSettings = plan.parameters
    clear = plan.schema.max_rows / (_CLEAR * plan.noise[0].scale)
    most = int(min(parameters.max_bins, 1 + clear))
    features = [column for column in plan.schema if column.name != plan.target]
    return [most if isinstance(own, NumericColumn) else len(own.cells) for own in features]


def _shapes(plan: RunPlan) -> Work:
    sizes, parameters = _sizes(plan), plan.parameters
    if parameters.method != "random_splits":
        return _boosting(plan, len(sizes), sum(sizes) / max(1, len(sizes)))
    feature_tables = FeatureTables.together(sizes, parameters.learning_rate)
    shared = parameters.epochs * parameters.replicates * output_count(plan.schema, plan.target)
    return Work(
        places=_EPOCH * shared * len(feature_tables.tables) * plan.schema.max_rows,
        draws=_GAUSSIAN * shared * len(sizes) * parameters.leaves,
        calls=parameters.epochs * (len(feature_tables.turns) * (_QUESTION + _TURN) + _SPLITS * len(sizes)),
    )


def _boosting(plan: RunPlan, features: int, bins: float) -> Work:
    """Every epoch asks once for each feature, for all replicates with noise of their own."""
    parameters: EBMSettings = plan.parameters
    outputs = output_count(plan.schema, plan.target)
    turns = parameters.epochs * features
    shared = turns * parameters.replicates * outputs
    smoothing = _SMOOTHING * bins**2 * outputs
    return Work(
        places=_EPOCH * shared * plan.schema.max_rows,
        draws=_GAUSSIAN * shared * bins,
        calls=turns * (_QUESTION + _TURN + smoothing),
    )
