"""What a confusion table adds up, and how much noise its numbers carry."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dpcore.models.released import parse_model
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.evaluation import confusion_margins, confusion_of, counts_summed, evaluate
from tests.support import reports

COUNTS = np.array([[40, 2], [7, 30], [9, 8], [3, -1]])
ESTIMATES = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])


@pytest.mark.parametrize(
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


def test_earlier_releases_do_not_tell() -> None:
    earlier = evaluate(COUNTS, ESTIMATES, 3.0, 9).model_copy(update={"group_counts": (), "group_estimates": ()})
    assert counts_summed(SimpleNamespace(evaluation=earlier)) is None
    assert confusion_margins(SimpleNamespace(evaluation=earlier)) is None
