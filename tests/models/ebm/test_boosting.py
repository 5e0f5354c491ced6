"""Boosting: the order of epochs and replicates, the sums it asks for and what it finds."""

import threading
import time

import numpy as np
import pandas as pd
import pytest

from dpcore.models.ebm.learning import boosting
from dpcore.models.ebm.learning.boosting import Course, boost
from dpcore.models.ebm.learning.kernels import ABSENT
from dpcore.models.ebm.learning.queries import COUNT_STEPS, RESIDUAL_STEPS
from dpcore.models.ebm.learning.schedule import burn_in
from dpcore.models.ebm.learning.start import SIZE_EDGES, BoostingStart
from dpcore.models.ebm.learning.steps import AllBins, Feature
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import SeededRandom, public_generator
from tests.oracles import ebm_oracle as oracle
from tests.support import ebm_cases as cases

SIZES = (4, 3, 5)
ROWS = 400
QUIET = FineGaussian(RESIDUAL_STEPS, 100.0)


def course_of(kind, *, epochs=4, averaged=True, step=None, queries=None, seed=0, scores=None):
    draw = np.random.default_rng(seed)
    codes = [draw.integers(0, size, ROWS).astype(np.uint8) for size in SIZES]
    absent = draw.random(ROWS) < 0.1
    if kind == "numbers":
        labels = np.where(absent, np.nan, draw.random(ROWS)).astype(np.float32)
        start = BoostingStart(np.array([0.5]), np.ones(1), 0.3, 0.4, np.array([0.09]), ROWS)
    else:
        classes = 2 if kind == "binary" else 3
        labels = np.where(absent, ABSENT, draw.integers(0, classes, ROWS)).astype(np.uint8)
        outputs = 1 if kind == "binary" else 3
        start = BoostingStart(np.full(outputs, -0.2), np.full(outputs, 0.2), 1, 1, np.full(outputs, 0.2), 1)
    features = [Feature(np.bincount(c, minlength=s) + 0.5, s) for c, s in zip(codes, SIZES, strict=True)]
    course = Course(
        codes=codes,
        sizes=SIZES,
        labels=labels,
        scores=start.intercept if scores is None else scores,
        epochs=epochs,
        averaged=averaged,
        step=step or (lambda now: AllBins(features, now, QUIET, 0.5, 12)),
        size_queries=queries or {},
    )
    return course, start


class Watch:
    """A step that moves shapes by a fixed rule and remembers the exact sums it was given."""

    def __init__(self):
        self.asked = []
        self.lock = threading.Lock()

    def change(self, feature, sums, shape, randomness):
        with self.lock:
            self.asked.append((feature, sums.copy(), shape.copy()))
        return 0.3 * sums / RESIDUAL_STEPS / ROWS + 0.01 * (feature + 1)


def ignore(epochs):
    pass


@pytest.mark.parametrize("kind", ["binary", "classes", "numbers"])
@pytest.mark.parametrize("given", [False, True])
def test_sums_are_those_of_the_scores_so_far(kind, given):
    """Every exact sum, against scores recomputed from the shapes; also from given scores."""
    watch = Watch()
    course, start = course_of(kind, step=lambda now: watch)
    outputs = len(start.intercept)
    base = np.tile(start.intercept, (ROWS, 1)).astype(np.float32)
    if given:
        base = np.random.default_rng(1).normal(size=(ROWS, outputs)).astype(np.float32)
        course, start = course_of(kind, step=lambda now: watch, scores=base)
    boost(course, start, 1, SeededRandom(0), ignore)
    shapes = [np.zeros((size, outputs)) for size in SIZES]
    order = [f for epoch in range(4) for f in public_generator(epoch).permutation(3)]
    assert [feature for feature, _, _ in watch.asked] == order
    for feature, sums, shape in watch.asked:
        np.testing.assert_allclose(shape, shapes[feature])
        scores = base.astype(float) + sum(s[c] for s, c in zip(shapes, course.codes, strict=True))
        values = oracle.residuals(course.labels, scores, start.clip) / start.clip
        expected = oracle.grid_sums(values, course.codes[feature], SIZES[feature], RESIDUAL_STEPS)
        assert np.abs(sums - expected).max() <= RESIDUAL_STEPS * ROWS * 2e-6
        shapes[feature] += 0.3 * sums / RESIDUAL_STEPS / ROWS + 0.01 * (feature + 1)


@pytest.mark.parametrize("averaged", [True, False])
def test_the_result_is_the_mean_of_the_late_iterates_or_the_last_one(averaged):
    watch = Watch()
    course, start = course_of("binary", epochs=5, averaged=averaged, step=lambda now: watch)
    (shapes,), last = boost(course, start, 1, SeededRandom(0), ignore)
    assert last is watch
    iterates = [[np.zeros((size, 1))] for size in SIZES]
    for feature, sums, _ in watch.asked:
        move = 0.3 * sums / RESIDUAL_STEPS / ROWS + 0.01 * (feature + 1)
        iterates[feature].append(iterates[feature][-1] + move)
    first = burn_in(5) if averaged else 4
    for own, all_of_it in zip(shapes, iterates, strict=True):
        np.testing.assert_allclose(own, np.mean(all_of_it[1 + first :], axis=0))


@pytest.mark.parametrize("kind", ["binary", "classes", "numbers"])
def test_replicates_without_noise_are_alike_and_with_noise_are_not(kind):
    course, start = course_of(kind)
    with cases.quiet_replicates():
        alike, _ = boost(course, start, 3, SeededRandom(0), ignore)
    differ, _ = boost(course, start, 3, SeededRandom(0), ignore)
    for feature in range(3):
        assert np.array_equal(alike[0][feature], alike[1][feature])
        assert np.array_equal(alike[0][feature], alike[2][feature])
        assert len({own[feature].tobytes() for own in differ}) == 3


def test_threads_do_not_change_a_seeded_result(monkeypatch):
    """Some replicates are held up, others are not."""
    course, start = course_of("binary")
    plain, _ = boost(course, start, 5, SeededRandom(3), ignore)
    run, calls = boosting._replicate, []

    def delayed(*arguments):
        calls.append(None)
        time.sleep(0.05 if len(calls) % 2 else 0.0)
        return run(*arguments)

    monkeypatch.setattr(boosting, "_replicate", delayed)
    monkeypatch.setattr(boosting.os, "cpu_count", lambda: 5)
    held_up, _ = boost(course, start, 5, SeededRandom(3), ignore)
    assert all(
        np.array_equal(a, b) for one, other in zip(plain, held_up, strict=True) for a, b in zip(one, other, strict=True)
    )


def test_sizes_are_asked_for_once_and_every_replicate_follows():
    """Only the first replicate asks; the narrower clip holds for the sums of all of them."""
    sizes = FineGaussian(COUNT_STEPS, 100.0)
    starts = []

    def step(now):
        starts.append(now)
        features = [Feature(np.full(size, ROWS / size), size) for size in SIZES]
        return AllBins(features, now, QUIET, 0.5, 12)

    course, start = course_of("numbers", step=step, queries={1: sizes, 3: sizes})
    course.labels[:] = np.where(np.isnan(course.labels), np.nan, 0.5 + (course.labels - 0.5) / 20)
    with cases.watched() as answers:
        boost(course, start, 3, SeededRandom(0), ignore)
    asked = [exact for mechanism, exact, _ in answers if mechanism is sizes]
    assert len(asked) == 2
    assert all(len(exact) == len(SIZE_EDGES) for exact in asked)
    known = oracle.present(course.labels).sum()
    assert all(exact.sum() == known * COUNT_STEPS for exact in asked)
    assert len(starts) == 3, "one step per start, for all replicates"
    assert start.clip == 0.4
    assert starts[1].clip < 0.1
    sums = [exact for mechanism, exact, _ in answers if mechanism is QUIET]
    assert len(sums) == 3 * 4 * 3


def test_progress_counts_epochs_of_all_replicates():
    course, start = course_of("binary", epochs=6)
    done = []
    boost(course, start, 4, SeededRandom(0), done.append)
    assert done == [1] * 6 + [6] * 3


def _reached(model, name):
    """Scores of a term at values drawn evenly, centred as the truth is."""
    term = next(term for term in model.terms if term.name == name)
    values = pd.Series(np.linspace(0.01, 0.99, 99) if name != "c" else ["a", "b", "d"])
    column = cases.schema().column(name)
    scores = np.asarray(term.scores)[term.axes[0].codes(column, values)]
    return values, scores - scores.mean(axis=0)


@pytest.mark.parametrize(
    ("target", "output", "factor", "tolerance"),
    [("ill", 0, 1.0, 0.2), ("stay", 0, 3.0, 0.25), ("stage", 1, 1.0, 0.3)],
)
@pytest.mark.parametrize("method", ["all_bins", "random_splits"])
def test_planted_shapes_are_found_without_noise(target, output, factor, tolerance, method):
    """An additive truth, within what bins and sampling allow (mean over its values)."""
    private = cases.table(cases.frame(20_000, seed=3), cases.schema(max_rows=20_000, target=target))
    chosen = {"epochs": 150, "learning_rate": 0.3} if method == "random_splits" else {"epochs": 20}
    with cases.quiet_replicates():
        _, model = cases.fit(private, target, "8", 1, method=method, replicates=3, **chosen)
    for name, shape in cases.truth().items():
        values, found = _reached(model, name)
        expected = shape(values) - shape(values).mean()
        if target == "stage":  # scores of (0, s, -s), known up to a shift
            found = (found[:, [1]] - found[:, [2]]) / 2
        assert np.abs(found[:, 0] - factor * expected).mean() < tolerance * factor, name
    _, flat = _reached(model, "x2")
    assert np.abs(flat).mean() < tolerance / 2 * factor
