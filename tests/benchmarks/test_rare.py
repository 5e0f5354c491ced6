"""Tables with rare outcomes: splits are of either class, and the rival's tree is the one of its paper."""

from __future__ import annotations

import os
from decimal import Decimal

import numpy as np
import pytest

from benchmarks import peer_chances, privatree, rare_peers
from benchmarks.datasets import FOLDER_VARIABLE
from benchmarks.rare import SEEN, TABLES, problem
from benchmarks.rare_methods import PROGRAMS, house_plan

needs_data = pytest.mark.skipif(not os.environ.get(FOLDER_VARIABLE), reason=f"{FOLDER_VARIABLE} names no data")


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "share"),
    [("best wines, 3 %", 6497, 0.030), ("stroke in cms, 5 %", 9856, 0.050), ("heart, 303 rows", 303, 0.459)],
)
def test_a_table_has_two_classes_and_splits_of_both(name: str, rows: int, share: float) -> None:
    one = problem(name)
    assert one.codes.shape == (rows, len(one.columns))
    assert one.truth.mean() == pytest.approx(share, abs=0.001)
    assert all((one.codes >= 0).all(axis=0) & (one.codes < np.array(one.sizes)).all(axis=0))
    for apart in one.tests(3):
        assert one.truth[apart].mean() == pytest.approx(one.truth.mean(), abs=0.005)
        assert apart.mean() == pytest.approx(0.2, abs=0.005)
    assert one.data.target not in one.columns


@needs_data
def test_all_tables_have_the_columns_of_their_schema() -> None:
    for make in (TABLES["best wines, 3 %"], TABLES["pima, 768 rows"]):
        data = make()
        assert [column.name for column in data.schema if column.name not in data.frame] == []


@needs_data
@pytest.mark.parametrize("name", TABLES)
def test_house_methods_that_take_a_delta_have_the_delta_of_the_rivals(name: str) -> None:
    data = TABLES[name]()
    assert float(house_plan("ebm", data, Decimal(1)).delta) == rare_peers.DELTA
    assert house_plan("rule_list", data, Decimal(1)).delta == 0


def test_what_was_seen_are_tables_and_programs_of_the_house() -> None:
    assert set(SEEN) < set(TABLES)
    for seen in SEEN.values():
        assert [name for name in PROGRAMS if name in seen] == list(seen)
        assert not any(PROGRAMS[name].peer or not PROGRAMS[name].private for name in seen)


def test_a_rival_has_its_bounds_and_its_norm_in_every_encoding() -> None:
    codes = np.array([[0, 2, 0], [1, 0, 0], [1, 1, 0]])
    found = peer_chances.encoded(codes, [2, 3, 1])
    assert tuple(found) == peer_chances.ENCODINGS == PROGRAMS["diffprivlib"].encodings
    assert found["ordinal"].tolist() == [[0, 1, 0], [1, 0, 0], [1, 0.5, 0]]
    assert found["one-hot"].tolist() == [[1, 0, 0, 0, 1, 1], [0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1]]
    for matrix in found.values():
        assert (matrix >= 0).all()
        assert (matrix <= 1).all()
        assert (np.linalg.norm(matrix, axis=1) <= np.sqrt(3)).all()


def test_private_trees_find_what_is_plain_and_labels_alone() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 4, (4000, 3))
    truth = (codes[:, 1] >= 2).astype(np.int64)
    for sound in (True, False):
        found = privatree.scores(codes, [4, 4, 4], [True, True, False], truth, 50.0, codes, sound=sound)
        assert (found == truth).all()


def test_categories_are_divided_in_the_order_of_their_shares() -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 4, (4000, 1))
    truth = np.isin(codes[:, 0], (0, 2)).astype(np.int64)
    found = privatree.scores(codes, [4], [False], truth, 50.0, codes, sound=True)
    assert (found == truth).all()


def test_the_expected_error_of_a_label_is_the_worst_over_all_gaps() -> None:
    """For two labels, the expected loss is at most twice the maximum of log(1/p) times the chance to err."""
    p = np.linspace(1e-6, 1, 200_001)
    worst = (2 * np.log(1 / p) * (1 - (1 - (1 - p) ** 2) / (2 * p))).max()
    assert privatree._worst_error() == pytest.approx(worst, rel=1e-4)
