"""What follows from a threshold: right without noise, and honest about it otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.domain.counted import PEOPLE, RECORDS
from dpcore.plots.quality import calibration_alt, calibration_figure, roc_alt
from dpcore.released import quality as thresholds
from dpcore.released.evaluation import Evaluation, auc_of, evaluate
from dpcore.released.noisy_counts import geometric_deviation, sum_tail
from dpcore.released.quality import (
    FLAGGED,
    NEGATIVE_VALUE,
    POSITIVE_VALUE,
    SENSITIVITY,
    SPECIFICITY,
    group_shares,
    operating_points,
    roc_curve,
)
from tests.support.rows import for_each

ESTIMATES = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.5, 0.5]])
COUNTS = np.array([[900, 100], [30, 40], [10, 60], [20, 20]])
QUIET = 1e-6


def check(counts=COUNTS, scale=QUIET, estimates=ESTIMATES):
    return evaluate(counts, estimates, scale, 1)


def test_shares_are_those_of_the_counts():
    high, middle, low = operating_points(check(), 1)
    assert [point.threshold for point in (high, middle, low)] == [0.8, 0.5, 0.1]
    told = {name: figure.value for name, figure in middle.figures.items()}
    assert told[SENSITIVITY] == pytest.approx(120 / 220)
    assert told[SPECIFICITY] == pytest.approx(900 / 960)
    assert told[POSITIVE_VALUE] == pytest.approx(120 / 180)
    assert told[NEGATIVE_VALUE] == pytest.approx(900 / 1000)
    assert told[FLAGGED] == pytest.approx(180 / 1180)
    assert middle.number_needed_to_examine == pytest.approx((1.5, 1.5, 1.5))
    assert all(figure.noise_margin < 1e-9 for figure in middle.figures.values())
    assert low.figures[NEGATIVE_VALUE] is None, "nobody is left who is not flagged"
    assert low.figures[SENSITIVITY].value == 1
    assert low.figures[SENSITIVITY].sampling_margin > 0.005, "all of 220 is not all of everybody"


def test_thresholds_are_where_groups_begin_if_that_is_known():
    evaluation = evaluate(COUNTS[:3], np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]), QUIET, 1, limits=(0.0, 0.2, 0.4))
    points = operating_points(evaluation, 1)
    assert [point.threshold for point in points] == [0.4, 0.2, 0.0]
    assert points[0].figures[SENSITIVITY].value == pytest.approx(60 / 200)
    assert points[-1].figures[SENSITIVITY].value == 1
    assert [group.told for group in group_shares(evaluation, 1)] == [0.1, 0.3, 0.8]
    earlier = evaluation.model_dump(mode="json")
    del earlier["group_limits"]
    assert [point.threshold for point in operating_points(Evaluation.model_validate(earlier), 1)] == [0.8, 0.3, 0.1]


def test_each_class_of_several_has_its_own_points():
    estimates = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    evaluation = check(np.array([[50, 20, 10], [5, 5, 80]]), estimates=estimates)
    assert [p.threshold for p in operating_points(evaluation, 0)] == [0.6, 0.2]
    assert operating_points(evaluation, 2)[0].figures[SENSITIVITY].value == pytest.approx(80 / 90)


def test_the_area_below_the_curve_is_the_auc():
    x, y = roc_curve(operating_points(check(), 1))
    assert np.trapezoid(y, x) == pytest.approx(auc_of(COUNTS, ESTIMATES))
    noisy = check(COUNTS - 60, scale=40.0)
    x, y = roc_curve(operating_points(noisy, 1))
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)


def test_margins_hold_what_noise_does():
    draw, scale = np.random.default_rng(5), 6.0
    truth = {name: f.value for name, f in operating_points(check(), 1)[1].figures.items()}
    held = dict.fromkeys(truth, 0)
    for _ in range(75):
        p = 1 - np.exp(-1 / scale)
        noise = draw.geometric(p, COUNTS.shape) - draw.geometric(p, COUNTS.shape)
        figures = operating_points(check(COUNTS + noise, scale), 1)[1].figures
        for name, figure in figures.items():
            held[name] += abs(figure.value - truth[name]) <= figure.noise_margin
    # 95 % of 75 are 71; fewer than 63 have a chance below 1e-4.
    assert min(held.values()) >= 63, held


@for_each(("people", "ill", "epsilon"), [(60, 0.2, 1.0), (2000, 0.5, 4.0), (400, 0.1, 0.3)])
def test_margins_hold_as_often_as_they_say_where_few_are_ill_and_where_noise_is_small(people, ill, epsilon):
    """Of eight groups, 80 times: the shares of all thresholds but the last, and of all groups."""
    draw, scale, held, known = np.random.default_rng(8), 1 / epsilon, [], 1 - np.exp(-epsilon)
    chances = 1 / (1 + np.exp(np.log(1 / ill - 1) + 0.9 - np.linspace(-2.4, 2.4, 8)))[::-1]
    estimates = np.stack([1 - chances, chances], axis=1)
    for _ in range(80):
        sizes = draw.multinomial(people, np.full(8, 1 / 8))
        with_it = draw.binomial(sizes, chances)
        exact = np.stack([sizes - with_it, with_it], axis=1)
        noisy = exact + draw.geometric(known, (8, 2)) - draw.geometric(known, (8, 2))
        own = seen_of(noisy, estimates, scale)
        truth = [shares_of(exact, end) for end in range(1, 8)]
        for point, true in zip(operating_points(own, 1), truth, strict=False):
            told = [(one.value, one.noise_margin, true[name]) for name, one in point.figures.items() if one]
            held += [abs(value - share) <= margin + 1e-9 for value, margin, share in told]
        for group in group_shares(own, 1):
            place = int(np.argmin(np.abs(chances - group.told)))
            share = with_it[place] / max(1, sizes[place])
            held.append(abs(group.seen.value - share) <= group.seen.noise_margin + 1e-9)
    assert len(held) > 2000
    assert np.mean(held) >= 0.95


def seen_of(noisy, estimates, scale):
    """An evaluation of which nothing but the groups is looked at."""
    groups = {"group_estimates": estimates.tolist(), "group_counts": noisy.tolist(), "scale": scale}
    return Evaluation(noisy_confusion=((0, 0), (0, 0)), accuracy=None, auc=None, count_margin=3, **groups)


def shares_of(counts, end):
    """What follows without noise if the first groups are flagged."""
    (false, hit), (cleared, missed) = counts[:end].sum(axis=0), counts[end:].sum(axis=0)
    parts = {
        SENSITIVITY: (hit, missed),
        SPECIFICITY: (cleared, false),
        POSITIVE_VALUE: (hit, false),
        NEGATIVE_VALUE: (cleared, missed),
        FLAGGED: (hit + false, cleared + missed),
    }
    return {name: part / max(1, part + rest) for name, (part, rest) in parts.items()}


@pytest.mark.parametrize(("people", "told"), [(34, False), (36, True)])
def test_a_share_is_told_if_its_records_exceed_three_deviations_of_their_noise(people, told):
    noise = geometric_deviation(5.78) * np.sqrt(2)
    assert 34 < 3 * noise < 36
    one = seen_of(np.array([[people - 10, 10], [500, 500]]), np.array([[0.1, 0.9], [0.9, 0.1]]), 5.78)
    assert (operating_points(one, 1)[0].figures[POSITIVE_VALUE] is not None) == told
    assert len(group_shares(one, 1)) == 1 + told


@for_each("terms", [1, 15, 16, 17, 33, 100, 1000])
def test_margins_of_many_counts_are_no_smaller_than_they_are_and_hardly_larger(terms):
    for scale in (0.25, 2.0, 40.0):
        exact = sum_tail(scale, terms, 0.975)
        assert exact <= thresholds._margin(scale, terms) <= 1.07 * exact + 1


def test_what_noise_drowns_is_not_told():
    points = operating_points(check(COUNTS // 20, scale=50.0), 1)
    assert points[0].figures[POSITIVE_VALUE] is None
    assert points[0].number_needed_to_examine is None
    assert "Noise hides every point" in roc_alt(points, "ill = yes")
    assert group_shares(check(np.full((4, 2), -3)), 1) == ()


@pytest.mark.parametrize("counted", [PEOPLE, RECORDS])
def test_groups_tell_what_was_said_and_what_was_seen(counted):
    groups = group_shares(check(), 1)
    assert [group.told for group in groups] == [0.1, 0.5, 0.5, 0.8]
    assert groups[0].seen.value == pytest.approx(0.1)
    assert groups[-1].seen.value == pytest.approx(60 / 70)
    figure = calibration_figure(groups, counted)
    assert list(figure.data[1].y) == [group.seen.value for group in groups]
    assert figure.layout.yaxis.title.text == f"share among the {counted.several} set aside"
    told = calibration_alt(groups, "ill = yes", counted)
    assert "told 10%, seen 10%" in told
    assert f"seen on {counted.several} set aside" in told


def test_a_wider_reading_of_noise_would_be_seen(monkeypatch):
    monkeypatch.setattr(thresholds, "sum_tail", lambda *asked: 0)
    assert operating_points(check(scale=6.0), 1)[1].figures[SENSITIVITY].noise_margin == 0
