"""Whole runs, watched: every answer, its mechanism, and what one person changes in it."""

import math

import numpy as np
import pandas as pd
import pytest

from dpcore.models.ebm.learning import scores
from dpcore.models.ebm.learning.accounting import (
    CHOICE,
    choice_epsilon,
    cost_of,
    histogram_mechanism,
    pair_count_mechanism,
    pair_residual_mechanism,
    residual_mechanism,
    size_epochs,
    size_mechanism,
)
from dpcore.models.ebm.learning.grid import pair_sensitivity
from dpcore.models.ebm.learning.kernels import NUMBER_STEPS
from dpcore.privacy.mechanisms import ExponentialMechanism, FineGaussian
from tests.oracles import ebm_oracle as oracle
from tests.support.learning import ebm_cases as cases
from tests.support.rows import for_each

ROWS = 150
RUNS = [
    ("ill", {}),
    ("ill", {"pairs": 2}),
    ("ill", {"method": "random_splits", "epochs": 20}),
    ("stage", {"pairs": 1}),
    ("stage", {"method": "random_splits", "epochs": 20, "leaves": 2}),
    ("stay", {"pairs": 2}),
    ("stay", {"pairs": 6, "epochs": 5}),
    ("stay", {"method": "random_splits", "epochs": 20}),
]


def cost(plan):
    return cost_of(plan.schema, plan.target, plan.epsilon, plan.delta, plan.parameters)


class Tape:
    """Every noisy answer of a run; or, with a run before, the same released values again.

    Two runs that release the same differ in nothing but their records, so that the distance of
    their exact answers is what composition bounds.
    """

    def __init__(self, monkeypatch, before=None):
        self.answers, self._before = [], before
        release, select = FineGaussian.release, ExponentialMechanism.select

        def take(mechanism, exact, released):
            if before is not None:
                known, _, released = before.answers[len(self.answers)]
                assert known == mechanism
            self.answers.append((mechanism, np.array(exact), released))
            return released

        monkeypatch.setattr(FineGaussian, "release", lambda m, x, source: take(m, x, release(m, x, source)))
        monkeypatch.setattr(ExponentialMechanism, "select", lambda m, x, source: take(m, x, select(m, x, source)))

    def of(self, mechanism):
        return [exact for own, exact, _ in self.answers if own == mechanism]


@for_each(("target", "chosen"), RUNS)
def test_every_answer_comes_from_the_mechanism_that_was_budgeted(target, chosen, monkeypatch):
    tape = Tape(monkeypatch)
    private = cases.table(cases.frame(ROWS), cases.schema(target=target))
    plan, model = cases.fit(private, target, **chosen)
    own, domain = cost(plan), plan.schema
    pairs, columns = plan.parameters.pairs, len(domain.columns) - 1
    gaussian = [m for m, _, _ in tape.answers if isinstance(m, FineGaussian)]
    squares = math.fsum((m.sensitivity / m.scale) ** 2 for m in gaussian)
    assert squares <= own.mu**2 * (1 + 1e-12)
    assert squares >= own.mu**2 * (1 - 1e-6)
    expected = {histogram_mechanism(own, domain): 1}
    together = columns if plan.parameters.method == "random_splits" else 1
    expected[residual_mechanism(own, domain, target, together)] = plan.parameters.epochs * columns // together
    if target == "stay" and plan.parameters.method == "all_bins":
        expected[size_mechanism(own)] = len(size_epochs(plan.parameters))
    if pairs:
        expected[pair_count_mechanism(own)] = 1
        expected[pair_residual_mechanism(own, domain, target)] = plan.parameters.epochs * pairs
    assert {m: gaussian.count(m) for m in set(gaussian)} == expected
    choices = [m for m, _, _ in tape.answers if isinstance(m, ExponentialMechanism)]
    outputs = len(model.intercept)
    assert all(
        (m.sensitivity, m.epsilon, m.monotone) == (pair_sensitivity(outputs), choice_epsilon(own), False)
        for m in choices
    )
    assert len(choices) == (pairs if pairs < 6 else 0), "six are all there are"
    if choices:
        assert sum(m.epsilon for m in choices) <= own.split[CHOICE]
    (histograms,) = tape.of(histogram_mechanism(own, domain))
    assert histograms.sum() == ROWS * len(domain.columns) * 2**28


def outlier(target, side):
    """Somebody whom no model expects, at a bound of everything."""
    return {
        "x0": float(side),
        "x1": 1.0 - side,
        "x2": float(side),
        "c": "d",
        "ill": ("yes", "no")[side],
        "stage": ("iii", "ii")[side],
        "stay": (30.0, -10.0)[side],
    }


@pytest.mark.crossed
@pytest.mark.parametrize(("target", "chosen"), RUNS)
@pytest.mark.parametrize(
    ("rows_per_person", "side"),
    [(1, 0), (4, 1), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1, 1), (4, 0)))],
)
def test_one_person_more_stays_within_mu_over_the_whole_run(target, chosen, rows_per_person, side, monkeypatch):
    """Adaptive composition, replayed: the same released values, one person more."""
    domain = cases.schema(target=target, rows_per_person=rows_per_person)
    less = cases.frame(ROWS, seed=side)
    rows = pd.DataFrame([{"person": 10**6, **outlier(target, side)}] * rows_per_person)
    more = pd.concat([less, rows], ignore_index=True)
    with monkeypatch.context() as patch:
        first = Tape(patch)
        plan, before = cases.fit(cases.table(less, domain), target, **chosen)
    with monkeypatch.context() as patch:
        second = Tape(patch, first)
        _, after = cases.fit(cases.table(more, domain), target, **chosen)
    assert after == before, "equal answers make equal models: there is no other way out"
    assert len(first.answers) == len(second.answers)
    squares = []
    for (mechanism, one, _), (_, other, _) in zip(first.answers, second.answers, strict=True):
        change = (other - one).astype(object)
        if isinstance(mechanism, ExponentialMechanism):
            assert max(abs(change)) <= rows_per_person * mechanism.sensitivity
            continue
        length = math.sqrt(sum(int(c) ** 2 for c in change.ravel()))
        assert length <= rows_per_person * mechanism.sensitivity * (1 + 1e-15)
        squares.append((length / mechanism.scale) ** 2)
    spent = math.sqrt(math.fsum(squares)) / rows_per_person
    assert spent <= cost(plan).mu * (1 + 1e-12)
    assert spent >= 0.25 * cost(plan).mu, "this person is not far from the worst case"


def test_released_counts_and_intercept_come_from_the_noisy_histograms(monkeypatch):
    tape = Tape(monkeypatch)
    private = cases.table(cases.frame(800), cases.schema(target="ill"))
    plan, model = cases.fit(private, "ill", "8")
    mechanism = histogram_mechanism(cost(plan), plan.schema)
    released = next(noisy for own, _, noisy in tape.answers if own == mechanism) / 2**28
    share = released[-1] / released[-2:].sum()
    shift = model.intercept[0] - math.log(share / (1 - share))
    assert abs(shift) < 0.1, "what is left is what centring moved"
    counts = sum(sum(term.noisy_counts) for term in model.terms)
    assert counts == pytest.approx(released[:-2].sum(), abs=100)


@for_each("target", ["ill", "stage", "stay"])
def test_terms_are_centred_and_predict_what_boosting_learned(target):
    private = cases.table(cases.frame(800), cases.schema(target=target))
    _, model = cases.fit(private, target, "8", pairs=1)
    size = max(np.abs(term.scores).max() for term in model.terms)
    for term in model.terms[:-1]:
        assert np.abs(term.weights @ np.asarray(term.scores)).max() < 0.02 * size
    frame = private.public_frame()
    predicted = model.predict(frame, private.schema)
    if target == "stay":
        assert np.corrcoef(predicted, frame["stay"])[0, 1] > 0.5
        assert model.bounds == (-10, 30)
    else:
        truth = frame[target].map({label: i for i, label in enumerate(model.classes)})
        assert (predicted == truth).mean() > 0.6


@pytest.mark.parametrize("target", ["ill", "stay"])
def test_one_epoch_without_noise_is_one_step_of_the_oracle(target):
    """From raw values to a released model, against the oracle's formula."""
    data = cases.frame(5000, 0, seed=3)
    private = cases.table(data, cases.schema(0, 5000, target=target))
    with cases.quiet_replicates():
        plan, model = cases.fit(private, target, "20", cases.Quiet(0), epochs=1, replicates=3)
    own, (term,) = cost(plan), model.terms
    exact = data["c"].value_counts().reindex(["a", "b", "d", "x", "y"], fill_value=0).to_numpy()
    assert term.noisy_counts == tuple(exact)
    counts = np.maximum(exact, np.array(term.count_errors) / 2)
    counts *= 5000 / counts.sum()
    noise = (residual_mechanism(own, plan.schema, target).scale / 2**28) ** 2
    if target == "ill":
        labels, unit, width, low = (data["ill"] == "yes").to_numpy(float), 1.0, 1.0, 0.0
        start = labels.mean()
        base, curvature, doubt = math.log(start / (1 - start)), start * (1 - start), 0.1
        variance, residuals = curvature, labels - start
    else:
        labels, width, low = (data["stay"].to_numpy() + 10) / 40, 40.0, -10.0
        middles = (np.minimum(np.floor(labels * 128), 127) + 0.5) / 128
        base, curvature = float(middles.mean()), 1.0
        unit = math.sqrt(np.var(middles) + 1 / (12 * 128**2))
        clip = np.quantile(np.abs(middles - base), 0.99)
        variance, residuals, doubt = unit**2, np.clip(labels - base, -clip, clip), 0.1 * unit
        noise *= clip**2
    sums = [residuals[data["c"] == cell].sum() for cell in ("a", "b", "d")] + [0.0, 0.0]
    (shape, *_) = oracle.smoothed(
        [sums] * 3,
        counts,
        0,
        runs=range(5),
        hessian=curvature * counts,
        sampling=variance * counts,
        noise=noise,
        unit=unit,
        doubt=doubt,
    )
    shift = counts @ shape / counts.sum()
    # The intercept is rounded to a score step: 2**-17 at most.
    tolerance = 1e-4 if target == "ill" else 0.02
    np.testing.assert_allclose([score for (score,) in term.scores], (shape - shift) * width, atol=tolerance * width)
    assert model.intercept[0] == pytest.approx((base + shift) * width + low, abs=tolerance * width)


def test_what_everybody_starts_from_is_what_is_released_where_little_room_is_left_for_each_score(monkeypatch):
    """As with hundreds of columns: a start that is cut off would be learned once more, by the shapes."""
    monkeypatch.setattr(scores, "LARGEST_SCORE", 2 * NUMBER_STEPS)
    data = cases.frame(400)
    private = cases.table(data.assign(stay=data["stay"] / 4 + 20), cases.schema(target="stay"))
    with cases.quiet_replicates():
        _, model = cases.fit(private, "stay", epsilon="50", epochs=20)
    predicted = model.scores(data, private.schema).mean()
    assert abs(predicted - (data["stay"] / 4 + 20).mean()) < 0.5
