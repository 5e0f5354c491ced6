"""Questions to a first look: right within their intervals, or refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.domain.conditions import Condition, parse_conjunction
from dpcore.errors import RequestError, SchemaError
from dpcore.models.summaries.released.crosstab import how_many, how_many_by, share_of_all
from dpcore.models.summaries.released.summary_parameters import Axis
from tests.support.results.first_looks import look_at, looks, people, schema
from tests.support.rows import for_each


@pytest.mark.crossed
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
    answers = [how_many(model, parse_conjunction(question, schema())) for model in looks(delta=delta)]
    held = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in answers]
    assert np.mean(held) >= 0.85  # Of 40: fewer by chance once in some thousands.
    assert all(one.low <= one.value <= one.high for one in answers)


def test_a_sum_of_cells_has_the_noise_of_its_cells_together():
    """Fewer and fewer cells: of all of them it is the noise on the number of people, of one that of a cell."""
    own = looks()[0].estimates
    one, most = (how_many(looks()[0], parse_conjunction(text, schema())) for text in ("ward = w3", "age > 30"))
    assert (one.high - one.low) / 3.92 == pytest.approx(own.deviation((2,)), rel=0.05)
    assert (most.high - most.low) / 3.92 < 3 * own.deviation((0,))


@for_each(
    ("question", "sentence"),
    [
        ("ward = w1 and sex = f", "has not counted these columns together: make one with the pair 'ward by sex'"),
        ("age > 60 and sex = f and ill = yes", "asks of 3 columns"),
        ("age > 60 and age <= 80", "A column is used twice"),
        ("weight > 3", "weight"),
        ("nonsense", "nonsense"),
    ],
)
def test_what_cannot_be_told_is_refused_in_a_sentence(question, sentence):
    with pytest.raises((RequestError, SchemaError), match=sentence):
        how_many(looks()[0], parse_conjunction(question, schema()))


@for_each(("first", "last"), [(0, 0), (0, 49), (3, 3), (1, 99), (0, 99)])
def test_shares_of_all_are_held_by_their_intervals(first, last):
    """Of the noise on a hundred cells, each has a hundredth; the number of all people has all of it."""
    draw, held = np.random.default_rng(1), []
    exact = np.array([10_000.0, *[10_000 / 99] * 99])
    share, asked = exact[first : last + 1].sum() / 20_000, [Condition(column="code", first=first, last=last)]
    for _ in range(400):
        one = share_of_all(look_at((Axis(column="code"),), exact + draw.normal(0, 20, 100), 20.0), asked)
        held.append(one.low - 1e-9 <= share <= one.high + 1e-9)
        assert 0 <= one.low <= one.value <= one.high <= 1
    assert np.mean(held) > 0.92
    assert np.mean(held) < 0.98 or share > 0.99


def test_the_cells_of_one_more_column_add_up():
    [model] = looks()[:1]
    with pytest.raises(RequestError, match="at least one column"):
        how_many(model, [])
    assert sum(one.value for one in how_many_by(model, [], "sex")) == pytest.approx(model.estimates.total, rel=0.05)
    old = Condition(column="age", first=3, last=4)
    by = how_many_by(model, [old], "sex")
    assert len(by) == len(schema().column("sex").cells)
    assert sum(one.value for one in by) == pytest.approx(how_many(model, [old]).value, rel=0.2)
    for cell, one in enumerate(by):
        assert one == how_many(model, [old, Condition(column="sex", first=cell, last=cell)])
