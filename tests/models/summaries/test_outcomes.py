"""A column that follows all others together has the pairs that were counted, and more structure than they force."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.models.summaries.released import summary_family as module
from dpcore.models.summaries.released.summary_family import outcomes

ROWS = 20_000


def records():
    draw = np.random.default_rng(0)
    return {0: draw.integers(0, 2, ROWS), 1: draw.integers(0, 3, ROWS), 2: np.zeros(ROWS, dtype=np.int64)}


TABLES = {
    (0, 2): np.array([[6000.0, 4000.0], [3000.0, 7000.0]]),
    (1, 2): np.array([[5000.0, 1600.0], [3000.0, 3700.0], [1000.0, 5700.0]]),
}


def drawn():
    codes = records()
    return codes, outcomes(codes, 2, TABLES, np.random.default_rng(1))


@pytest.mark.parametrize("pair", TABLES)
def test_every_pair_is_met(pair):
    codes, found = drawn()
    table = np.zeros_like(TABLES[pair])
    np.add.at(table, (codes[pair[0]], found), 1)
    wanted = TABLES[pair] / TABLES[pair].sum(axis=1, keepdims=True)
    assert table / table.sum(axis=1, keepdims=True) == pytest.approx(wanted, abs=0.03)


def test_the_likely_value_is_likelier_than_the_least_structure_makes_it(monkeypatch):
    codes, found = drawn()
    monkeypatch.setattr(module, "sure", lambda chances: 0.0)
    _, least = drawn()
    place = codes[0] * 3 + codes[1]

    def right(values):
        return sum(np.bincount(values[place == cell]).max() for cell in range(6))

    assert right(found) > right(least)


@pytest.mark.parametrize(("chances", "part"), [([[0.7] * 4, [0.3] * 4], 0), ([[1, 1, 0, 0], [0, 0, 1, 1]], 1)])
def test_the_part_that_is_sure_is_what_the_pairs_tell(chances, part):
    assert module.sure(np.array(chances)) == pytest.approx(part)
