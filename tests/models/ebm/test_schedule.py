"""The house rule: from public inputs, and only where the analyst left something open."""

from itertools import pairwise

from dpcore.models.ebm.learning.schedule import resolve
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from tests.support.rows import for_each

OPEN = ("max_bins", "epochs", "learning_rate", "bin_share")


def resolved(parameters=None, **changes):
    given = {"numbers": False, "max_rows": 10_000, "mu": 0.3, "features": 10, **changes}
    return resolve(parameters or EBMParameters(), **given)


@for_each("method", ["all_bins", "random_splits"])
@for_each("numbers", [True, False])
def test_nothing_stays_open_and_what_is_chosen_stays(method, numbers):
    filled = resolved(EBMParameters(method=method), numbers=numbers)
    assert all(getattr(filled, name) is not None for name in OPEN)
    assert EBMParameters(**filled.model_dump()).model_dump() == filled.model_dump()
    mine = EBMParameters(method=method, max_bins=5, epochs=7, learning_rate=0.123, bin_share=0.4)
    assert resolved(mine, numbers=numbers).model_dump() == mine.model_dump()


def test_published_values_of_random_splits():
    """Nori et al. (2021), section 4; they do not depend on the data set."""
    for rows in (10, 10**8):
        filled = resolved(EBMParameters(method="random_splits"), max_rows=rows)
        values = [getattr(filled, name) for name in OPEN]
        assert values == [32, 300, 0.01, 0.1]


def test_more_precision_learns_faster_and_with_more_bins():
    filled = [resolved(max_rows=10**power) for power in range(1, 9)]
    for before, after in pairwise(filled):
        assert before.learning_rate <= after.learning_rate
        assert before.max_bins <= after.max_bins
    assert (filled[0].learning_rate, filled[-1].learning_rate) == (0.02, 0.7)
    assert (filled[0].max_bins, filled[-1].max_bins) == (16, 64)


@for_each("mu", [1e-9, 1.0, 1e3])
@for_each("rows", [1, 10**8])
@for_each("features", [1, 999])
def test_the_rule_holds_in_the_corners(mu, rows, features):
    filled = resolved(mu=mu, max_rows=rows, features=features)
    assert EBMParameters(**filled.model_dump()).model_dump() == filled.model_dump()
