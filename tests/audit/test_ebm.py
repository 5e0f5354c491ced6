"""Whole fits of explainable boosting machines, as black boxes."""

from dataclasses import replace

import numpy as np
import pytest

from dpcore.audit.bounds import Audit, threshold_events
from dpcore.audit.ebm import EBMRuns
from dpcore.models.ebm.learning import scores
from dpcore.models.ebm.learning.kernels import clipped_residuals
from dpcore.privacy.budgets import calibrate_fine_gaussian
from dpcore.privacy.mechanisms import FineGaussian


def test_the_evidence_is_as_strong_as_is_claimed_and_no_stronger():
    """What one person changes, in standard deviations, is nearly the mu of the run."""
    mu = calibrate_fine_gaussian(1, 0.01, 100)
    without, with_one = (EBMRuns("y")(side, 100) for side in (0, 1))
    shift = (with_one.mean() - without.mean()) / np.std([*without - without.mean(), *with_one - with_one.mean()])
    assert mu - 0.7 < shift < mu + 0.7, "five standard errors either way"


def test_an_audit_leaves_the_engine_as_it_was():
    release = FineGaussian.release
    EBMRuns("z", noise=8, clipped=False)(1, 2)
    assert FineGaussian.release is release
    assert scores.clipped_residuals is clipped_residuals


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_halved_noise_is_caught_by_many_runs():
    sound = EBMRuns("y")
    audit = Audit("many", sound, threshold_events, {"noise halved": replace(sound, noise=2)}, delta=0.01)
    assert audit.run(16_000).passed
