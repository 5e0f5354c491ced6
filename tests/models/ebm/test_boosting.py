"""Boosting: the order of epochs and replicates, turns of columns, the sums it asks for and what it finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.cores import share_of_cores
from dpcore.data.table import PrivateTable
from dpcore.models.ebm.learning.accounting import burn_in
from dpcore.models.ebm.learning.boosting import Course, FeatureTables, apart, boost, summed
from dpcore.models.ebm.learning.grid import COUNT_STEPS
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.records import Binning, Layout, cell_codes, labels_of, layout_codes
from dpcore.models.ebm.learning.scores import Shapes
from dpcore.models.ebm.learning.start import SIZE_EDGES, BoostingStart
from dpcore.models.ebm.learning.steps import AllBins, Feature, distances
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import SeededRandom, public_generator
from tests.oracles import ebm_oracle as oracle
from tests.support.learning import ebm_cases as cases
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of

SIZES = (4, 3, 5)
ROWS = 400
QUIET = FineGaussian(RESIDUAL_STEPS, 100.0)
TARGETS = {
    "binary": {"type": "boolean"},
    "classes": {"type": "categorical", "categories": ["i", "ii", "iii"]},
    "numbers": {"type": "real", "lower": 0, "upper": 1, "bins": 2},
}


def table_of(kind, width=1.0):
    """A table of random cells, and these; numbers are in the middle of the range."""
    draw = np.random.default_rng(0)
    columns = [
        {"name": f"c{i}", "type": "categorical", "categories": [str(n) for n in range(size - 2)]}
        for i, size in enumerate(SIZES)
    ]
    schema = schema_of([*columns, {"name": "y", **TARGETS[kind]}], ROWS)
    codes = [draw.integers(0, size, ROWS).astype(np.uint16) for size in SIZES]
    known = draw.random(ROWS) > 0.1
    if kind == "numbers":
        numbers = [np.where(known, 0.5 + (draw.random(ROWS) - 0.5) * width, np.nan)]
        target = np.zeros(ROWS, dtype=np.uint16)
    else:
        numbers, classes = [], len(schema.column("y").classes)
        target = np.where(known, draw.integers(0, classes, ROWS), classes).astype(np.uint16)
    return PrivateTable.build(schema, [*codes, target], numbers, np.zeros(ROWS, dtype=bool)), codes


def start_of(kind):
    if kind == "numbers":
        return BoostingStart(np.array([0.5]), np.ones(1), 0.3, 0.4, np.array([0.09]), ROWS, 0.03)
    outputs = 1 if kind == "binary" else 3
    return BoostingStart(np.full(outputs, -0.2), np.full(outputs, 0.2), 1, 1, np.full(outputs, 0.2), ROWS, 0.1)


def course_of(kind, *, replicates=1, epochs=4, averaged=True, step=None, queries=None, known=(), width=1.0):
    table, codes = table_of(kind, width)
    start = start_of(kind)
    binnings = tuple(Binning.of((place, np.arange(size))) for place, size in enumerate(SIZES))
    shapes = Shapes(table.schema, Layout("y", "all", binnings), start.intercept, replicates)
    for feature, shape in enumerate(known):
        shapes.put(feature, [shape] * replicates)
    features = [
        Feature(np.bincount(c, minlength=s) + 0.5, distances(s, s), s) for c, s in zip(codes, SIZES, strict=True)
    ]
    course = Course(
        table=table,
        shapes=shapes,
        first=len(known),
        turns=FeatureTables.single(len(SIZES) - len(known)),
        sizes=SIZES[len(known) :],
        epochs=epochs,
        averaged=averaged,
        step=step
        or (lambda now: AllBins(features[len(known) :], now, QUIET, 0.5, replicates, classes=kind != "numbers")),
        size_queries=queries or {},
    )
    return course, start


class Watch:
    """A step that moves shapes by a fixed rule and remembers the exact sums it was given."""

    def __init__(self):
        self.asked = []

    def change(self, features, sums, shapes, randomness):
        for feature, (own,), (shape,) in zip(features, sums, shapes, strict=True):
            self.asked.append((feature, own.copy(), shape.copy()))
        moves = [0.3 * own / RESIDUAL_STEPS / ROWS for own in sums]
        return [own + move + 0.01 * (f + 1) for f, own, move in zip(features, shapes, moves, strict=True)]


def ignore():
    pass


def residual_sums(kind, course, start, shapes, feature):
    """Of one replicate, worked out from the records of the only partition."""
    _, codes = table_of(kind)
    labels, numbers = labels_of(course.table.partitions[0], "y", "all")[:ROWS], kind == "numbers"
    scores = oracle.scores_of(start.intercept, shapes, codes, numbers)
    values = oracle.residuals(labels, scores, numbers, start.clip) * (RESIDUAL_STEPS / start.clip)
    return np.array(oracle.sums(np.trunc(values), codes[feature], SIZES[feature])).T


@for_each("kind", ["binary", "classes", "numbers"])
@for_each("known", [0, 1])
def test_sums_are_those_of_the_scores_so_far(kind, known):
    """Every exact sum, against scores worked out from the shapes; also after shapes known before."""
    watch, outputs = Watch(), len(start_of(kind).intercept)
    given = [np.random.default_rng(1).normal(size=(size, outputs)) for size in SIZES[:known]]
    course, start = course_of(kind, step=lambda now: watch, known=given)
    boost(course, start, SeededRandom(0), ignore)
    shapes = [*given, *(np.zeros((size, outputs)) for size in SIZES[known:])]
    order = [f for epoch in range(4) for f in public_generator(epoch).permutation(3 - known)]
    assert [feature for feature, _, _ in watch.asked] == order
    for feature, sums, shape in watch.asked:
        place = known + feature
        np.testing.assert_allclose(shape, shapes[place])
        expected = residual_sums(kind, course, start, shapes, place)
        assert np.abs(sums - expected).max() <= RESIDUAL_STEPS * ROWS * (1e-8 if kind == "numbers" else 4e-6)
        shapes[place] = shapes[place] + 0.3 * sums / RESIDUAL_STEPS / ROWS + 0.01 * (feature + 1)


@pytest.mark.parametrize("averaged", [True, False])
def test_the_result_is_the_mean_of_the_late_iterates_or_the_last_one(averaged):
    watch = Watch()
    course, start = course_of("binary", epochs=5, averaged=averaged, step=lambda now: watch)
    shapes, last = boost(course, start, SeededRandom(0), ignore)
    assert last is watch
    iterates = [[np.zeros((size, 1))] for size in SIZES]
    for feature, sums, _ in watch.asked:
        move = 0.3 * sums / RESIDUAL_STEPS / ROWS + 0.01 * (feature + 1)
        iterates[feature].append(iterates[feature][-1] + move)
    first = burn_in(5) if averaged else 4
    for (own,), all_of_it in zip(shapes, iterates, strict=True):
        np.testing.assert_allclose(own, np.mean(all_of_it[1 + first :], axis=0))


@for_each("kind", ["binary", "classes", "numbers"])
def test_replicates_without_noise_are_alike_and_with_noise_are_not(kind):
    course, start = course_of(kind, replicates=3)
    with cases.quiet_replicates():
        alike, _ = boost(course, start, SeededRandom(0), ignore)
    course, start = course_of(kind, replicates=3)
    differ, _ = boost(course, start, SeededRandom(0), ignore)
    for feature in range(3):
        np.testing.assert_allclose(alike[feature][0], alike[feature][1], atol=1e-12)
        np.testing.assert_allclose(alike[feature][0], alike[feature][2], atol=1e-12)
        assert len({own.tobytes() for own in differ[feature]}) == 3


@for_each("kind", ["binary", "classes", "numbers"])
def test_cores_do_not_change_a_seeded_result(kind):
    found = []
    for cores in (1, 2, 5):
        course, start = course_of(kind, replicates=5)
        with share_of_cores(cores):
            learned, _ = boost(course, start, SeededRandom(3), ignore)
        found.append([own.tobytes() for own in learned])
    assert found[0] == found[1] == found[2]


def test_sizes_are_asked_for_once_and_every_replicate_follows():
    """Only the first replicate asks; the narrower clip holds for the sums of all of them."""
    sizes = FineGaussian(COUNT_STEPS, 100.0)
    starts = []

    def step(now):
        starts.append(now)
        features = [Feature(np.full(size, ROWS / size), distances(size, size), size) for size in SIZES]
        return Narrowed(features, now, QUIET, 0.5, 3, classes=False)

    class Narrowed(AllBins):
        def narrowed(self, now):
            starts.append(now)
            super().narrowed(now)

    course, start = course_of("numbers", replicates=3, step=step, queries={1: sizes, 3: sizes}, width=0.05)
    with cases.watched() as answers:
        boost(course, start, SeededRandom(0), ignore)
    asked = [exact for mechanism, exact, _ in answers if mechanism is sizes]
    assert len(asked) == 2
    assert all(len(exact) == len(SIZE_EDGES) for exact in asked)
    known = oracle.counts([0] * ROWS, labels_of(course.table.partitions[0], "y", "all")[:ROWS], 1)[0]
    assert all(exact.sum() == known * COUNT_STEPS for exact in asked)
    assert len(starts) == 3, "the step goes on with every narrower clip"
    assert start.clip == 0.4
    assert starts[1].clip < 0.1
    sums = [exact for mechanism, exact, _ in answers if mechanism is QUIET]
    assert len(sums) == 4 * 3


def _reached(model, name):
    """Scores of a term at values drawn evenly, centred as the truth is."""
    term = next(term for term in model.terms if term.name == name)
    values = pd.Series(np.linspace(0.01, 0.99, 99) if name != "c" else ["a", "b", "d"])
    column = cases.schema().column(name)
    scores = np.asarray(term.scores)[term.axes[0].codes(column, values)]
    return values, scores - scores.mean(axis=0)


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("target", "output", "factor", "tolerance"), [("ill", 0, 1.0, 0.2), ("stay", 0, 3.0, 0.25), ("stage", 1, 1.0, 0.3)]
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


COLUMN_SIZES = [33, 2, 3, 9, 40, 1100, 7]


@for_each("rate", [0.01, 0.05, 0.1, 0.5, 1.0])
def test_every_feature_has_one_turn_and_one_table(rate):
    feature_tables = FeatureTables.together(COLUMN_SIZES, rate)
    assert sorted(
        feature for turn in range(len(feature_tables.turns)) for feature in feature_tables.features(turn)
    ) == list(range(7))
    assert sorted(table for turn in feature_tables.turns for table in turn) == list(range(len(feature_tables.tables)))
    assert all(
        len(feature_tables.features(turn)) * rate <= max(0.25, rate) for turn in range(len(feature_tables.turns))
    )
    for members in feature_tables.tables:
        assert len(members) == 1 or np.prod([COLUMN_SIZES[feature] for feature in members]) <= 1024


@for_each("sizes", [(4,), (2, 3), (3, 1, 5), (2, 3, 2, 2)])
def test_joint_bins_come_apart_as_records_were_added_up(sizes):
    """Sums of shapes at the joint bin of every record, and sums over each column's own bins."""
    draw = np.random.default_rng(1)
    bins = [draw.integers(0, size, 200) for size in sizes]
    joint, values = np.ravel_multi_index(bins, sizes), draw.integers(-9, 9, (3, 200, 2))
    sums = np.zeros((3, int(np.prod(sizes)), 2), dtype=np.int64)
    np.add.at(sums, (slice(None), joint), values)
    shapes = [draw.normal(size=(3, size, 2)) for size in sizes]
    together = summed(shapes)
    np.testing.assert_allclose(
        together[:, joint], sum(own[:, place] for own, place in zip(shapes, bins, strict=True)), atol=1e-12
    )
    for found, place, size in zip(apart(sums, sizes), bins, sizes, strict=True):
        expected = np.zeros((3, size, 2), dtype=np.int64)
        np.add.at(expected, (slice(None), place), values)
        np.testing.assert_array_equal(found, expected)


@for_each("columns", [(0,), (1, 0), (0, 1, 2)])
def test_the_code_of_several_columns_is_their_joint_bin(columns):
    table = cases.table(cases.frame(60), cases.schema(target="ill", max_rows=60))
    (own,) = table.partitions
    cells = cell_codes(own, "ill")
    binning = Binning.of(*((column, np.arange(int(cells[column].max()) + 1) // 3) for column in columns))
    (codes,) = layout_codes(own, Layout("ill", "all", (binning,)))
    bins = [groups[cells[column]] for column, groups in zip(binning.columns, binning.groups, strict=True)]
    found = binning.of_codes[codes]
    np.testing.assert_array_equal(found, np.ravel_multi_index([own.astype(int) for own in bins], binning.sizes))
