"""First looks: the least error that noise allows, and how often intervals of crosstabs hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from benchmarks.datasets import BenchData
from benchmarks.summaries import DELTA, Truth, held_crosstabs, limits
from dpcore import DPSummary
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.privacy.budgets import gaussian_delta


def truth_of(sizes: list[int], rows: int = 400) -> Truth:
    """Columns with so many categories, besides the cells of other and missing values."""
    columns = [
        {"name": f"c{place}", "type": "categorical", "categories": [f"v{code}" for code in range(size)]}
        for place, size in enumerate(sizes)
    ]
    schema = Schema.from_mapping({"name": "made", "max_rows": rows, "columns": columns})
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {f"c{place}": [f"v{code}" for code in draw.integers(0, size, rows)] for place, size in enumerate(sizes)}
    )
    codes = encode_columns(frame, schema, list(frame))
    axes = axes_of(schema, None)
    return Truth(BenchData("made", frame, schema), axes, {name: own.astype(int) for name, own in codes.items()})


def test_columns_alike_are_told_best_by_equal_parts() -> None:
    pure, gaussian, by_zcdp = (record.mean for record in limits(truth_of([4, 4, 4]), 0.5))
    assert pure == pytest.approx(3 / 0.5)
    # The mean size of Gaussian noise is its deviation times the root of 2/pi.
    mu = np.sqrt(3) * np.sqrt(2 / np.pi) / gaussian
    assert gaussian_delta(mu, 0.5) == pytest.approx(DELTA)
    rho = (np.sqrt(3) * np.sqrt(2 / np.pi) / by_zcdp) ** 2 / 2
    assert rho + 2 * np.sqrt(rho * -np.log(DELTA)) == pytest.approx(0.5)


def test_columns_of_other_sizes_gain_by_unequal_parts() -> None:
    record = next(limits(truth_of([2, 30]), 1))
    assert record.mean == pytest.approx((2 + np.sqrt(32)) ** 2 / 36)
    assert record.mean < record.reference == 2


def test_intervals_of_crosstabs_hold_for_their_own_records_alone() -> None:
    own, others = truth_of([2, 3]), truth_of([2, 3], rows=800)
    pairs = list(combinations(range(2), 2))
    look = DPSummary(epsilon=2, schema=own.data.schema, crosstabs=("c0 by c1",), random_state=1).fit(own.data.frame)
    assert min(held_crosstabs(own, pairs, look.model_)) > 0.8
    # Of 20 cells 14 are those of other and missing values, which are empty here and there.
    assert held_crosstabs(others, pairs, look.model_)[0] == pytest.approx(14 / 20)
