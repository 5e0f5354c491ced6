"""The rival's greedy rule lists: its sensitivities hold on all small tables, and it finds what is plain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchmarks import smooth_lists
from benchmarks.smooth_lists import impurity, local_sensitivity, smooth_sensitivity

BETA, LEAST = 0.05, 3


def _tables(records: int) -> list[np.ndarray]:
    """Class counts inside and outside of every division of so many records."""
    every = itertools.product(range(records + 1), repeat=3)
    return [np.array([[a, b], [c, records - a - b - c]]) for a, b, c in every if a + b + c <= records]


def _impurity(table: np.ndarray) -> float:
    return float(impurity(table[:1].astype(float), table.sum(axis=0).astype(float))[0])


@pytest.mark.parametrize("records", range(2, 9))
def test_no_record_moves_an_impurity_by_more_than_the_local_sensitivity_and_one_does(records: int) -> None:
    largest = 0.0
    for table in _tables(records):
        for place in itertools.product((0, 1), repeat=2):
            for step in (1, -1):
                other = table.copy()
                other[place] += step
                if other.min() >= 0:
                    largest = max(largest, abs(_impurity(other) - _impurity(table)))
    assert largest == pytest.approx(local_sensitivity(records))


@pytest.mark.parametrize("records", [LEAST, 4, 10, 100, 5000])
def test_the_smooth_sensitivity_is_above_the_local_one_and_moves_by_its_factor_at_most(records: int) -> None:
    here, more = (smooth_sensitivity(count, BETA, LEAST) for count in (records, records + 1))
    assert here >= local_sensitivity(records)
    assert abs(np.log(here / more)) <= BETA + 1e-12


@pytest.mark.parametrize("noise", ["Laplace", "Cauchy"])
def test_lists_find_what_is_plain(noise: smooth_lists.Noise) -> None:
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 4, (4000, 3))
    truth = (codes[:, 1] >= 2).astype(np.int64)
    found = smooth_lists.scores(codes, [4, 4, 4], [True, True, False], truth, 1e6, codes, noise=noise)
    assert ((found > 0.5) == truth).all()
