from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import mpmath
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from hypothesis import assume, given
from hypothesis import strategies as st

from dpcore.errors import BudgetError
from dpcore.privacy import budgets
from dpcore.privacy.budgets import EPSILON_STEP, FINE_SCALE, BudgetSplit
from tests.oracles import privacy_oracle
from tests.support.rows import for_each

ROOT = Path(__file__).parents[2]
EPSILONS = st.integers(1, 10**12).map(lambda steps: steps * EPSILON_STEP)


@for_each(
    ("value", "exact"),
    [
        (0.1, "0.1"),
        (1, "1"),
        ("0.5", "0.5"),
        (" 2 ", "2"),
        ("0,5", "0.5"),
        ("0,125", "0.125"),
        (",5", "0.5"),
        ("1,5", "1.5"),
        ("1e-9", "0.000000001"),
        (1e-9, "0.000000001"),
        (Decimal("1000"), "1000"),
        (Decimal("0.5000"), "0.5"),
    ],
)
def test_parse_epsilon_is_exact(value, exact):
    assert budgets.parse_epsilon(value) == Decimal(exact)


@for_each(
    ("value", "sentence"),
    [
        (0, "above 0"),
        ("0.0", "above 0"),
        (-0.0, "above 0"),
        (-1, "above 0"),
        ("-0.5", "above 0"),
        (math.nan, "finite"),
        ("nan", "finite"),
        (Decimal("sNaN"), "finite"),
        (math.inf, "finite"),
        ("-inf", "finite"),
        ("a lot", "must be a number"),
        ("", "must be a number"),
        ("1,000", "must be a number"),
        ("1,5,5", "must be a number"),
        ("1,5.0", "must be a number"),
        ("-0,5", "must be a number"),
        ("0,", "must be a number"),
        (None, "must be a number"),
        ([1], "must be a number"),
        (True, "must be a number"),
        (False, "must be a number"),
        pytest.param(10**5000, "must be a number", id="five thousand digits"),
        ("1000.000000001", "at most 1000"),
        ("1e30", "at most 1000"),
        ("0.0000000001", "9 decimal places"),
        ("1.0000000001", "9 decimal places"),
        ("1e-999999", "9 decimal places"),
        (0.1 + 0.2, "9 decimal places"),
    ],
)
def test_parse_epsilon_refuses(value, sentence):
    with pytest.raises(BudgetError, match=sentence):
        budgets.parse_epsilon(value)


@given(EPSILONS)
def test_parse_epsilon_round_trip(epsilon):
    assert budgets.parse_epsilon(str(epsilon)) == epsilon


@given(EPSILONS, st.integers(0, 9))
def test_costs_are_shown_rounded_up_and_what_is_left_down(epsilon, places):
    step = Decimal(1).scaleb(-places)
    up = Decimal(budgets.format_epsilon(epsilon, places=places))
    down = Decimal(budgets.format_epsilon(epsilon, places=places, up=False))
    assert epsilon <= up < epsilon + step
    assert epsilon - step < down <= epsilon


@for_each(
    ("epsilon", "up", "text"),
    [
        ("0.5", True, "0.50"),
        ("1000", True, "1000.00"),
        ("0.12341", True, "0.1235"),
        ("0.12349", False, "0.1234"),
        ("0.000000001", True, "0.0001"),
        ("0.000000001", False, "0.00"),
        ("0", True, "0.00"),
    ],
)
def test_format_epsilon(epsilon, up, text):
    assert budgets.format_epsilon(Decimal(epsilon), up=up) == text


@given(
    EPSILONS,
    st.dictionaries(st.text(min_size=1), st.integers(0, 50), min_size=1, max_size=8),
)
def test_parts_sum_exactly_and_follow_their_weights(total, weights):
    whole = sum(weights.values())
    assume(whole > 0)
    try:
        split = BudgetSplit.by_weights(total, weights)
    except BudgetError:
        heaviest_lightest = min(weight for weight in weights.values() if weight)
        assert total * heaviest_lightest / whole < EPSILON_STEP
        return
    assert sum(split.parts.values()) == total
    assert set(split.parts) == set(weights)
    for name, weight in weights.items():
        assert (split[name] > 0) == (weight > 0)
        assert abs(split[name] - total * weight / whole) <= len(weights) * EPSILON_STEP
        assert split[name] % EPSILON_STEP == 0


@given(EPSILONS, st.lists(st.decimals(0, 10, places=6), min_size=1, max_size=5))
def test_decimal_weights_sum_exactly_too(total, weights):
    named = {str(i): weight for i, weight in enumerate(weights)}
    try:
        split = BudgetSplit.by_weights(total, named)
    except BudgetError:
        assume(False)
    assert sum(split.parts.values()) == total


@for_each(
    "weights",
    [{}, {"a": 0}, {"a": 1, "b": -1}, {"a": 2, "b": -1}, {"a": Decimal("nan")}, {"a": Decimal("inf"), "b": 1}],
)
def test_weights_that_split_nothing(weights):
    with pytest.raises(BudgetError, match="must be positive"):
        BudgetSplit.by_weights(Decimal(1), weights)


def test_a_budget_too_small_to_split():
    with pytest.raises(BudgetError, match="too small"):
        BudgetSplit.by_weights(EPSILON_STEP, {"a": 1, "b": 1})


@for_each(
    ("parts", "sentence"),
    [
        ({"a": "0.5", "b": "0.4999"}, "sum to the whole"),
        ({"a": "0.5", "b": "0.5000000000000000000000001"}, "sum to the whole"),
        ({}, "sum to the whole"),
        ({"a": "1.5", "b": "-0.5"}, "negative"),
        ({"a": "nan"}, "negative"),
    ],
)
def test_parts_that_are_no_split(parts, sentence):
    with pytest.raises(BudgetError, match=sentence):
        BudgetSplit(Decimal(1), {name: Decimal(part) for name, part in parts.items()})


@given(EPSILONS, st.integers(1, 1000))
def test_row_epsilon_never_exceeds_the_person(epsilon, rows):
    try:
        share = budgets.row_epsilon(epsilon, rows)
    except BudgetError:
        assert epsilon < rows * EPSILON_STEP
        return
    assert epsilon - rows * EPSILON_STEP < share * rows <= epsilon


@given(st.floats(0.02, 60), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]))
def test_geometric_tail_matches_enumeration(scale, confidence):
    assert budgets.geometric_tail(scale, confidence) == privacy_oracle.geometric_tail(scale, confidence)


@for_each("scale", [0.0, -1.0, 1e-6, 0.001, 1 / 745])
def test_geometric_tail_of_next_to_no_noise(scale):
    assert budgets.geometric_tail(scale, 0.95) == 0


def gaussian_epsilon_of_dp_accounting(mu: float, delta: float) -> float:
    pld = privacy_loss_distribution.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4)
    return float(pld.get_epsilon_for_delta(delta))


@for_each(("mu", "epsilon"), [(0.1, 0.2), (0.5, 1.0), (1.0, 1.0), (1.0, 4.0), (3.0, 8.0)])
def test_gaussian_delta_matches_dp_accounting(mu, epsilon):
    delta = budgets.gaussian_delta(mu, epsilon)
    assert gaussian_epsilon_of_dp_accounting(mu, delta) == pytest.approx(epsilon, abs=1e-3)


@given(st.floats(-9, 2.5), st.floats(-6, 1.5))
def test_gaussian_delta_never_understates(log_epsilon, log_mu):
    mu, epsilon = 10**log_mu, 10**log_epsilon
    delta, exact = budgets.gaussian_delta(mu, epsilon), privacy_oracle.gaussian_delta(mu, epsilon)
    if exact > 1e-280:
        assert exact <= delta <= min(1.0, exact * (1 + 1e-6) + mu * 1e-13)


@given(st.floats(-9, 2.9), st.floats(-15, -0.01))
def test_calibration_is_tight_and_never_unsafe(log_epsilon, log_delta):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    mu = budgets.calibrate_gaussian(epsilon, delta)
    assert privacy_oracle.gaussian_delta(mu, epsilon) <= delta
    assert privacy_oracle.gaussian_delta(mu * 1.001, epsilon) > delta


@for_each(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-9)])
def test_calibration_agrees_with_dp_accounting(epsilon, delta):
    mu = budgets.calibrate_gaussian(epsilon, delta)
    theirs = gaussian_epsilon_of_dp_accounting(mu, delta)
    assert theirs == pytest.approx(epsilon, abs=1e-3)
    assert gaussian_epsilon_of_dp_accounting(1.05 * mu, delta) > epsilon  # positive control
    renyi = RdpAccountant().compose(dp_event.GaussianDpEvent(1 / mu))
    assert epsilon < renyi.get_epsilon(delta)  # an upper bound that is known to be loose


@for_each(("epsilon", "delta"), [(0, 0.1), (-1, 0.1), (1, 0), (1, 1), (math.nan, 0.1), (1, math.nan)])
def test_calibration_refuses(epsilon, delta):
    with pytest.raises(BudgetError, match="Gaussian noise needs"):
        budgets.calibrate_gaussian(epsilon, delta)


# Discrete Gaussian noise on a fine grid (docs/privacy/gaussian.md)


@for_each("scale", [0.5, 1.0, 4.0, 64.0, 2.0**20])
@for_each("reach", [0, 0.5, 1, 3, 12, 40])
def test_discrete_and_rounded_noise_differ_as_the_lemma_says(scale, reach):
    k = round(reach * scale)
    with mpmath.workdps(60):
        rounded = privacy_oracle.rounded_gaussian_mass(scale, k)
        discrete = privacy_oracle.discrete_gaussian_mass(scale, k)
        ratio = mpmath.log(rounded / discrete)
        images = 3 * mpmath.exp(-2 * (mpmath.pi * scale) ** 2)
        assert -1 / (24 * mpmath.mpf(scale) ** 2) <= ratio
        assert ratio <= k**2 / (24 * mpmath.mpf(scale) ** 4) + images


@given(st.floats(-4, 2.9), st.floats(-15, -0.5), st.integers(1, 10**6))
def test_fine_calibration_pays_for_the_difference(log_epsilon, log_delta, draws):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    try:
        mu = budgets.calibrate_fine_gaussian(epsilon, delta, draws)
    except BudgetError:
        assert draws * (2 * epsilon + 140) / (24 * FINE_SCALE**2) > 0.099 * epsilon
        return
    reach = math.sqrt(2 * (epsilon + math.log(draws / delta) + 20))
    assert privacy_oracle.fine_gaussian_delta(mu, epsilon, draws, FINE_SCALE, reach) <= delta
    assert budgets.calibrate_gaussian(0.89 * epsilon, 0.89 * delta) <= mu
    assert mu < budgets.calibrate_gaussian(epsilon, delta)


@for_each("epsilon", ["0.1", "1", "8"])
def test_fine_calibration_costs_next_to_nothing(epsilon):
    mu = budgets.calibrate_fine_gaussian(Decimal(epsilon), Decimal("0.000001"), 10_000)
    assert mu == pytest.approx(budgets.calibrate_gaussian(float(epsilon), 1e-6), rel=1e-6)
    theirs = gaussian_epsilon_of_dp_accounting(mu, 1e-6)
    assert theirs == pytest.approx(float(epsilon), abs=1e-3)
    assert gaussian_epsilon_of_dp_accounting(1.05 * mu, 1e-6) > float(epsilon)


@for_each("draws", [1, 3, 6])
@for_each("epsilon", [1.0, 4.0])
def test_the_lemma_covers_the_exact_composition(draws, epsilon, monkeypatch):
    """With a limit of 64 steps in place of a million, exact convolutions are within reach."""
    scale = 64
    monkeypatch.setattr(budgets, "FINE_SCALE", scale)
    mu = budgets.calibrate_fine_gaussian(epsilon, 1e-4, draws)
    shift = math.floor(scale * mu / math.sqrt(draws))
    exact = privacy_oracle.repeated_discrete_gaussian_delta(scale, shift, draws, epsilon)
    assert exact <= 1e-4
    grown = privacy_oracle.repeated_discrete_gaussian_delta(scale, shift + 8, draws, epsilon)
    assert grown > 1e-4


@for_each(("draws", "epsilon", "factor"), [(1, 10.5, 3.7), (3, 12.5, 1.6), (6, 13.5, 1.15)])
def test_plain_gaussian_dp_is_no_bound_for_coarse_noise(draws, epsilon, factor):
    """Positive control: what the fine grid is for."""
    mu = math.sqrt(draws) / 0.65
    exact = privacy_oracle.repeated_discrete_gaussian_delta(0.65, 1, draws, epsilon)
    assert exact > factor * budgets.gaussian_delta(mu, epsilon)


@for_each(
    ("epsilon", "delta", "draws", "sentence"),
    [
        (0, 0.1, 1, "Gaussian noise needs"),
        (1, 0, 1, "Gaussian noise needs"),
        (1, 1, 1, "Gaussian noise needs"),
        (1, 0.1, 0, "Gaussian noise needs"),
        (math.nan, 0.1, 1, "Gaussian noise needs"),
        (1e-3, 1e-6, 10**9, "too small for so many"),
    ],
)
def test_fine_calibration_refuses(epsilon, delta, draws, sentence):
    with pytest.raises(BudgetError, match=sentence):
        budgets.calibrate_fine_gaussian(epsilon, delta, draws)


@given(st.floats(1e-6, 50), st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_parts_of_mu_never_exceed_the_whole(mu, weights):
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    parts = [budgets.gaussian_part(mu, share) for share in shares]
    assert sum(Fraction(part) ** 2 for part in parts) <= Fraction(mu) ** 2
    for part, share in zip(parts, shares, strict=True):
        assert part == pytest.approx(mu * math.sqrt(share), rel=1e-12)


@given(EPSILONS)
def test_no_float_is_above_its_decimal(value):
    below = budgets.float_below(value)
    assert Decimal(below) <= value < Decimal(math.nextafter(below, math.inf))


@given(st.integers(1, 10**8))
def test_default_delta_is_a_small_power_of_ten(rows):
    delta = budgets.default_delta(rows)
    assert delta <= Decimal("0.00001")
    assert delta * 10 * rows <= 1
    assert delta == Decimal("0.00001") or delta * 100 * rows > 1
    assert delta.as_tuple().digits == (1,)


@for_each(
    ("epsilon", "factor"),
    [
        ("0.1", "of at most 1.11."),
        ("1", "of at most 2.72."),
        ("4.6", "of at most 99.49."),
        ("5", "of at most 149."),
        ("10", "of at most 22,027."),
        ("1000", "that may exceed a million"),
    ],
)
def test_odds_are_rounded_up(epsilon, factor):
    assert f"by a factor {factor}" in budgets.odds_sentence(Decimal(epsilon), Decimal(0))


@for_each(
    ("epsilon", "delta", "end"),
    [
        ("1", "0.00001", "of at most 5.44 (twice e^ε), except with a chance of at most 3 · 10⁻⁵"),
        ("5", "1E-8", "of at most 297 (twice e^ε), except with a chance of at most 3 · 10⁻⁸"),
        ("1", "0.5", "of at most 5.44 (twice e^ε), except with a chance of at most 1 (3 δ)."),
        ("20", "0.1", "that may exceed a million, which promises next to nothing."),
    ],
)
def test_odds_with_a_delta_have_an_exception(epsilon, delta, end):
    assert f"by a factor {end}" in budgets.odds_sentence(Decimal(epsilon), Decimal(delta))


def chances(mu: float, loss: float) -> tuple[float, float]:
    """Chances that Gaussian noise raises the log odds above ``loss``: with a person, without."""
    normal = NormalDist()
    return normal.cdf(mu / 2 - loss / mu), normal.cdf(-mu / 2 - loss / mu)


def test_delta_is_not_the_chance_that_the_factor_is_exceeded():
    mu = budgets.calibrate_gaussian(1.0, 1e-5)
    here, there = chances(mu, 1.0)
    assert here - math.e * there == pytest.approx(1e-5, rel=1e-6), "what delta is"
    assert here == pytest.approx(16.12e-5, rel=1e-3), "what it is not"
    for text in ("README.md", "assets/help/delta.md", "docs/privacy/gaussian.md"):
        assert "16 δ" in (ROOT / text).read_text("utf-8"), "the figure is told"


@given(st.floats(0.01, 10), st.floats(1e-9, 0.01))
def test_twice_the_factor_is_exceeded_with_a_chance_of_three_delta_at_most(epsilon, delta):
    mu = budgets.calibrate_gaussian(epsilon, delta)
    far = epsilon + math.log(2)
    assert chances(mu, far)[0] + chances(mu, far)[1] <= 3 * delta


def test_the_bound_of_three_delta_is_nearly_attained():
    """A mechanism on three outcomes whose guarantee is exactly (epsilon, delta)."""
    epsilon, delta = math.log(1.0001), 0.01
    far = 2 * math.exp(epsilon) * 1.000001
    here, there = 2 * delta, 2 * delta / far
    one, other = (here, there, 1 - here - there), (there, here, 1 - here - there)
    excess = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, other, strict=True))
    assert excess == pytest.approx(delta, rel=1e-4)
    exceeded = sum(p for p, q in zip(one, other, strict=True) if max(p / q, q / p) > 2 * math.exp(epsilon))
    assert exceeded == pytest.approx(3 * delta, rel=1e-3)


def test_delta_in_words():
    told = budgets.delta_sentence(Decimal("1E-5"))
    assert "at most e^ε times the probability without them, plus δ = 10⁻⁵" in told
    assert "not the chance" in told


#: Ways to say that delta is the chance of a failure, but for those that deny it.
FALSE_WORDS = re.compile(
    r"(?<!not the )chance (?:that|of)[^.]{0,30}(?:promise|guarantee|this)[^.]{0,20}"
    r"(?:fail|not hold|broken)|(?:guarantee|promise)[^.]{0,20}(?:may|can|might) fail",
    re.IGNORECASE,
)


@for_each(
    ("words", "false"),
    [
        ("add δ, the chance that this fails", True),
        ("a very small chance that the promise of ε does not hold", True),
        ("The promise of ε may fail, with a chance of about 1 in 100", True),
        ("δ (chance that the promise fails)", True),
        ("It is not the chance that the promise of ε fails", False),
    ],
)
def test_false_words_about_delta_are_found(words, false):
    assert bool(FALSE_WORDS.search(words)) == false


def test_no_text_calls_delta_a_chance_of_failure():
    folders = ("dpcore", "pages", "assets", "docs")
    found = [path for name in folders for path in (ROOT / name).rglob("*.*")]
    texts = [path for path in found if path.suffix in {".py", ".md", ".html"}]
    for path in [ROOT / "README.md", *texts]:
        assert not FALSE_WORDS.search(path.read_text("utf-8")), path
