"""Audits of whole fits of explainable boosting machines: from the uploaded rows to all it says.

How an audit works: :mod:`dpcore.audit.bounds`. A machine is made of noisy histograms and sums;
the audit sees them all and adds them up so that one person shows best. That person is alone in a
category, with a target that no model expects: in regression, at the upper bound of a target
that is at the lower bound for everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

import numpy as np
import pandas as pd

from dpcore.arrays import Ints, Ints32
from dpcore.audit.bounds import Audit, AuditedMechanism, replaced, threshold_events
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning import scores
from dpcore.models.ebm.learning.ebm_learner import EBMLearner
from dpcore.models.ebm.learning.grid import COUNT_STEPS
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS, clipped_residuals
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, SecureRandom

_EPSILON: Final = Decimal(1)
_DELTA: Final = Decimal("0.01")
#: Whole fits are slow: a twentieth of the trials asked for.
_SHARE: Final = 0.05
#: Broken versions add so much less noise, for so few runs to tell.
_LESS: Final = 8
#: A clip so much too wide still fits the integers of residuals.
_WIDER: Final = 7
#: People whose x is no, and places for them.
_OTHERS, _PLACES = 200, 256
#: What is released, in thousandths of the unit in which it is added up.
_FINE: Final = 1000
_Target = Literal["y", "z"]
_TARGETS: Final = {
    "y": {"name": "y", "type": "boolean"},
    "z": {"name": "z", "type": "real", "lower": 0, "upper": 1, "bins": 1},
}
#: Cell of x that one person is alone in, of the 4 cells of x.
_ALONE, _CELLS = 1, 4
_CHOSEN: Final = {"epochs": 1, "replicates": 3, "evaluate": False, "delta": _DELTA}


@dataclass(frozen=True)
class EBMRuns:
    """Ingestion and whole fits; input 1 has one person more."""

    target: _Target
    """Classification or regression."""
    noise: int = 1
    """Noise is divided by this."""
    clipped: bool = True
    """Whether residuals of numbers are clipped as the noise on their sums supposes."""

    def __call__(self, side: int, trials: int) -> Ints:
        """Return the weighted sum of all that so many fits release."""
        learner, source = EBMLearner(), SecureRandom()
        schema = Schema.from_mapping(
            {"name": "audit", "max_rows": _PLACES, "columns": [{"name": "x", "type": "boolean"}, _TARGETS[self.target]]}
        )
        plan = learner.plan(schema, self.target, _EPSILON, _CHOSEN)
        # One table serves all fits: without evaluation nothing random of it reaches the output.
        table = ingest(frame_chunks(_frame(side)[["x", self.target]]), schema, source)
        run = Run(table, plan, source)
        sums = [self._watch(learner, run) for _ in range(trials)]
        return np.array(sums, dtype=np.int64)

    def _watch(self, learner: EBMLearner, run: Run) -> int:
        with ExitStack() as stack:
            answers = stack.enter_context(_observed(self.noise))
            if not self.clipped:
                stack.enter_context(replaced(scores, "clipped_residuals", _wide_residuals))
            learner.run(run)
        return round(_FINE * sum(self._evidence(*answer) for answer in answers))

    def _evidence(self, mechanism: FineGaussian, noisy: Ints) -> float:
        """Logarithm of the ratio of likelihoods with and without the person, up to a constant."""
        if noisy.ndim == 1:  # the histograms of x and of the target, one after the other
            largest = _CELLS + 1 if self.target == "y" else len(noisy) - 1
            seen = COUNT_STEPS * (int(noisy[_ALONE]) + int(noisy[largest]))
        else:
            # of all replicates, over runs of bins: every bin for itself, or all together
            seen = RESIDUAL_STEPS * int(noisy[:, min(_ALONE, noisy.shape[1] - 1), 0].sum())
        return float(seen / mechanism.scale**2)

    def broken(self) -> dict[str, AuditedMechanism]:
        """What the audit must catch."""
        wide = {f"clip {_WIDER} times as wide": replace(self, clipped=False)} if self.target == "z" else {}
        return {f"noise divided by {_LESS}": replace(self, noise=_LESS), **wide}


def _frame(side: int) -> pd.DataFrame:
    """Many who are alike; on input 1 somebody who is not."""
    rows = [("no", "no", 0.0)] * _OTHERS + [("yes", "yes", 1.0)] * side
    return pd.DataFrame(rows, columns=["x", "y", "z"])


@contextmanager
def _observed(noise: int) -> Iterator[list[tuple[FineGaussian, Ints]]]:
    """Collect all that Gaussian mechanisms release, their noise divided by ``noise``."""
    answers: list[tuple[FineGaussian, Ints]] = []
    release = FineGaussian.release

    def observe(mechanism: FineGaussian, values: Ints, randomness: RandomSource) -> Ints:
        noisy = values + (release(mechanism, values, randomness) - values) // noise
        answers.append((mechanism, noisy))
        return noisy

    with replaced(FineGaussian, "release", observe):
        yield answers


def _wide_residuals(labels: Ints32, scores: Ints32, clip: float, residuals: Ints32) -> None:
    """``clipped_residuals`` with a wider clip, in the steps of the right one."""
    clipped_residuals(labels, scores, _WIDER * clip, residuals)
    residuals *= _WIDER


def ebm_audit() -> Audit:
    """Whole fit of a machine that tells two classes apart."""
    return _audit("shape functions of classes, whole fit", EBMRuns("y"))


def ebm_outlier_audit() -> Audit:
    """Whole fit of a machine that predicts a number, with an outlier."""
    return _audit("shape functions of numbers, whole fit", EBMRuns("z"))


def _audit(name: str, sound: EBMRuns) -> Audit:
    return Audit(
        name, sound, threshold_events, sound.broken(), epsilon=float(_EPSILON), delta=float(_DELTA), share=_SHARE
    )
