"""One sentence that says how good a result is, and never more than noise and chance allow."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.models.ebm.learning.holdout import count_errors
from dpcore.privacy.randomness import SeededRandom
from dpcore.released import regression_evaluation
from dpcore.released.evaluation import Evaluation, Figure
from dpcore.released.quality import baseline, verdict
from dpcore.released.regression_evaluation import RegressionEvaluation, error_edges, evaluate_errors
from tests.support.rows import for_each


def figure(value, noise=0.02, sampling=0.02):
    return Figure(value=value, noise_margin=noise, sampling_margin=sampling)


def classes(auc, accuracy=0.9, confusion=((800, 20), (100, 80)), **more):
    return Evaluation(
        noisy_confusion=confusion,
        accuracy=None if accuracy is None else figure(accuracy),
        auc=None if auc is None else figure(auc, **more),
        count_margin=5,
    )


@for_each(
    ("auc", "more", "grade", "headline"),
    [
        (0.93, {}, "good", "Separates very well"),
        (0.85, {}, "good", "Separates well"),
        (0.75, {}, "fair", "Separates fairly well"),
        (0.57, {}, "fair", "Separates only a little"),
        (0.92, {"noise": 0.2}, "fair", "Separates at least fairly well"),
        (0.76, {"noise": 0.16}, "fair", "Separates at least a little"),
        (0.57, {"noise": 0.07}, "none", "Not shown to be better than chance"),
        (0.85, {"sampling": 0.4}, "none", "Not shown to be better than chance"),
        (None, {}, "unknown", "Noise hides how good it is"),
    ],
)
def test_the_headline_follows_the_interval(auc, more, grade, headline):
    told = verdict(classes(auc, **more), "died", ("no", "yes"))
    assert (told.grade, told.headline) == (grade, headline)
    if grade == "none":
        assert "read nothing into the picture" in told.sentence


def test_a_label_that_is_right_as_often_as_the_commonest_class_is_no_praise():
    same = verdict(classes(0.8, accuracy=0.83), "died", ("no", "yes")).sentence
    assert "right for 83%, not clearly more often than always saying 'no' (82%)" in same
    better = verdict(classes(0.8, accuracy=0.9), "died", ("no", "yes")).sentence
    assert "right for 90%; always saying 'no' would be right for 82%" in better
    assert "label" not in verdict(classes(0.8, accuracy=None), "died", ("no", "yes")).sentence
    vague = classes(0.8, accuracy=0.9).model_copy(update={"accuracy": figure(0.99, noise=0.2)})
    assert "label" not in verdict(vague, "died", ("no", "yes")).sentence
    assert baseline(classes(0.8, confusion=((-3, 2), (-9, 1)))) is None


def test_several_classes_and_earlier_releases_of_them():
    three = verdict(classes(0.75, confusion=((9, 1, 0),) * 3), "goes", ("a", "b", "c"))
    assert "for the values of goes" in three.sentence
    earlier = verdict(classes(None, confusion=((9, 1, 0),) * 3), "goes", ("a", "b", "c"))
    assert (earlier.grade, earlier.headline) == ("unknown", "Checked by its labels only")


@for_each(
    ("own", "constant", "grade", "headline"),
    [
        (4.0, 9.0, "good", "Errors are 56% smaller"),
        (8.0, 9.0, "fair", "Errors are 11% smaller"),
        (8.8, 9.0, "none", "Not shown to be better than one number for everyone"),
        (9.5, 9.0, "none", "Not shown to be better than one number for everyone"),
        (None, 9.0, "unknown", "Noise hides how good it is"),
    ],
)
def test_a_number_is_judged_beside_one_number_for_everyone(own, constant, grade, headline):
    evaluation = RegressionEvaluation(
        error_edges=(0, 10),
        noisy_errors=(5,),
        rmse=None if own is None else figure(own, 0.3, 0.9),
        constant_rmse=figure(constant, 0.3, 0.9),
        count_margin=4,
    )
    told = verdict(evaluation, "stay", ())
    assert (told.grade, told.headline) == (grade, headline)


@pytest.mark.crossed
@pytest.mark.parametrize(("people", "most"), [(3, 0.0), (5, 0.06), (20, 0.03), (200, 0.03)])
@pytest.mark.parametrize("spread", [0.05, 0.2, 0.5])
def test_a_model_that_tells_nothing_is_seldom_better_than_one_number(people, most, spread, monkeypatch):
    monkeypatch.setattr(regression_evaluation, "REDRAWS", 1)  # There is no noise.
    draw, edges = np.random.default_rng(8), error_edges((-8.0, 8.0))
    better = []
    for _ in range(100):
        truth, told = draw.normal(0, 1, people), draw.normal(0, spread, people)
        counts = [count_errors(errors, edges) for errors in (truth - told, truth)]
        better.append(verdict(evaluate_errors(edges, *counts, 0.05, 0), "stay", ()).grade in ("good", "fair"))
    assert np.mean(better) <= most


def test_what_a_handful_of_people_tells_is_not_told():
    few = RegressionEvaluation(
        error_edges=(0, 10),
        noisy_errors=(4,),
        rmse=figure(4.0, 0, 0.1),
        constant_rmse=figure(9.0, 0, 0.1),
        count_margin=0,
    )
    told = verdict(few, "stay", ())
    assert (told.grade, told.headline) == ("unknown", "Too few people set aside to tell")
    assert verdict(few.model_copy(update={"noisy_errors": (40,)}), "stay", ()).grade == "good"


def test_huge_errors_of_a_few_people_make_no_model_better():
    """A model of log-normal costs that tells nothing: what is kept of a tail differs by noise alone."""
    edges, better = error_edges((0.0, 1500.0)), []
    for seed in range(100):
        draw, noise = np.random.default_rng(seed), SeededRandom(seed)
        costs, constant = np.exp(draw.normal(size=200)), np.exp(0.5)
        told = constant * np.exp(0.2 * draw.normal(size=200))
        counts = [
            count_errors(costs - one, edges) + noise.geometric_noise(0.5, len(edges) - 1) for one in (told, constant)
        ]
        better.append(verdict(evaluate_errors(edges, *counts, 0.5, 2), "cost", ()).grade in ("good", "fair"))
    assert np.mean(better) <= 0.05


def test_a_model_that_tells_something_of_enough_people_is_better():
    draw, edges = np.random.default_rng(9), error_edges((-8.0, 8.0))
    told, rest = draw.normal(0, 0.5, 1000), draw.normal(0, 0.85, 1000)
    counts = [count_errors(errors, edges) for errors in (rest, told + rest)]
    assert verdict(evaluate_errors(edges, *counts, 1.0, 3), "stay", ()).grade == "fair"
