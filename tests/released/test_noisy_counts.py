import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom
from dpcore.released.evaluation import accuracy_of, auc_of, confusion_of, evaluate
from dpcore.released.noisy_counts import noise_intervals, point_estimates, sum_tail
from tests.oracles import rules_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, gaussian_pmf
from tests.support.rows import for_each

TRUE_COUNTS = {
    2: np.array([[40, 3], [0, 0], [5, 5], [300, 900]]),
    3: np.array([[40, 3, 0], [0, 0, 0], [5, 5, 30], [300, 900, 1]]),
    8: np.array([[9, 8, 7, 6, 5, 4, 3, 2], [100, 0, 0, 0, 0, 0, 0, 0]]),
}


@pytest.mark.crossed
@pytest.mark.parametrize("classes", sorted(TRUE_COUNTS))
@pytest.mark.parametrize("epsilon", ["0.05", "0.5"])
def test_intervals_cover_what_noise_hides(classes, epsilon):
    counts, alpha = TRUE_COUNTS[classes], (1.0,) * classes
    mechanism, draws = GeometricMechanism(1, Decimal(epsilon)), 2000
    truth = point_estimates(counts, alpha)
    noisy = mechanism.release(np.tile(counts, (draws, 1, 1)), SecureRandom())
    people = counts.sum(axis=1, keepdims=True)
    shares = np.where(people > 0, counts / np.maximum(people, 1), truth)
    covered, narrow, plain = (np.zeros(counts.shape) for _ in range(3))
    right = 1 / float(epsilon)
    # Each group has an interval of its own, so all draws may stand in one table.
    for scale, wanted, hits in ((right, truth, covered), (0.4 * right, truth, narrow), (right, shares, plain)):
        ends = noise_intervals(noisy.reshape(-1, classes), alpha, scale)
        low, high = np.moveaxis(ends.reshape(*noisy.shape, 2), -1, 0)
        hits += ((low - 1e-12 <= wanted) & (wanted <= high + 1e-12)).sum(axis=0)
    assert binom.cdf(covered.min(), draws, 0.95) > FALSE_ALARM
    assert binom.cdf(plain.min(), draws, 0.95) > FALSE_ALARM, "shares of 0 and 1 included"
    assert binom.cdf(narrow.min(), draws, 0.95) < FALSE_ALARM, "too small a scale must show"


def test_count_margin_covers_the_noise():
    draws = 40_000
    for epsilon in ("0.02", "0.5", "2"):
        noise = GeometricMechanism(1, Decimal(epsilon)).release(np.zeros(draws, dtype=np.int64), SecureRandom())
        margin = geometric_tail(1 / float(epsilon), 0.95)
        assert binom.cdf(np.sum(np.abs(noise) <= margin), draws, 0.95) > FALSE_ALARM
        assert binom.sf(np.sum(np.abs(noise) <= margin - 1), draws, 0.95) > FALSE_ALARM


@for_each(("scale", "terms"), [(0.4, 2), (3.0, 2), (3.0, 7), (40.0, 3)])
def test_sum_tail_is_the_smallest_that_covers(scale, terms):
    reach = int(60 * scale) + 2
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    total = one = one / one.sum()
    for _ in range(terms - 1):
        total = np.convolve(total, one)
    middle, tail = len(total) // 2, sum_tail(scale, terms, 0.95)
    assert total[middle - tail : middle + tail + 1].sum() >= 0.95
    assert total[middle - tail + 1 : middle + tail].sum() < 0.951


@for_each("terms", [1, 2, 3, 9, 40])
@for_each("scale", [0.05, 0.2, 0.3, 0.45, 0.51, 0.7, 1.0, 1.02, 1.6, 2.04, 5.1])
def test_sums_of_discrete_gaussian_noise_stay_within_their_tail(scale, terms):
    """Exact convolutions."""
    reach = int(9 * scale) + 2
    one = gaussian_pmf(scale, np.arange(-reach, reach + 1))
    total = one
    for _ in range(terms - 1):
        total = np.convolve(total, one)
    for confidence in (0.8, 0.95, 0.975, 0.9987):
        tail, middle = sum_tail(scale, terms, confidence, gaussian=True), len(total) // 2
        assert total[max(0, middle - tail) : middle + tail + 1].sum() >= confidence - 1e-12


def test_gaussian_noise_narrows_intervals_and_margins():
    counts, alpha = np.array([[400, 3000]]), (1.0, 1.0)
    wide = noise_intervals(counts, alpha, 2**-0.5 * 28.28)
    narrow = noise_intervals(counts, alpha, 28.28, gaussian=True)
    assert (wide[..., 0] < narrow[..., 0]).all()
    assert (narrow[..., 1] < wide[..., 1]).all()


def test_sum_tail_of_a_tiny_epsilon_needs_no_table():
    assert sum_tail(1e9, 49, 0.975) == pytest.approx(1e6 * sum_tail(1e3, 49, 0.975), rel=0.01)
    assert sum_tail(1001.0, 2, 0.975) >= sum_tail(1000.0, 2, 0.975)


# Evaluation


def test_the_auc_of_several_classes_is_that_of_each_against_the_others():
    draw = np.random.default_rng(5)
    counts, estimates = draw.integers(0, 9, (12, 3)), draw.dirichlet((1, 1, 1), 12).round(1)
    estimates[:, 2] = 1 - estimates[:, 0] - estimates[:, 1]
    truth = [label for row in counts for label in range(3) for _ in range(row[label])]
    scores = np.repeat(estimates, counts.sum(axis=1), axis=0)
    assert auc_of(counts, estimates) == pytest.approx(roc_auc_score(truth, scores, multi_class="ovr"))
    assert math.isnan(auc_of(np.array([[4, 2, 0]]), estimates[:1])), "nobody of the third"


def test_a_share_that_noise_drives_beyond_one_is_known_to_be_vague():
    counts = np.array([[900, -400], [-300, 700]])
    estimates = np.array([[0.9, 0.1], [0.2, 0.8]])
    vague = evaluate(counts, estimates, 400.0, 1200).accuracy
    assert vague is None or (vague.value == 1.0 and vague.noise_margin > 0.3)
    sharp = evaluate(np.array([[900, 0], [-1, 700]]), estimates, 1.0, 3).accuracy
    assert sharp.value == 1.0
    assert 0 < sharp.noise_margin < 0.01


@given(st.data())
def test_evaluation_figures_agree_with_the_oracle(data):
    rules = data.draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, 6), min_size=2, max_size=2)
    counts = np.array(data.draw(st.lists(cells, min_size=rules, max_size=rules)))
    shares = data.draw(st.lists(st.sampled_from([0.1, 0.3, 0.6, 0.9]), min_size=rules, max_size=rules))
    estimates = np.array([[1 - s, s] for s in shares])
    labels = [c for row in counts for c in (0, 1) for _ in range(row[c])]
    scores = [s for row, s in zip(counts, shares, strict=True) for _ in range(row.sum())]
    predicted = [int(score > 0.5) for score in scores]
    if labels:
        assert accuracy_of(counts, estimates.argmax(axis=1)) == pytest.approx(rules_oracle.accuracy(labels, predicted))
    if 0 < sum(labels) < len(labels):
        assert auc_of(counts, estimates) == pytest.approx(rules_oracle.auc(labels, scores))
    confusion = confusion_of(counts, estimates.argmax(axis=1))
    for true in (0, 1):
        for guess in (0, 1):
            pairs = zip(labels, predicted, strict=True)
            assert confusion[true, guess] == sum(p == (true, guess) for p in pairs)
