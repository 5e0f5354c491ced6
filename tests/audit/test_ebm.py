"""Whole fits of explainable boosting machines, as black boxes."""

from dataclasses import replace

import numpy as np
import pytest

from dpcore.audit.bounds import Audit, threshold_events
from dpcore.audit.ebm import EBMRuns, ebm_audit, ebm_outlier_audit
from dpcore.models.ebm.learning import scores
from dpcore.models.ebm.learning.kernels import clipped_residuals
from dpcore.privacy.budgets import calibrate_fine_gaussian
from dpcore.privacy.mechanisms import FineGaussian


def run_with(audit, control, trials=4000):
    return replace(audit, controls={control: audit.controls[control]}).run(trials)


@pytest.mark.slow
def test_audit_of_whole_fits_for_classes():
    """In the short form, what one person changes is measured below, and runs are replayed, with mutants."""
    result = run_with(ebm_audit(), "noise divided by 8")
    assert result.holds, result
    assert result.caught, result


@pytest.mark.slow
def test_audit_of_whole_fits_for_numbers_catches_a_clip_too_wide():
    audit = ebm_outlier_audit()
    assert set(audit.controls) == {"noise divided by 8", "clip 7 times as wide"}
    result = run_with(audit, "clip 7 times as wide", trials=7000)  # With 4000, one in fifteen is missed.
    assert result.holds, result
    assert result.caught, result


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
