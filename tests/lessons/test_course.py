"""The added lessons: sensitivity, the definition, coins, delta, and what privacy does not prevent."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pytest

from dpcore.lessons import (
    COUNTS,
    GROUP,
    LONGEST_STAY,
    RISK,
    RISK_BEFORE,
    STAYS,
    ClassAnswer,
    DeltaExample,
    calibrated,
    clamped_total,
    class_cost,
    coin_epsilon,
    estimate,
    estimate_margin,
    margin,
    noise_chance,
    pool_answers,
    set_chances,
    study,
    survey,
    toss,
)
from dpcore.plots.lessons.lessons_class import class_alt, class_figure
from pages.components.classroom.class_board import reach_words
from pages.components.classroom.class_student import STOPS
from tests.support.rows import for_each

EPSILONS = [Decimal(text) for text in ("0.1", "0.5", "2")]

# Sensitivity


@for_each("clamp", [1, 5, 40, 365])
def test_no_stay_changes_a_clamped_total_by_more_than_the_clamp_and_one_does(clamp):
    changes = [min(stay, clamp) for stay in range(LONGEST_STAY + 1)]
    assert min(changes) >= 0
    assert max(changes) == clamp


def test_a_clamp_trades_what_is_lost_for_noise():
    totals = [clamped_total(clamp, Decimal("0.5"), 1) for clamp in (5, 10, 20, 40, 80, 160, 365)]
    for total in totals:
        assert total.lost == sum(max(0, stay - total.clamp) for stay in STAYS)
        assert total.truth == sum(STAYS) == total.lost + total.counted
        assert total.margin == pytest.approx(math.log(20) * total.clamp / 0.5, rel=0.02)
    for one, other in itertools.pairwise(totals):
        assert one.lost >= other.lost
        assert one.margin < other.margin
    assert totals[-1].lost == 0
    assert min(totals, key=lambda total: total.error) not in (totals[0], totals[-1])


def test_the_answer_of_a_clamped_total_stays_within_its_margin():
    """Seeded: 1,000 answers, within five standard deviations of 95 %."""
    draws = [clamped_total(40, Decimal(1), draw) for draw in range(1000)]
    within = sum(abs(one.noisy - one.counted) <= one.margin for one in draws)
    assert abs(within - 950) < 5 * math.sqrt(1000 * 0.05 * 0.95) + 5


# The definition


@for_each("epsilon", EPSILONS)
def test_no_set_is_more_than_e_to_the_epsilon_times_as_likely_and_one_is(epsilon):
    factor, ratios = math.exp(float(epsilon)), []
    for low in range(-5, 16):
        for high in range(low, 16):
            found = set_chances(low, high, epsilon)
            assert 1 / factor <= found.ratio * (1 + 1e-9)
            assert found.ratio <= factor * (1 + 1e-9)
            ratios.append(found.ratio)
    assert max(ratios) == pytest.approx(factor)
    assert min(ratios) == pytest.approx(1 / factor)


def test_chances_of_a_set_are_sums_and_those_of_all_answers_are_one():
    count = sum(one.counted for one in GROUP)
    found = set_chances(4, 6, Decimal("0.5"))
    assert found.present == pytest.approx(sum(noise_chance(answer - count, Decimal("0.5")) for answer in (4, 5, 6)))
    assert found.absent == pytest.approx(sum(noise_chance(answer - count + 1, Decimal("0.5")) for answer in (4, 5, 6)))
    everything = set_chances(-200, 200, Decimal("0.5"))
    assert everything.present == pytest.approx(1)
    assert everything.after(0.3) == pytest.approx(0.3)


@for_each("before", [0.01, 0.5, 0.9])
def test_odds_after_are_the_ratio_times_odds_before(before):
    found = set_chances(5, 8, Decimal(1))
    after = found.after(before)
    assert after / (1 - after) == pytest.approx(found.ratio * before / (1 - before))


# Coins


@for_each("honest", [0.1, 0.5, 0.9])
def test_epsilon_of_a_coin_is_the_largest_log_ratio_of_the_two_answers(honest):
    yes, no = honest + (1 - honest) / 2, (1 - honest) / 2
    assert coin_epsilon(honest) == pytest.approx(max(math.log(yes / no), math.log((1 - no) / (1 - yes))))


@pytest.mark.parametrize("secret", [True, False])
def test_a_toss_tells_the_truth_three_times_of_four(secret):
    """Seeded: 4,000 tosses, within five standard deviations."""
    tosses = [toss(secret, draw) for draw in range(4000)]
    assert all(one.said == secret for one in tosses if one.honest)
    assert abs(sum(one.said == secret for one in tosses) - 3000) < 5 * math.sqrt(4000 * 3 / 16)
    assert abs(sum(one.honest for one in tosses) - 2000) < 5 * math.sqrt(1000)


def test_estimates_are_right_on_average_and_as_wide_as_told():
    """Seeded: 2,000 surveys of 200 people."""
    found = survey(200, 60, 0.5, 2000, 3)
    deviation = math.sqrt(200 * 0.75) / (2 * 0.5)
    assert np.mean(found.estimates) == pytest.approx(60, abs=5 * deviation / math.sqrt(2000))
    assert np.std(found.estimates) == pytest.approx(deviation, rel=0.1)
    assert found.margin == estimate_margin(200, 0.5) == math.ceil(NormalDist().inv_cdf(0.975) * deviation)
    assert all(round(estimate(said, 200, 0.5)) == told for said, told in zip(found.said, found.estimates, strict=True))


# Delta


def test_delta_is_an_area_and_not_the_chance_to_exceed_the_factor():
    """Both by adding up densities on a fine grid."""
    example, step = DeltaExample(2.0, 0.5), 0.001
    noise, factor = NormalDist(0, 2.0), math.exp(0.5)
    exceeded = delta = 0.0
    for place in range(int(-20 / step), int(20 / step)):
        at = (place + 0.5) * step
        here, there = noise.pdf(at - 1), noise.pdf(at)
        if here > factor * there:
            exceeded += here * step
            delta += (here - factor * there) * step
    assert example.exceeded == pytest.approx(exceeded, rel=1e-3)
    assert example.delta == pytest.approx(delta, rel=1e-3)
    assert example.exceeded > 4 * example.delta


@for_each("deviation", [0.5, 1.0, 2.0, 4.0])
@for_each("epsilon", [0.1, 1.0, 3.0])
def test_twice_the_factor_is_exceeded_with_a_chance_of_three_delta_at_most(deviation, epsilon):
    example = DeltaExample(deviation, epsilon)
    assert example.delta < example.exceeded
    assert example.far_exceeded <= 3 * example.delta


def test_the_threshold_is_where_the_densities_differ_by_the_factor():
    example = DeltaExample(1.0, 1.0)
    noise = NormalDist(0, 1.0)
    assert noise.pdf(example.threshold - 1) == pytest.approx(math.exp(1.0) * noise.pdf(example.threshold))
    assert example.exceeded == pytest.approx(1 - NormalDist(1, 1.0).cdf(example.threshold))


def test_noise_for_epsilon_one_exceeds_the_factor_sixteen_times_as_often_as_delta():
    example = calibrated(1.0, 1e-5)
    assert example.delta == pytest.approx(1e-5)
    assert 16 < example.exceeded / example.delta < 16.2


# What privacy does not prevent


def test_the_finding_does_not_depend_on_one_person():
    """Seeded: whatever the noise, one person moves the risk by less than the noise does."""
    drawn = [study(10_000, Decimal(1), draw) for draw in range(200)]
    assert pytest.approx(0.065) == RISK_BEFORE
    for found in drawn:
        assert abs(found.risk - found.risk_without) < 0.0002
        assert abs(found.risk - RISK) < 0.01
    assert np.std([found.risk for found in drawn]) > 0.0002


# A class


def answer(student: int, epsilon: str, noisy: int, name: str = "") -> ClassAnswer:
    return ClassAnswer(student, name, COUNTS[2], Decimal(epsilon), noisy)


def test_the_mean_of_a_class_counts_answers_with_less_noise_for_more():
    equal = pool_answers([answer(1, "0.2", 100), answer(2, "0.2", 140)])
    assert (equal.answers, equal.students, equal.mean) == (2, 2, 120)
    other = pool_answers([answer(1, "0.2", 100), answer(2, "2", 140)])
    variances = [sum(n * n * noise_chance(n, Decimal(e)) for n in range(-400, 401)) for e in ("0.2", "2")]
    assert other.margin == pytest.approx(1.96 / math.sqrt(sum(1 / variance for variance in variances)), rel=1e-3)
    assert other.mean > 138
    assert (equal.exact, other.exact) == (True, False)
    assert pool_answers([answer(1, "0.2", 100)]).margin == margin(Decimal("0.2"))


@for_each("epsilon", STOPS)
def test_the_mean_of_equal_answers_is_within_its_margin_as_often_as_is_said(epsilon):
    """By the exact distribution of the sum of their noise."""
    reach = math.ceil(12 / float(epsilon))
    one = np.array([noise_chance(n, Decimal(epsilon)) for n in range(-reach, reach + 1)])
    sum_of_noise = one
    for answers in range(1, 9):
        found = pool_answers([answer(student, epsilon, 100) for student in range(answers)])
        most, middle = math.floor(found.margin * answers + 1e-9), len(sum_of_noise) // 2
        assert found.exact
        assert sum_of_noise[middle - most : middle + most + 1].sum() >= 0.95
        shown = float(reach_words(found).split()[1].replace(",", ""))
        assert found.margin - 1e-9 <= shown < found.margin + 0.1
        sum_of_noise = np.convolve(sum_of_noise, one)


def test_the_cost_of_a_class_is_that_of_all_answers_together():
    assert class_cost([Decimal(1)] * 3) == (3, 3)
    added, counted = class_cost([Decimal("0.05")] * 400)
    assert added == 20
    assert counted < 6


# Pictures


def heights(figure, name):
    [found] = [item for item in figure.data if item.name == name]
    return found


def test_bars_of_a_class_hold_every_answer_also_one_far_away():
    answers = tuple(answer(place, "0.2", noisy) for place, noisy in enumerate((120, 121, 121, 140, 9_000), start=1))
    found = pool_answers(answers)
    figure = class_figure(answers, found, revealed=False)
    bars = heights(figure, "answers with ε = 0.2")
    assert sum(bars.y) == 5
    assert len(bars.x) <= 26
    assert "true count" not in [item.name for item in figure.data]
    assert "123" not in class_alt(answers, found, revealed=False)
    shown = class_figure(answers, found, revealed=True)
    assert set(heights(shown, "true count").x) == {123}
    assert "true count is 123" in class_alt(answers, found, revealed=True)
    one = (answer(1, "2", 123),)
    assert sum(heights(class_figure(one, pool_answers(one), revealed=False), "answers with ε = 2").y) == 1
