"""How well a run may do at each epsilon: rehearsals over a range of epsilons. Free.

Quality is exact on fresh invented records of the same shape, because they are invented.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final, Literal

import numpy as np

from dpcore.arrays import Array, Floats
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Learner
from dpcore.rehearsal.running import invented_table, run_on, shape_for
from dpcore.rehearsal.shape import Shape
from dpcore.rehearsal.trust import close_from
from dpcore.released.evidence import Records
from dpcore.released.family import ReleasedFamily
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release

EPSILONS: Final = tuple(map(Decimal, ("0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")))
#: Least and most repeats at one epsilon.
REPEATS: Final = (3, 8)
#: A mean is steady if its standard error is no more, as a share of all records; or of the spread of the target.
_STEADY = 0.015
#: Most runs of one outlook: it is made in the process that serves the pages.
_MOST_RUNS = 100
_FRESH_ROWS = 5_000
#: Seeds of the fresh records and of the first repeat.
_FRESH, _FIRST = 101, 1
_TWO_DIGITS = Context(prec=2, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class Point:
    """Quality at one epsilon: mean, least and largest over the repeats."""

    epsilon: Decimal
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class QualityForecast:
    """Quality over epsilons, on invented records."""

    measure: Literal["accuracy", "RMSE"]
    """Share predicted correctly; or root mean squared error, in units of the target: the less the better."""
    points: tuple[Point, ...]
    """Epsilons that the run can be made with, ascending."""
    baseline: float
    """The same for the most frequent class or the mean, which no record is needed for."""
    ceiling: float | None
    """Quality of the earlier result that the target follows; ``None`` without one."""
    paired: bool
    """Whether the records, the target among their columns, follow pairs that a first look counted."""
    used: tuple[str, ...]
    """Ids of the releases that shaped the records; empty for the schema alone."""
    close_from: Decimal | None
    """Smallest epsilon from which real runs came close; ``None`` if that is not to be expected."""


def forecast_quality(
    learner: Learner,
    schema: Schema,
    target: str,
    parameters: Mapping[str, object],
    *,
    delta: Decimal = Decimal(0),
    releases: Sequence[Release] = (),
    epsilons: Sequence[Decimal] = EPSILONS,
    repeats: tuple[int, int] = REPEATS,
    progress: Callable[[int, int], None],
) -> QualityForecast:
    """Rehearse a request at several epsilons.

    Parameters
    ----------
    parameters : mapping
        As in the request: what they leave open is chosen for each epsilon.
    delta : Decimal
        That of the request's plan: every epsilon is rehearsed in the same form.
    releases : sequence of Release
        Earlier releases of the data set, whose results shape the records.
    repeats : tuple of int
        The least and the most at one epsilon: as many as make its mean steady.
    progress : callable
        Told how many of how many runs are done; there are more if means are not steady.

    Raises
    ------
    RequestError
        If nothing is predicted, no epsilon can be used, or there is too much to run.
    """
    if not learner.targeted:
        raise RequestError(f"{learner.title} predict nothing, so no accuracy can be planned.")
    plans = [
        plan
        for epsilon in sorted(epsilons)
        if (plan := _plan(learner, schema, target, epsilon, parameters, delta)) is not None
    ]
    least, most = repeats
    if not 0 < len(plans) * most <= _MOST_RUNS:
        raise RequestError(f"Choose values of ε for 1 to {_MOST_RUNS} runs.")
    shape = shape_for(learner, schema, plans[0], releases)
    fresh, quality, baseline = _measured(shape, learner.family)
    numbers = learner.family.predicts_number(schema, target)
    unit = baseline if numbers else 1.0
    values: dict[Decimal, list[float]] = {plan.epsilon: [] for plan in plans}
    done = 0
    for repeat in range(most):
        asked = [plan for plan in plans if repeat < least or not is_steady(values[plan.epsilon], unit)]
        if not asked:
            break
        total = max(len(plans) * least, done + len(asked))
        table = invented_table(shape, _FIRST + repeat)
        for plan in asked:
            _, model = run_on(learner, table, plan, _FIRST + repeat)
            values[plan.epsilon].append(quality(learner.family.evidence(model).predicted(fresh)))
            done += 1
            progress(done, total)
    return QualityForecast(
        "RMSE" if numbers else "accuracy",
        tuple(Point(e, float(np.mean(v)), min(v), max(v)) for e, v in values.items()),
        baseline,
        None if shape.teacher is None else shape.teacher.ceiling,
        shape.paired,
        shape.used,
        close_from(shape, learner.family, delta),
    )


def _plan(
    learner: Learner, schema: Schema, target: str, epsilon: Decimal, parameters: Mapping[str, object], delta: Decimal
) -> RunPlan | None:
    """The plan at an epsilon; None if it is too small for this run."""
    try:
        return learner.plan(schema, target, epsilon, dict(parameters), delta)
    except (RequestError, BudgetError):
        return None


def _measured(shape: Shape, family: ReleasedFamily) -> tuple[Records, Callable[[Array], float], float]:
    """Fresh records, the quality of predictions for those whose target is known, and that of a constant."""
    frame, children = shape.draw(_FRESH_ROWS, _FRESH)
    records = Records(shape.schema, {shape.schema.entity: frame, **children})
    if family.predicts_number(shape.schema, shape.target):
        numbers = frame[shape.target].to_numpy(dtype=np.float64)
        known = ~np.isnan(numbers)
        return records, lambda found: _rmse((found - numbers)[known]), float(numbers[known].std())
    codes = records.cells(shape.target)
    known = codes < len(shape.schema.column(shape.target).classes)
    return (
        records,
        lambda found: float((found == codes)[known].mean()),
        float(np.bincount(codes[known]).max() / known.sum()),
    )


def _rmse(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def is_steady(values: Sequence[float], unit: float) -> bool:
    """Whether more repeats would hardly move the mean; ``unit`` is what its error is measured in."""
    return len(values) < 2 or float(np.std(values, ddof=1)) / math.sqrt(len(values)) <= _STEADY * unit


def steady(found: QualityForecast) -> tuple[float, ...]:
    """Means that never get worse with epsilon: noise in few repeats would make them do so."""
    from scipy.optimize import isotonic_regression

    means = np.array([point.mean for point in found.points])
    return tuple(isotonic_regression(means, increasing=found.measure == "accuracy").x.tolist())


def epsilon_for(found: QualityForecast, wanted: float) -> Decimal | None:
    """The smallest epsilon that reaches a quality on average; None if none of them does.

    Between two epsilons it is interpolated and rounded up to two digits.
    """
    sign = 1 if found.measure == "accuracy" else -1
    means = [sign * mean for mean in steady(found)]
    place = next((i for i, mean in enumerate(means) if mean >= sign * wanted), None)
    if place is None or place == 0:
        return None if place is None else found.points[0].epsilon
    low, high = found.points[place - 1].epsilon, found.points[place].epsilon
    part = (sign * wanted - means[place - 1]) / (means[place] - means[place - 1])
    exact = float(low) * math.exp(part * math.log(float(high / low)))
    return min(_TWO_DIGITS.create_decimal(exact).normalize(), high)
