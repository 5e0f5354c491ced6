import multiprocessing
from copy import deepcopy
from decimal import Decimal

import pytest

from dpcore.errors import BudgetError
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.privacy.losses import gaussian_rho, pure_loss, run_loss
from tests.support.rows import for_each


def test_a_budget_cannot_be_overspent():
    budget = BudgetAccountant("1")
    budget.spend(pure_loss(Decimal("0.7")), "a fit")
    with pytest.raises(BudgetError, match=r"to 1\.10 at delta 10⁻⁶.* A fit of up to epsilon 0\.27"):
        budget.spend(pure_loss(Decimal("0.4")), "another")
    assert budget.filter.largest(budget.total, pure=True) == Decimal("0.3")
    assert (budget.spent, budget.share) == (Decimal("0.7"), Decimal("0.7"))
    assert budget.entries == [("a fit", pure_loss(Decimal("0.7")))]


def test_copies_share_one_budget():
    budget = BudgetAccountant("1")
    deepcopy(budget).spend(pure_loss(Decimal(1)), "a fit")
    assert budget.left == 0


def test_a_forked_process_cannot_spend_the_budget_again():
    budget, context = BudgetAccountant("1"), multiprocessing.get_context("fork")
    said = context.SimpleQueue()
    child = context.Process(target=_spend_and_tell, args=(budget, said))
    child.start()
    child.join(timeout=60)
    assert "cannot be copied to other processes" in said.get()
    budget.spend(pure_loss(Decimal(1)), "a fit")


def _spend_and_tell(budget, said):
    try:
        budget.spend(pure_loss(Decimal(1)), "a fit")
    except BudgetError as error:
        said.put(str(error))
    else:
        said.put("spent")


def test_many_small_fits_cost_less_than_their_sum():
    budget = BudgetAccountant(5)
    for _ in range(80):
        budget.spend(pure_loss(Decimal("0.1")), "a small fit")
    assert budget.total.epsilon == 8
    assert 4 < budget.spent < 5
    assert 0 < budget.filter.largest(budget.total, pure=True) < 5 - budget.spent


def test_fits_with_a_delta_are_seen_whatever_delta_they_claim():
    budget = BudgetAccountant(1)
    telling = run_loss(Decimal("0.0000001"), Decimal("0.01"), gaussian_rho(0.025))
    for _ in range(76):
        budget.spend(telling, "a machine")
    with pytest.raises(BudgetError, match="above the cap of 1"):
        budget.spend(telling, "a machine")
    assert budget.spent <= 1


def test_a_budget_without_delta_takes_pure_fits_only():
    budget = BudgetAccountant(1, delta_cap=0)
    with pytest.raises(BudgetError, match="takes fits that are pure only"):
        budget.spend(run_loss(Decimal("0.1"), Decimal("1e-7"), Decimal("0.001")), "a machine")
    budget.spend(pure_loss(Decimal(1)), "a tree")
    assert (budget.spent, budget.left) == (1, 0)


def test_a_delta_that_nothing_else_bounds_is_refused_in_a_sentence():
    budget = BudgetAccountant(1)
    with pytest.raises(BudgetError, match=r"all deltas together may be at most 0\.0000001:"):
        budget.spend(pure_loss(Decimal("0.1"), Decimal("0.0000003")), "a machine")
    budget.spend(pure_loss(Decimal("0.1"), Decimal("0.0000001")), "a machine")
    assert budget.spent == Decimal("0.1")


def test_a_delta_below_every_float_counts_as_none():
    budget = BudgetAccountant(1, delta_cap="1e-400")
    budget.spend(pure_loss(Decimal("0.4")), "a tree")
    assert (budget.spent, budget.left) == (Decimal("0.4"), Decimal("0.6"))
    with pytest.raises(BudgetError, match=r"up to epsilon 0\.60 would fit"):
        budget.spend(pure_loss(Decimal("0.7")), "a tree")


@for_each("cap", ["-5", "0", "NaN", "much"])
def test_what_is_no_cap_is_refused(cap):
    with pytest.raises(BudgetError):
        BudgetAccountant(cap)


@for_each("delta", ["-0.1", "1", "2", "NaN", "inf", "a little"])
def test_what_is_no_delta_is_refused(delta):
    with pytest.raises(BudgetError, match="Delta must be"):
        BudgetAccountant(1, delta_cap=delta)
