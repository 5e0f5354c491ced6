"""Counts down a hierarchy of codes: least squares, sums that fit, intervals, only branches that stand out."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.summaries.learning.division import TREES
from dpcore.models.summaries.learning.summary_learner import SummaryLearner
from dpcore.models.summaries.learning.summary_queries import level_counts, table_sensitivity
from dpcore.models.summaries.released.finer import CodeLevelTable, CodeTree, fitted
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.models.summaries.released.summary_parameters import Axis
from dpcore.models.summaries.released.summary_reading import code_frame
from dpcore.models.summaries.released.summary_words import _cells, _View, branches
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

#: Groups of six cells: two of the coarsest level, three of the level below.
COARSE, FINE = (0, 0, 0, 0, 1, 1), (0, 0, 1, 1, 2, 2)
TRUE = np.array([400.0, 5.0, 0.0, 3.0, 60.0, 40.0])
DEVIATIONS = (3.0, 6.0, 4.0)
DELTA = "0.000001"
SCHEMA = ward(
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    {
        "name": "drug",
        "type": "categorical",
        "categories": ["C07A", "C09A", "N02A", "N02B", "N05A", "R03A"],
        "derive": {"code": "atc", "system": "atc", "level": "3"},
    },
    max_rows=4000,
)


def tree(counts=None):
    noisy = counts or [sums(COARSE, TRUE), sums(FINE, TRUE)]
    names = (("A", "B"), ("A1", "A2", "B1"))
    levels = [
        CodeLevelTable(name=f"level {n}", cells=cells, groups=groups, counts=tuple(own), deviation=deviation)
        for n, (cells, groups, own, deviation) in enumerate(zip(names, (COARSE, FINE), noisy, DEVIATIONS, strict=False))
    ]
    return CodeTree(axis=0, levels=tuple(levels))


def sums(groups, counts):
    return np.bincount(groups, counts)


def drawn(generator):
    noisy = [
        sums(groups, TRUE) + generator.normal(0, d, max(groups) + 1)
        for groups, d in zip((COARSE, FINE), DEVIATIONS, strict=False)
    ]
    cells = TRUE + generator.normal(0, DEVIATIONS[2], len(TRUE))
    return noisy, cells - cells.mean() + TRUE.mean()  # As if the total were known.


def matrix():
    rows = [np.eye(max(groups) + 1)[list(groups)].T for groups in (COARSE, FINE)]
    return np.concatenate([*rows, np.eye(len(TRUE))])


def least_squares(noisy, cells, total):
    """The same by linear algebra: weighted least squares with a total that is kept."""
    asked, weights = matrix(), np.repeat(1 / np.square(DEVIATIONS), (2, 3, 6))
    told = np.concatenate([*noisy, cells])
    ones = np.ones((len(TRUE), 1))
    system = np.block([[asked.T @ (weights[:, None] * asked), ones], [ones.T, np.zeros((1, 1))]])
    inverse = np.linalg.inv(system)
    return (inverse @ [*(asked.T @ (weights * told)), total])[:-1], inverse[:-1, :-1]


def test_estimates_are_those_of_least_squares():
    noisy, cells = drawn(np.random.default_rng(1))
    levels = fitted(tree(noisy), cells, DEVIATIONS[2] ** 2, TRUE.sum(), 0.0)
    wanted, covariance = least_squares(noisy, cells, TRUE.sum())
    for level, groups in zip(levels, (COARSE, FINE, range(6)), strict=True):
        adds = np.eye(max(groups) + 1)[list(groups)].T
        assert level.counts == pytest.approx(adds @ wanted)
        assert level.deviations == pytest.approx(np.sqrt(np.diag(adds @ covariance @ adds.T)))


def test_counts_without_negative_ones_add_up():
    noisy, cells = drawn(np.random.default_rng(2))
    total = TRUE.sum()
    coarse, fine, own = fitted(tree(noisy), cells - np.array([0, 30, 30, 0, 0, 0]) + 10, 16.0, total, 4.0)
    for level in (coarse, fine, own):
        assert (level.values >= 0).all()
        assert level.values.sum() == pytest.approx(total)
    assert sums(own.parents, own.values) == pytest.approx(fine.values)
    assert sums(fine.parents, fine.values) == pytest.approx(coarse.values)


# Runs


def released(epsilon="1", account="0", rows=3000, **parameters):
    draw = np.random.default_rng(0)
    codes = ["C07AB02", "C09AA01", "N02AA01", "N02BE01", "N05AH03", None]
    frame = pd.DataFrame(
        {"sex": draw.choice(["f", "m"], rows), "atc": draw.choice(codes, rows, p=[0.3, 0.3, 0.0, 0.3, 0.05, 0.05])}
    )
    learner = SummaryLearner()
    plan = learner.plan(SCHEMA, "", Decimal(epsilon), {"codes": ("drug",), **parameters}, Decimal(account))
    table = ingest(frame_chunks(frame), SCHEMA, SeededRandom(0))
    return plan, learner.run(Run(table, plan, SeededRandom(1)))


@for_each(("account", "own"), [("0", {}), (DELTA, {}), ("0", {"delta": DELTA})])
def test_levels_have_a_part_of_the_budget_and_close_counts(account, own):
    plan, model = released(account=account, **own)
    assert sum(plan.split.parts.values()) == plan.epsilon
    assert plan.split.parts[TREES] > 0
    assert "a count of a group of codes" in [own.what for own in plan.noise]
    (levels,) = model.levels
    drugs = dict(zip(model.trees[0].levels[0].cells, levels[0].values, strict=True))
    assert drugs["C: Cardiovascular system"] == pytest.approx(1800, abs=120)
    assert drugs["(missing)"] == pytest.approx(150, abs=60)


def test_of_several_columns_of_codes_each_agrees_with_its_groups():
    draw = np.random.default_rng(2)
    tables = tuple(
        NoisyTable(axes=axes, counts=tuple(draw.normal(100, 90, 6 ** len(axes)).tolist()), deviation=90.0)
        for axes in ((0,), (1,), (0, 1))
    )
    trees = tuple(
        tree([draw.normal(sums(groups, TRUE), 90) for groups in (COARSE, FINE)]).model_copy(update={"axis": axis})
        for axis in range(2)
    )
    axes = (Axis(column="first"), Axis(column="second"))
    model = SummaryModel(axes=axes, sizes=(6, 6), tables=tables, trees=trees, gaussian=True, count_margin=40)
    for axis, levels in enumerate(model.levels):
        assert model.estimates.consistent((axis,)) == pytest.approx(levels[-1].values)


def test_a_tree_beside_many_columns_has_a_share_too():
    """By its cells alone it would have less than one percent of what is left, and no count of it could be told."""
    wide = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 1000, "bins": 20} for i in range(80)]
    groups = [{"name": "x", "members": ["a", "b"]}, {"name": "y", "members": ["c", "d"]}]
    code = {"name": "d", "type": "categorical", "categories": ["a", "b", "c", "d"], "groups": groups}
    own = Schema.from_mapping({"name": "wide", "max_rows": 4000, "columns": [*wide, code]})
    plan = SummaryLearner().plan(own, "", Decimal(1), {"codes": ("d",)})
    assert plan.split.parts[TREES] >= Decimal("0.02")
    assert sum(plan.split.parts.values()) <= plan.epsilon


def test_only_branches_that_stand_out_are_told():
    _, model = released()
    found = branches(model, SCHEMA, 0)
    names = [branch.name for branch in found]
    assert "N02: Analgesics" in names
    assert "N02A" not in names
    assert not any(name.startswith("R") for name in names)
    parent = next(branch for branch in found if branch.name == "N02: Analgesics")
    assert (parent.depth, parent.folded) == (1, 1)
    assert all(branch.count.low > 0 for branch in found)
    assert list(code_frame(model, SCHEMA)["group"]) == names


@pytest.mark.parametrize("gaussian", [True, False])
def test_hardly_any_branch_is_told_that_is_empty(gaussian):
    """21 chapters of 12 blocks, 25 of them with people: at most one of 60 made-up looks in ten tells an empty one."""
    draw, groups, empty, full = np.random.default_rng(2), np.repeat(np.arange(21), 12), [], 0
    noise = partial(draw.normal, 0, 5) if gaussian else partial(draw.laplace, 0, 5 / np.sqrt(2))
    names = [tuple(map(str, range(21))), tuple(map(str, range(100, 352)))]
    for _ in range(60):
        true = np.zeros(252)
        true[draw.choice(252, 25, replace=False)] = draw.integers(40, 400, 25)
        noisy, cells = tuple(np.bincount(groups, true) + noise(size=21)), true + noise(size=252)
        level = CodeLevelTable(name="chapter", cells=names[0], groups=tuple(groups), counts=noisy, deviation=5.0)
        levels = fitted(CodeTree(axis=0, levels=(level,)), cells, 25.0, float(cells.sum()), 252 * 25.0)
        told = _View.of(names, ["chapter", ""], levels, gaussian=gaussian).branches()
        blocks = [int(branch.name) - 100 for branch in told if branch.depth == 1]
        empty.append(sum(true[block] == 0 for block in blocks))
        full += len(blocks) - empty[-1]
    assert np.mean(empty) <= 0.1
    assert full > 60 * 20, "who is there is told"


def test_a_person_moves_the_counts_of_a_level_by_their_rows_at_most():
    counts, groups = np.array([5, 0, 2]), (0, 0, 1)
    own = np.array([2, 1, 0])
    moved = level_counts(counts + own, groups) - level_counts(counts, groups)
    assert np.abs(moved).sum() == own.sum() == table_sensitivity(3).value


def test_counts_of_groups_lie_in_their_own_intervals():
    noisy = np.random.default_rng(1).normal(0, 10, 1000) + 500 * np.eye(1000)[0]
    level = CodeLevelTable(name="", cells=("A", "B"), groups=(0,) * 999 + (1,), counts=(500.0, 0.0), deviation=1.0)
    own = fitted(CodeTree(axis=0, levels=(level,)), noisy, 100.0, 500.0, 1.0)[-1]
    cells = _cells(own, gaussian=True)
    assert ((cells.low <= cells.values) & (cells.values <= cells.high)).all()
    assert cells.low[0] == cells.values[0]
