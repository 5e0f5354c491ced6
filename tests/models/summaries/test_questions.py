"""Questions to a first look: right within their intervals, or refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.errors import RequestError, SchemaError
from dpcore.models.summaries.released.questions import how_many
from tests.models.summaries.test_learner import people, plan, released, schema
from tests.models.summaries.test_reading import looks


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("age > 60", lambda frame: frame["age"] > 60),
        ("sex = f", lambda frame: frame["sex"] == "f"),
        ("ill = yes and age <= 40", lambda frame: (frame["ill"] == "yes") & (frame["age"] <= 40)),
        ("age > 60 and sex = m", lambda frame: (frame["age"] > 60) & (frame["sex"] == "m")),
        ("ward = (other)", lambda frame: frame["ward"] == "nowhere"),
    ],
)
@pytest.mark.parametrize("delta", ["0", "0.000001"])
def test_answers_are_held_by_their_intervals(question, holds, delta):
    truth = int(holds(people()).sum())
    answers = [how_many(model, schema(), question) for model in looks(delta=delta)]
    held = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in answers]
    assert np.mean(held) >= 0.85  # Of 40: fewer by chance once in some thousands.
    assert all(one.low <= one.value <= one.high for one in answers)


def test_a_sum_of_cells_has_the_noise_of_its_cells_together():
    """Fewer and fewer cells: of all of them it is the noise on the number of people, of one that of a cell."""
    own = looks()[0].estimates
    one, most = (how_many(looks()[0], schema(), text) for text in ("ward = w3", "age > 30"))
    assert (one.high - one.low) / 3.92 == pytest.approx(own.deviation((2,)), rel=0.05)
    assert (most.high - most.low) / 3.92 < 3 * own.deviation((0,))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("ward = w1 and sex = f", "has not counted together: make one with the pair 'ward by sex'"),
        ("age > 60 and sex = f and ill = yes", "asks of 3 columns"),
        ("age > 60 and age <= 80", "uses a column twice"),
        ("weight > 3", "weight"),
        ("nonsense", "nonsense"),
    ],
)
def test_what_cannot_be_told_is_refused_in_a_sentence(question, sentence):
    with pytest.raises((RequestError, SchemaError), match=sentence):
        how_many(looks()[0], schema(), question)


def test_a_column_that_was_not_counted_is_named():
    model = released(plan(columns=("age", "sex")))
    with pytest.raises(RequestError, match="has not counted 'ill'"):
        how_many(model, schema(), "ill = yes")
