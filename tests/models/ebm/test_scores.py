"""Scores that partitions keep: whatever was asked before, or is lost, answers are the same."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from dpcore.data.partition import Partition
from dpcore.models.ebm.learning import scores
from dpcore.models.ebm.learning.grid import COUNT_STEPS, feature_cells, histogram_sensitivity
from dpcore.models.ebm.learning.kernels import CLASS_STEPS, LARGEST_SCORE, NUMBER_STEPS, RESIDUAL_STEPS
from dpcore.models.ebm.learning.records import Binning, Layout, cell_codes, labels_of
from dpcore.models.ebm.learning.scores import Shapes, residual_sizes, residual_sums
from dpcore.models.ebm.learning.start import SIZE_EDGES
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import ebm_oracle as oracle
from tests.support.learning import ebm_cases as cases
from tests.support.learning.partitioned import divided
from tests.support.rows import for_each

ROWS = 500
TARGETS = ["ill", "stage", "stay"]


def table_of(target, rows=ROWS):
    return cases.table(cases.frame(rows), cases.schema(target=target, max_rows=rows))


def drawn(table, target, draw, replicates=2, *, size=1.0):
    """Shapes over fine cells, and what they are before they are put on the grid."""
    outputs = 3 if target == "stage" else 1
    cells, base = feature_cells(table.schema, target), draw.normal(size=outputs)
    binnings = tuple(Binning.of((place, np.arange(len(own)) // 2)) for place, own in enumerate(cells))
    shapes = Shapes(table.schema, Layout(target, "all", binnings), base, replicates)
    values = [[draw.normal(0, size, (len(own), outputs)) for own in binnings] for _ in range(replicates)]
    for feature in range(len(binnings)):
        shapes.put(feature, [own[feature] for own in values])
    return shapes, base, values


@for_each("target", TARGETS)
def test_answers_do_not_depend_on_what_was_asked_before(target):
    """The same partition after other shapes, against one that has kept nothing."""
    table, draw = table_of(target), np.random.default_rng(1)
    asked = [drawn(table, target, draw, replicates)[0] for replicates in (2, 2, 1, 2)]
    for shapes in [*asked, *asked[::-1]]:
        fresh = table_of(target)
        for feature in (3, 0):
            np.testing.assert_array_equal(
                table.total(residual_sums, shapes, [feature], 0.5)[0],
                fresh.total(residual_sums, shapes, [feature], 0.5)[0],
            )


@for_each("target", TARGETS)
def test_sums_agree_with_the_oracle(target, monkeypatch):
    """Over several blocks of places, the last of them not full."""
    monkeypatch.setattr(scores, "_BLOCK", 60)
    table, draw = table_of(target), np.random.default_rng(2)
    shapes, base, values = drawn(table, target, draw)
    (own,), numbers, clip = table.partitions, target == "stay", 0.5 if target == "stay" else 1.0
    labels, binnings = labels_of(own, target, "all"), shapes.layout.binnings
    bins = [binning.groups[0][codes] for binning, codes in zip(binnings, cell_codes(own, target), strict=True)]
    for feature in range(len(bins)):
        (found,) = table.total(residual_sums, shapes, [feature], clip)
        for mine, shape in zip(found, values, strict=True):
            exact = oracle.residuals(labels, oracle.scores_of(base, shape, bins, numbers), numbers, clip)
            expected = oracle.sums(np.trunc(exact * (RESIDUAL_STEPS / clip)), bins[feature], len(binnings[feature]))
            assert np.abs(mine.T - expected).max() <= ROWS * 4e-6 * RESIDUAL_STEPS


@for_each("target", TARGETS)
def test_tables_asked_together_have_the_sums_that_they_have_alone(target):
    table = table_of(target)
    shapes, _, _ = drawn(table, target, np.random.default_rng(8))
    asked = [2, 0, 3]
    together = table.total(residual_sums, shapes, asked, 0.5)
    for place, found in zip(asked, together, strict=True):
        np.testing.assert_array_equal(found, table.total(residual_sums, shapes, [place], 0.5)[0])


@pytest.mark.crossed
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("count", [1, 7])
def test_a_release_does_not_depend_on_what_is_kept(target, count, monkeypatch):
    """A worker that is lost takes all that it has kept with it, at any moment."""
    table = cases.table(cases.frame(ROWS), cases.schema(target=target, holdout_percent=30))
    chosen = {"pairs": 2, "epochs": 5, "evaluate": True}
    _, undisturbed = cases.fit(table, target, source=SeededRandom(2), **chosen)
    random, kept = Random(count), Partition.cached

    def forgetful(partition, key, make):
        if random.random() < 0.2:
            partition._kept.clear()
        return kept(partition, key, make)

    monkeypatch.setattr(Partition, "cached", forgetful)
    _, disturbed = cases.fit(divided(table, count), target, source=SeededRandom(2), **chosen)
    assert disturbed == undisturbed


def test_a_question_that_is_broken_off_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr(scores, "_BLOCK", 60)
    table, draw = table_of("ill"), np.random.default_rng(3)
    first, second = (drawn(table, "ill", draw)[0] for _ in range(2))
    second.base = first.base
    expected = table_of("ill").total(residual_sums, second, [0], 1.0)[0]
    table.total(residual_sums, first, [0], 1.0)
    calls = []

    def breaking(labels, own, residuals):
        calls.append(None)
        if len(calls) == 4:
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(scores, "logistic_residuals", breaking)
        with pytest.raises(MemoryError):
            table.total(residual_sums, second, [0], 1.0)[0]
    np.testing.assert_array_equal(table.total(residual_sums, second, [0], 1.0)[0], expected)


def test_runs_side_by_side_do_not_disturb_each_other():
    """Two runs on one table, which keeps the scores of one of them."""
    table, draw = table_of("stage"), np.random.default_rng(4)
    asked = [drawn(table, "stage", draw)[0] for _ in range(2)] * 10
    expected = [table_of("stage").total(residual_sums, shapes, [1], 1.0)[0] for shapes in asked[:2]] * 10
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda shapes: table.total(residual_sums, shapes, [1], 1.0)[0], asked))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_shapes_of_any_size_stay_within_the_largest_score():
    """However large they are together, no sum of them leaves 32 bits."""
    for target, steps in (("ill", CLASS_STEPS), ("stay", NUMBER_STEPS)):
        table = table_of(target)
        shapes, _, _ = drawn(table, target, np.random.default_rng(5), size=1e30)
        most = np.abs(shapes.tables.astype(np.int64)).max()
        assert most / steps >= 1
        assert most * len(shapes.layout.binnings) + np.abs(shapes.base.astype(np.int64)).max() <= LARGEST_SCORE
        for clip in (1.0, 1e-3):
            (sums,) = table.total(residual_sums, shapes, [0], clip)
            assert np.abs(sums).sum(axis=1).max() <= ROWS * RESIDUAL_STEPS


@for_each("target", TARGETS)
@for_each("columns", [1, 400, 4000])
def test_everybody_starts_from_the_intercept_however_many_columns_there_are(target, columns):
    """Of a number that is usually close to its upper bound, and of classes that are as rare as can be."""
    domain = cases.schema(target=target)
    start, steps = {
        "ill": ([-4.6], CLASS_STEPS),
        "stage": ([-4.6, 0, -4.6], CLASS_STEPS),
        "stay": ([0.8], NUMBER_STEPS),
    }[target]
    binnings = (Binning.of((0, np.zeros(5, dtype=int))),) * columns
    shapes = Shapes(domain, Layout(target, "all", binnings), np.array(start), 1)
    assert shapes.base.tolist() == [round(score * steps) for score in start]
    for feature in (0, columns - 1):
        shapes.put(feature, [np.full((1, len(start)), 1e30)])
    most = shapes.tables.max()
    assert (
        most * columns + np.abs(shapes.base).max() <= LARGEST_SCORE < (most + 1) * columns + np.abs(shapes.base).max()
    )


def test_residual_sizes_agree_with_the_oracle():
    """Of the first replicate; one record is in one group."""
    table = table_of("stay")
    shapes, base, values = drawn(table, "stay", np.random.default_rng(7), size=0.1)
    (own,) = table.partitions
    labels, binnings = labels_of(own, "stay", "all"), shapes.layout.binnings
    bins = [binning.groups[0][codes] for binning, codes in zip(binnings, cell_codes(own, "stay"), strict=True)]
    (exact,) = oracle.scores_of(base, values[0], bins, True)
    counts = table.total(residual_sizes, shapes)
    assert counts.tolist() == oracle.size_groups(labels, exact, SIZE_EDGES)
    less = cases.table(cases.frame(ROWS).iloc[1:], table.schema).total(residual_sizes, shapes)
    assert np.abs(counts - less).sum() * COUNT_STEPS == histogram_sensitivity(1)


def test_residual_sizes_put_each_edge_into_its_own_group():
    edge = 2.0**-2
    for size, step in ((edge, 0), (edge, 1), (0.0, 0), (2.0, 0)):
        domain = cases.schema(0, 10, target="stay")
        table = cases.table(cases.frame(1, 0).assign(stay=-10.0), domain)
        layout = Layout("stay", "all", (Binning.of((0, np.zeros(5, dtype=int))),))
        shapes = Shapes(domain, layout, np.array([size + step / NUMBER_STEPS]), 1)
        counts = table.total(residual_sizes, shapes)
        expected = min(int(np.searchsorted(SIZE_EDGES, size + step / NUMBER_STEPS)), len(SIZE_EDGES) - 1)
        assert np.flatnonzero(counts).tolist() == [expected]
