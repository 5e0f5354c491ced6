"""Over which bins a question adds up: every bin is in one run, and the way that tells most is taken."""

import numpy as np

from dpcore.models.ebm.learning.runs import Runs, best_runs, possible_runs
from dpcore.models.ebm.learning.smoothing import Prior, distances
from tests.support.rows import for_each

MASS = np.array([9.0, 1.0, 4.0, 4.0, 2.0, 7.0, 3.0, 2.0, 0.5])


@for_each("ordered", [0, 2, 8])
@for_each("whole", [True, False])
def test_every_bin_is_in_one_run_of_neighbours_and_what_has_no_order_is_alone(ordered, whole):
    for turn in range(20):
        ways = possible_runs(MASS, ordered, turn, whole=whole)
        assert len(ways) == 1 + whole + (2 if ordered == 8 else 0)
        for way in ways:
            assert np.array_equal(way.matrix.sum(axis=0), np.ones(9))
            assert set(np.diff(way.of_bins)) <= {0, 1}
            assert len(way) == 1 or (np.diff(way.of_bins)[max(ordered, 1) - 1 :] == 1).all()


def test_sums_of_runs_by_hand():
    values = np.arange(12).reshape(2, 3, 2)
    assert Runs(np.array([0, 0, 1])).sums(values).tolist() == [[[2, 4], [4, 5]], [[14, 16], [10, 11]]]


def test_one_row_is_in_one_run_of_every_replicate():
    """The most that a row moves: Lemma 2."""
    for way in possible_runs(MASS, 8, 3, whole=True):
        for place in range(9):
            moved = np.zeros((4, 9, 1), dtype=np.int64)
            moved[:, place] = 100
            assert np.linalg.norm(way.sums(moved)) == 2 * 100


def test_much_noise_asks_for_long_runs_and_little_noise_for_every_bin():
    prior, hessian = Prior(distances(9, 8), 1.0, 0.1), 10 * MASS
    covariance = prior.covariance(np.zeros((9, 9)))[None]
    ways, noises = possible_runs(MASS, 8, 0, whole=False), (1e-6, 1e2, 1e8)
    sizes = [len(best_runs(ways, covariance, hessian[None], noise, centred=True)) for noise in noises]
    assert sizes[0] == 9
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 3, "halves, and the missing bin"
