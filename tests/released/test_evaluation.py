"""What a confusion table adds up, and how much noise its numbers carry."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from dpcore.models.released import parse_model
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.evaluation import (
    auc_margin,
    auc_of,
    confusion_margins,
    confusion_of,
    counts_summed,
    evaluate,
    share_margin,
)
from dpcore.released.quality import SENSITIVITY, group_shares, operating_points, verdict
from tests.support.results import reports
from tests.support.rows import for_each

COUNTS = np.array([[40, 2], [7, 30], [9, 8], [3, -1]])
ESTIMATES = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])
FIVE = {"rows_per_person": 5}


@for_each(
    "case", ["rule list of three classes", "tree", "tree of three classes", "forest", "shapes", "relational rules"]
)
def test_every_family_tells_how_many_counts_its_table_adds_up(case: str) -> None:
    model = parse_model(reports.release(case))
    summed = counts_summed(model)
    assert summed is not None
    assert summed.sum() == len(model.evaluation.group_counts)
    table = np.array(model.evaluation.noisy_confusion)
    assert not table[:, summed == 0].any(), "what is never predicted adds up nothing"


def test_labels_of_a_model_go_before_the_most_probable_classes() -> None:
    drawn = np.array([0, 1, 1, 0])
    evaluation = evaluate(COUNTS, ESTIMATES, 3.0, 9, drawn)
    assert evaluation.noisy_confusion == tuple(map(tuple, confusion_of(COUNTS, drawn).tolist()))
    assert counts_summed(SimpleNamespace(evaluation=evaluation, labels=(0, 1, 1, 0))).tolist() == [2, 2]
    assert counts_summed(SimpleNamespace(evaluation=evaluation)) is None, "not what the table adds up"


def test_noise_stays_within_the_margins_of_the_table_as_often_as_they_say() -> None:
    labels = ESTIMATES.argmax(axis=1)
    exact = confusion_of(COUNTS, labels)
    margins = confusion_margins(SimpleNamespace(evaluation=evaluate(COUNTS, ESTIMATES, 5.0, 15)))
    noise = SeededRandom(3).geometric_noise(5.0, 4000 * COUNTS.size).reshape(-1, *COUNTS.shape)
    off = np.abs([confusion_of(COUNTS + one, labels) - exact for one in noise])
    assert 0.95 <= (off <= margins).mean(axis=(0, 1)).min() < 0.97
    assert margins[0] > margins[1], "three groups, and one"


def test_all_right_of_five_is_not_all_of_everybody() -> None:
    evaluation = evaluate(np.array([[3, 0], [0, 2]]), ESTIMATES[:2], 1e-6, 0)
    assert evaluation.accuracy.value == 1
    assert evaluation.accuracy.sampling_margin == pytest.approx(0.434, abs=0.001), "Wilson: 57% to 100%"
    assert evaluation.auc.value == 1
    assert evaluation.auc.sampling_margin == 1, "two people with it tell nothing of others"
    assert verdict(evaluation, "ill", ("no", "yes")).grade == "none"


@pytest.mark.parametrize("wrong", [False, True])
def test_a_perfect_auc_has_an_interval_that_narrows_with_the_people(wrong: bool) -> None:
    estimates = ESTIMATES[:2, ::-1] if wrong else ESTIMATES[:2]
    few, many = (evaluate(np.array([[n, 0], [0, n]]), estimates, 1e-6, 0).auc for n in (8, 200))
    assert few.value == many.value == (0 if wrong else 1)
    assert few.sampling_margin == pytest.approx(0.13, abs=0.001)
    assert 0 < many.sampling_margin < 0.02


def test_an_accuracy_that_noise_makes_more_than_all_has_an_interval() -> None:
    evaluation = evaluate(np.array([[60, -2], [-1, 40]]), ESTIMATES[:2], 2.0, 5)
    assert evaluation.accuracy.value == 1
    assert 0.03 < evaluation.accuracy.sampling_margin < 0.05


@for_each(("people", "share"), [(5, 0.7), (20, 0.95), (60, 0.3), (400, 0.99)])
def test_margins_of_shares_hold_what_chance_does(people: int, share: float) -> None:
    seen = np.random.default_rng(2).binomial(people, share, 4000) / people
    held = [abs(one - share) <= share_margin(one, people) for one in seen]
    assert np.mean(held) >= 0.94


@for_each(("ill", "well", "true"), [(8, 40, 0.95), (15, 15, 0.9), (10, 100, 0.7), (60, 300, 0.8)])
def test_margins_of_an_auc_hold_what_chance_does(ill: int, well: int, true: float) -> None:
    draw, held = np.random.default_rng(4), 0
    scores = np.linspace(-3, 5, 30)
    estimates = np.stack([1 - (scores + 3) / 8, (scores + 3) / 8], axis=1)
    for _ in range(300):
        places = [np.searchsorted(scores[1:], draw.normal(at, 1, n)) for at, n in ((0, well), (apart(true), ill))]
        counts = np.stack([np.bincount(place, minlength=30) for place in places], axis=1)
        value = auc_of(counts, estimates)
        held += abs(value - true) <= auc_margin(value, counts)
    assert held / 300 >= 0.87


@for_each("rows", [1, 5])
@for_each("people", [300, 1200])
def test_a_person_with_several_rows_counts_as_one_where_chance_is_told(people: int, rows: int) -> None:
    """Useless scores, all rows of a person alike: both intervals hold, and one run in forty is above 0.5."""
    draw, estimates = np.random.default_rng(3), np.stack([1 - np.arange(8) / 8, np.arange(8) / 8], axis=1)
    held, alone, above = np.zeros((2, 400)), np.zeros(400), 0
    for run in range(400):
        counts = rows * draw.multinomial(people, np.outer(np.full(8, 1 / 8), [0.7, 0.3]).ravel()).reshape(8, 2)
        value, share = auc_of(counts, estimates), counts[:, 1].sum() / counts.sum()
        margin = auc_margin(value, counts, rows)
        held[:, run] = abs(value - 0.5) <= margin, abs(share - 0.3) <= share_margin(share, people)
        alone[run] = abs(value - 0.5) <= auc_margin(value, counts)
        above += value - margin > 0.5
    # 95 % of 400 are 380; fewer than 360 have a chance below 1e-4, as have more than 26 of 10.
    assert held.mean(axis=1).min() >= 0.9
    assert above <= 26
    assert rows == 1 or alone.mean() < 0.75, "as if all rows were people"


def test_evaluations_keep_how_many_rows_a_person_may_have() -> None:
    one, same, five = (evaluate(10 * COUNTS, ESTIMATES, 3.0, 9, **more) for more in ({}, {"rows_per_person": 1}, FIVE))
    assert one == same
    assert five.accuracy.sampling_margin == pytest.approx(share_margin(one.accuracy.value, 10 * COUNTS.sum() / 5))
    assert five.accuracy.noise_margin == one.accuracy.noise_margin
    assert 2 * one.auc.sampling_margin < five.auc.sampling_margin < 2.5 * one.auc.sampling_margin
    plain, wide = (operating_points(own, 1)[1].figures[SENSITIVITY] for own in (one, five))
    assert plain.sampling_margin < wide.sampling_margin
    assert group_shares(one, 1)[0].seen.sampling_margin < group_shares(five, 1)[0].seen.sampling_margin
    earlier = one.model_dump(mode="json")
    del earlier["rows_per_person"]
    assert type(one).model_validate(earlier) == one


def apart(auc: float) -> float:
    """How far the scores of both classes are apart, in standard deviations."""
    return float(np.sqrt(2) * norm.ppf(auc))


@for_each(
    ("people", "ill", "groups", "scale", "true"),
    [(200, 0.5, 32, 2.0, 0.9), (600, 0.05, 16, 1.0, 0.8), (3000, 0.1, 16, 10.0, 0.8), (10_000, 0.2, 8, 1.0, 0.8)],
)
def test_noise_on_an_auc_stays_within_its_margin(
    people: int, ill: float, groups: int, scale: float, true: float
) -> None:
    exact, estimates = grouped(people, ill, groups, true)
    told = auc_of(exact, estimates)
    noise = SeededRandom(6).geometric_noise(scale, 80 * exact.size).reshape(-1, *exact.shape)
    found = [evaluate(exact + one, estimates, scale, 9).auc for one in noise]
    off = [(one.value - told, one.noise_margin) for one in found if one is not None]
    assert len(off) >= 72
    # 95% of 80 are 76; fewer than 68 have a chance below 1e-3.
    assert np.mean([abs(error) <= margin for error, margin in off]) >= 0.85
    assert abs(np.mean([error for error, _ in off])) < 0.02


def test_an_auc_is_not_told_where_noise_drowns_a_class() -> None:
    exact, estimates = grouped(200, 0.05, 32, 0.9)
    noise = SeededRandom(7).geometric_noise(2.0, 100 * exact.size).reshape(-1, *exact.shape)
    found = [evaluate(exact + one, estimates, 2.0, 6) for one in noise]
    assert np.mean([one.auc is None for one in found]) >= 0.8
    told = verdict(next(one for one in found if one.auc is None), "ill", ("no", "yes"))
    assert (told.grade, told.headline) == ("unknown", "Noise hides how good it is")
    three = np.array([[400, 30, 1], [30, 500, -2], [20, 10, 2]])
    of_three = evaluate(three, np.eye(3), 2.0, 6)
    assert of_three.auc is None
    assert of_three.has_auc, "noise hides it: it was not left out"
    assert verdict(of_three, "goes", ("a", "b", "c")).headline == "Noise hides how good it is"


def grouped(people: int, ill: float, groups: int, true: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact counts of people in equally large groups by a score with about this AUC, and estimates that rise."""
    draw, yes = np.random.default_rng(3), round(people * ill)
    scores = np.concatenate([draw.normal(0, 1, people - yes), draw.normal(apart(true), 1, yes)])
    place = np.searchsorted(np.quantile(scores, np.arange(1, groups) / groups), scores)
    counts = np.stack([np.bincount(own, minlength=groups) for own in (place[: people - yes], place[people - yes :])], 1)
    chances = (np.arange(groups) + 0.5) / groups
    return counts, np.stack([1 - chances, chances], axis=1)


def test_earlier_releases_do_not_tell() -> None:
    earlier = evaluate(COUNTS, ESTIMATES, 3.0, 9).model_copy(update={"group_counts": (), "group_estimates": ()})
    assert counts_summed(SimpleNamespace(evaluation=earlier)) is None
    assert confusion_margins(SimpleNamespace(evaluation=earlier)) is None
