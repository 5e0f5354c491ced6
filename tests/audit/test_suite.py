import inspect
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from dpcore.audit.bounds import (
    CONFIDENCE,
    Audit,
    AuditResult,
    epsilon_lower_bound,
    likelihood_events,
    ratio_bound,
    threshold_events,
)
from dpcore.audit.suite import AUDITS, MECHANISM_AUDITS, exponential_audit, noisy_max_audit, run_audits, threshold_audit
from dpcore.commands import app
from dpcore.privacy import mechanisms
from dpcore.privacy.budgets import calibrate_gaussian, discrete_gaussian_delta, gaussian_delta

#: Selections are made one by one: so many that bounds of the controls are five standard deviations above the claim.
TRIALS = {exponential_audit: 16_000, noisy_max_audit: 13_000}


@pytest.mark.parametrize("make", [make for make in MECHANISM_AUDITS if make is not threshold_audit])
def test_mechanism_keeps_its_claim_and_broken_versions_are_caught(make):
    result = make().run(TRIALS.get(make, 20_000))
    assert result.holds, result
    assert result.caught, result
    assert result.passed
    assert result.lower_bound > 0.3, "a bound near 0 would say nothing"


def test_a_text_of_one_person_is_shown_as_seldom_as_delta_says():
    """False alarms of the claim: 1e-6; that the threshold is nearly as low as it may be is exact."""
    result = threshold_audit().run(20_000)
    assert result.passed, result
    sound = mechanisms.ThresholdMechanism(1, 0.005, 0.05)
    assert not sound._keeps(sound.threshold - 1)


def test_every_mechanism_is_audited_by_itself(monkeypatch):
    seen = set()

    def noted(method):
        def run(mechanism, *given):
            seen.add(type(mechanism))
            return method(mechanism, *given)

        return run

    for base, method in ((mechanisms._AdditiveNoise, "release"), (mechanisms._Selection, "select")):
        monkeypatch.setattr(base, method, noted(getattr(base, method)))
    for make in MECHANISM_AUDITS:
        assert make in AUDITS
        make().mechanism(1, 1)
    bases = (mechanisms._AdditiveNoise, mechanisms._Selection)
    kinds = [kind for _, kind in inspect.getmembers(mechanisms, inspect.isclass) if issubclass(kind, bases)]
    assert seen == {kind for kind in kinds if not kind.__name__.startswith("_")}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_audits_long_form():
    for result in run_audits(trials=100_000):
        assert result.passed, result


def test_every_audit_has_a_control():
    assert len(AUDITS) == 19
    for make in AUDITS:
        assert make().controls


def _coin(first, second, source):
    """A mechanism that says 1 with a known chance: its epsilon is known."""

    def draw(side, trials):
        return (source.random(trials) < (first, second)[side]).astype(np.int64)

    return draw


def test_bound_of_randomised_response_is_close_below_the_truth():
    truth = math.log(0.75 / 0.25)
    coin = _coin(0.25, 0.75, np.random.default_rng(3))
    for events in (threshold_events, likelihood_events):
        bound = epsilon_lower_bound(coin, events, trials=40_000)
        assert truth - 0.2 < bound <= truth


def test_bound_looks_in_both_directions():
    """Chances 0.05 and 0.1: the ratio of 1s tells, in either order of the inputs."""
    for pair in ((0.05, 0.1), (0.1, 0.05)):
        coin = _coin(*pair, np.random.default_rng(5))
        bound = epsilon_lower_bound(coin, likelihood_events, trials=40_000, confidence=0.99)
        assert 0.3 < bound <= math.log(2)


def test_delta_is_given_away():
    """Chances 0.3 and 0.32 are (0, 0.02)-close: nothing may be certified at delta 0.05."""
    coin = _coin(0.3, 0.32, np.random.default_rng(5))
    assert epsilon_lower_bound(coin, likelihood_events, trials=40_000, delta=0.05) == 0.0


def test_false_alarms_are_as_rare_as_stated():
    """With a confidence of 0.9, at most a tenth of many audits may exceed the truth."""
    source = np.random.default_rng(1)
    coin, truth, repeats = _coin(0.3, 0.6, source), math.log(2), 400
    alarms = sum(
        epsilon_lower_bound(coin, likelihood_events, trials=400, confidence=0.9) > truth for _ in range(repeats)
    )
    assert alarms <= 0.1 * repeats


def test_ratio_bound_by_hand():
    assert ratio_bound(0, 0, 100, 0.95, 0.0) == 0.0
    assert ratio_bound(100, 100, 100, 0.95, 0.0) == 0.0
    assert ratio_bound(100, 0, 100, 0.95, 0.0) == pytest.approx(math.log(0.025 ** (1 / 100) / (1 - 0.025 ** (1 / 100))))
    assert ratio_bound(50, 10, 100, 0.95, 0.1) < ratio_bound(50, 10, 100, 0.95, 0.0)


def test_an_audit_that_cannot_catch_its_control_does_not_pass():
    fair = _coin(0.5, 0.5, np.random.default_rng(2))
    result = Audit("nothing", fair, threshold_events, {"no change": fair}).run(1000)
    assert result.holds
    assert not result.caught
    assert not result.passed
    assert result.verdict == "too few trials to judge"


@pytest.mark.parametrize(
    ("bound", "control", "verdict"),
    [(0.9, 1.1, "passed"), (0.9, 0.8, "too few trials to judge"), (1.1, 1.2, "FAILED"), (1.1, 0.8, "FAILED")],
)
def test_only_a_claim_that_is_refuted_fails(bound, control, verdict, monkeypatch):
    result = AuditResult("noise", 1.0, 0.0, bound, {"halved": control}, 1000, CONFIDENCE)
    monkeypatch.setattr("dpcore.commands.operation.audits.run_audits", lambda _trials: [result])
    told = CliRunner().invoke(app, ["audit", "--trials", "1000"])
    assert result.verdict == verdict
    assert verdict in told.output
    assert told.exit_code == (0 if verdict == "passed" else 1)
    assert ("FAILED" in told.output) == (verdict == "FAILED")


def test_the_continuous_formula_is_no_bound_for_discrete_gaussian_noise():
    """Why the claim audited is computed from the discrete distribution itself."""
    scale = 1 / calibrate_gaussian(1.0, 1e-5)
    assert discrete_gaussian_delta(scale, 1.0) > 1.03e-5
    assert discrete_gaussian_delta(0.65, 8.0) > 3 * gaussian_delta(1 / 0.65, 8.0)
    assert discrete_gaussian_delta(50.0, 0.05) == pytest.approx(gaussian_delta(1 / 50, 0.05), rel=1e-3)
