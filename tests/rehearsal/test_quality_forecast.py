"""The planner: quality over epsilons, and the epsilon for a quality."""

import math
from decimal import Decimal

import pytest

from dpcore.errors import RequestError
from dpcore.models.registry import get_learner
from dpcore.privacy.filters import largest_rho
from dpcore.rehearsal import Point, QualityForecast, epsilon_for, forecast_quality, shape_of
from dpcore.rehearsal.quality_forecast import is_steady
from dpcore.rehearsal.trust import close_from
from tests.support.results.shaped_records import SCHEMA, released, shaped
from tests.support.workspaces.fake_learner import FakePairLearner

SMALL = SCHEMA.model_copy(update={"max_rows": 1500})


def found(means, measure="accuracy", epsilons=("0.1", "1", "10")):
    points = tuple(Point(Decimal(e), mean, mean, mean) for e, mean in zip(epsilons, means, strict=True))
    return QualityForecast(measure, points, 0.5, None, False, (), None)


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [(0.5, "0.1"), (0.6, "0.1"), (0.7, "0.32"), (0.8, "1"), (0.85, "3.2"), (0.9, "10"), (0.91, None)],
)
def test_the_smallest_epsilon_that_reaches_what_is_wanted(wanted, answer):
    """Halfway between two accuracies lies the geometric mean of their epsilons, rounded up."""
    assert epsilon_for(found((0.6, 0.8, 0.9)), wanted) == (answer and Decimal(answer))


def test_the_less_error_the_more_epsilon():
    errors = found((5.0, 3.0, 2.0), "RMSE")
    assert epsilon_for(errors, 6.0) == Decimal("0.1")
    assert epsilon_for(errors, 4.0) == Decimal("0.32")
    assert epsilon_for(errors, 1.0) is None


def test_a_lucky_rehearsal_at_a_small_epsilon_does_not_count():
    """0.9 and 0.7 in the wrong order are taken for 0.8 twice."""
    lucky = found((0.5, 0.9, 0.7, 0.95), epsilons=("0.1", "1", "2", "10"))
    answer = epsilon_for(lucky, 0.88)
    part = (0.88 - 0.8) / (0.95 - 0.8)
    assert float(answer) == pytest.approx(2 * math.exp(part * math.log(5)), rel=0.05)
    assert epsilon_for(lucky, 0.8) == Decimal(1)


@pytest.mark.parametrize("kind", ["tree", "rule_list"])
def test_quality_grows_with_epsilon(kind):
    told = []
    parameters = {"pool_size": 300} if kind == "rule_list" else {"blocks": (2,)}
    made = forecast_quality(
        get_learner(kind),
        SMALL,
        "ill",
        parameters,
        epsilons=[Decimal("0.001"), Decimal(5)],
        repeats=(2, 2),
        progress=lambda *step: told.append(step),
    )
    first, last = made.points
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (made.measure, made.used, made.ceiling, made.paired, made.close_from) == ("accuracy", (), None, False, None)
    assert last.mean > first.mean + 0.05
    assert 0.45 < made.baseline < last.mean
    assert all(point.low <= point.mean <= point.high for point in made.points)


def test_a_mean_that_is_not_steady_is_made_of_more_repeats():
    """A forest of two random trees is good or bad by chance."""
    told = []
    made = forecast_quality(
        get_learner("forest"),
        SMALL,
        "ill",
        {"trees": 2},
        epsilons=[Decimal("0.05"), Decimal("0.1")],
        repeats=(2, 6),
        progress=lambda *step: told.append(step),
    )
    assert told[0] == (1, 4)
    assert 4 < len(told) <= 12
    assert told[-1] == (len(told), len(told))
    assert all(point.low < point.mean < point.high for point in made.points)
    assert is_steady([0.7, 0.71, 0.72], 1.0)
    assert not is_steady([0.6, 0.7, 0.8], 1.0)
    assert is_steady([0.6, 0.7, 0.8], 4.0), "what is far apart depends on the unit"


def test_an_earlier_result_sets_the_ceiling():
    release = released("tree", epsilon=5)
    made = forecast_quality(
        get_learner("tree"),
        SCHEMA,
        "ill",
        {},
        releases=[release],
        epsilons=[Decimal(2)],
        repeats=(1, 1),
        progress=lambda *_: None,
    )
    real = release.model["evaluation"]["accuracy"]["value"]
    assert made.used == (release.id,)
    assert made.ceiling == pytest.approx(real, abs=0.01)
    assert made.points[0].mean == pytest.approx(real, abs=0.05)


def test_numbers_are_measured_by_their_error():
    made = forecast_quality(
        get_learner("ebm"), SMALL, "size", {}, epsilons=[Decimal(5)], repeats=(1, 1), progress=lambda *_: None
    )
    assert made.measure == "RMSE"
    assert made.points[0].mean < made.baseline


def test_epsilons_that_are_too_small_are_left_out():
    made = forecast_quality(
        get_learner("ebm"),
        SMALL,
        "ill",
        {},
        epsilons=[Decimal("1e-9"), Decimal(1)],
        repeats=(1, 1),
        progress=lambda *_: None,
    )
    assert [point.epsilon for point in made.points] == [Decimal(1)]


def test_too_much_work_and_no_target_are_refused():
    with pytest.raises(RequestError, match="1 to 100 runs"):
        forecast_quality(get_learner("tree"), SMALL, "ill", {}, repeats=(50, 50), progress=lambda *_: None)
    with pytest.raises(RequestError, match="predict nothing"):
        forecast_quality(FakePairLearner(), SMALL, "", {}, progress=lambda *_: None)


def test_the_progress_can_stop_the_work():
    class StopError(Exception):
        pass

    def stop(done, total):
        raise StopError

    with pytest.raises(StopError):
        forecast_quality(get_learner("tree"), SMALL, "ill", {"blocks": (1,)}, progress=stop)


@pytest.mark.parametrize(
    ("earlier", "asked", "answer"),
    [
        (("tree", 2), "ebm", "0.4"),
        (("ebm", 2), "tree", "0.4"),
        (("tree", 2), "rule_list", None),
        (("tree", 2), "forest", None),
        (("rule_list", 2), "tree", None),
        (("tree", "0.001"), "tree", None),
        (None, "tree", None),
    ],
)
def test_only_what_many_columns_tell_is_said_to_be_close(earlier, asked, answer):
    shape = shaped(earlier[0], epsilon=earlier[1]) if earlier else shape_of(SCHEMA, "ill")
    assert close_from(shape, get_learner(asked).family) == (answer and Decimal(answer))


def test_a_run_that_composes_is_close_only_where_it_is_as_exact_as_a_pure_one():
    shape, family, delta = shaped("tree", epsilon=2), get_learner("tree").family, Decimal("1e-6")
    least = close_from(shape, family, delta)
    assert least > close_from(shape, family) == Decimal("0.4")
    assert 0.4 <= 2 * float(largest_rho(least, delta)) ** 0.5 < 0.45
