"""The learner of first looks: plan, count, release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.hierarchies import CodeLevel
from dpcore.learning.learner import Learner, PlanRequest, Run
from dpcore.models.summaries.learning.accounting import Noise, noise_of, plan_of
from dpcore.models.summaries.learning.pair_count import with_pairs
from dpcore.models.summaries.learning.pairs import find_pairs
from dpcore.models.summaries.learning.summary_queries import COUNT_STEPS, finer_counts, level_counts, table_counts
from dpcore.models.summaries.learning.summary_workload import COUNTING, PAIRS_FOUND, summary_workload
from dpcore.models.summaries.released.estimates import Axes, Pair
from dpcore.models.summaries.released.finer import CodeLevelTable, CodeTree, FinerTable
from dpcore.models.summaries.released.summary_family import SUMMARIES
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.privacy.mechanisms import FineGaussian, GeometricMechanism
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Workload

#: Digits of a released count behind the point, of Gaussian noise.
_DIGITS = 3


class SummaryLearner(Learner):
    """Differentially private tables of counts of all columns, of groups and of pairs.

    Guarantee: pure epsilon-DP per person, or with a delta (epsilon, delta)-DP by Gaussian noise; one
    person added or removed, unconditional. Sensitivities and proofs: ``docs/privacy/summaries.md``. Nobody
    is set aside: what is told are the counts themselves.
    """

    family = SUMMARIES
    built_for_people = True

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        return plan_of(with_pairs(plan_request))

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return summary_workload(plan)

    def run(self, run: Run) -> SummaryModel:
        """Spend the plan's budget on the table and return the released counts."""
        noise = noise_of(run.plan)
        division = noise.division
        run.progress(COUNTING, 0, 1)
        first = list(noise.parts)
        exact = table_counts(run.table, division.axes, division.sizes, first)
        tables = [_noisy(run, noise, axes, own, noise.first(axes)) for axes, own in zip(first, exact, strict=True)]
        levels = Levels(_trees(run, noise), _finer(run, noise))
        run.progress(COUNTING, 1, 1)
        found: list[Pair] = []
        if division.pairs:
            known = _model(run.plan, noise, tables, found, levels).estimates
            found, counts = find_pairs(run, noise, known)
            mechanisms = noise.found(found)
            tables += [_noisy(run, noise, pair, own, mechanisms[pair]) for pair, own in zip(found, counts, strict=True)]
            run.progress(PAIRS_FOUND, 1, 1)
        return _model(run.plan, noise, tables, found, levels)


@dataclass(frozen=True)
class Levels:
    """Coarser and finer counts of single columns."""

    trees: list[CodeTree]
    finer: list[FinerTable]


def _trees(run: Run, noise: Noise) -> list[CodeTree]:
    """Counts of the levels above the columns of codes that are counted down their groups."""
    division, places = noise.division, list(noise.division.trees)
    exact = table_counts(run.table, division.axes, division.sizes, [(place,) for place in places]) if places else []
    return [
        CodeTree(
            axis=axis,
            levels=tuple(
                _level(run, noise, level, level_counts(counts, level.groups), noise.level(axis, place))
                for place, level in enumerate(division.trees[axis])
            ),
        )
        for axis, counts in zip(places, exact, strict=True)
    ]


def _finer(run: Run, noise: Noise) -> list[FinerTable]:
    """Counts of finer cells of columns of numbers."""
    return [
        FinerTable(
            axis=axis,
            ends=ends,
            cells=cells,
            counts=_counts(run, noise, finer_counts(run.table, noise.division.axes[axis], ends), noise.level(axis, -1)),
            deviation=noise.deviation(noise.level(axis, -1)),
        )
        for axis, (ends, cells) in noise.division.finer.items()
    ]


def _level(
    run: Run, noise: Noise, level: CodeLevel, exact: Ints, mechanism: GeometricMechanism | FineGaussian
) -> CodeLevelTable:
    return CodeLevelTable(
        name=level.name,
        cells=level.cells,
        groups=level.groups,
        counts=_counts(run, noise, exact, mechanism),
        deviation=noise.deviation(mechanism),
    )


def _noisy(run: Run, noise: Noise, axes: Axes, exact: Ints, mechanism: GeometricMechanism | FineGaussian) -> NoisyTable:
    return NoisyTable(axes=axes, counts=_counts(run, noise, exact, mechanism), deviation=noise.deviation(mechanism))


def _counts(run: Run, noise: Noise, exact: Ints, mechanism: GeometricMechanism | FineGaussian) -> tuple[float, ...]:
    if noise.gaussian:
        counts = np.round(mechanism.release(exact * COUNT_STEPS, run.randomness) / COUNT_STEPS, _DIGITS)
    else:
        counts = mechanism.release(exact, run.randomness).astype(np.float64)
    return tuple(counts.ravel().tolist())


def _model(plan: RunPlan, noise: Noise, tables: list[NoisyTable], found: list[Pair], levels: Levels) -> SummaryModel:
    division = noise.division
    return SummaryModel(
        axes=division.axes,
        sizes=division.sizes,
        tables=tuple(tables),
        by=division.by,
        crosstabs=division.crosstabs,
        found=tuple(found),
        trees=tuple(levels.trees),
        finer=tuple(levels.finer),
        gaussian=noise.gaussian,
        count_margin=plan.count_margin(),
    )
