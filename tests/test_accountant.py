from copy import deepcopy
from decimal import Decimal

import pytest

from dpcore.accountant import BudgetAccountant
from dpcore.errors import BudgetError


def test_a_budget_cannot_be_refilled_or_overspent():
    budget = BudgetAccountant("1")
    budget.spend(Decimal("0.7"), "a fit")
    for amount in ("-5", "0", "NaN", "0.4"):
        with pytest.raises(BudgetError):
            budget.spend(Decimal(amount), "another")
    assert budget.left == Decimal("0.3")


def test_copies_share_one_budget():
    budget = BudgetAccountant("1")
    deepcopy(budget).spend(Decimal(1), "a fit")
    assert budget.left == 0
