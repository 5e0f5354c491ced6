"""How many pairs are found for invented records: from public facts, and only where noise leaves something."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpcore.learning.learner import PlanRequest
from dpcore.models.summaries.learning.pair_count import expected_variation, with_pairs
from dpcore.models.summaries.released.summary_parameters import SummaryParameters
from tests.support.results.first_looks import plan, released, schema


def pairs(epsilon: str, rows: int = 4000, **chosen) -> int:
    return plan(epsilon=epsilon, of=schema(max_rows=rows), records=True, **chosen).parameters.pairs


@pytest.mark.parametrize("chosen", [{}, {"delta": "0.000001"}])
def test_pairs_pay_with_many_people_and_not_in_noise(chosen):
    assert pairs("0.01", **chosen) == 0
    assert pairs("5", **chosen) > 0
    assert pairs("0.1", rows=1_000_000, **chosen) > pairs("0.1", rows=500, **chosen)


def test_what_is_found_is_a_plain_number_of_pairs():
    made = plan(epsilon="5", records=True)
    assert not made.parameters.records
    assert made == plan(epsilon="5", pairs=made.parameters.pairs)
    assert len(released(made).found) == made.parameters.pairs


def test_the_number_with_the_least_expected_error_is_taken():
    plan_request = PlanRequest(schema(), "", Decimal(1), SummaryParameters(records=True))
    chosen = with_pairs(plan_request).parameters
    least = expected_variation(plan_request, chosen)
    assert all(
        expected_variation(plan_request, chosen.model_copy(update={"pairs": other})) >= least - 1e-12
        for other in (0, 2, 5, 10)
    )
