from copy import deepcopy
from decimal import Decimal

import pytest

from dpcore.errors import BudgetError
from dpcore.privacy.accountant import BudgetAccountant


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


def test_deltas_add_up_beside_epsilons():
    budget = BudgetAccountant("3")
    budget.spend(Decimal(1), "a tree")
    budget.spend(Decimal(1), "a machine", Decimal("0.000001"))
    budget.spend(Decimal(1), "another", Decimal("0.00001"))
    assert budget.delta_spent == Decimal("0.000011")
    assert [entry.delta for entry in budget.entries] == [0, Decimal("1E-6"), Decimal("1E-5")]
    assert budget.entries[1] == ("a machine", Decimal(1), Decimal("0.000001"))


def test_a_cap_on_delta_holds():
    budget = BudgetAccountant(10, delta_cap=1e-5)
    budget.spend(Decimal(1), "a machine", Decimal("0.00001"))
    with pytest.raises(BudgetError, match=r"delta 0\.000001, but 0 of 0\.00001 is left"):
        budget.spend(Decimal(1), "a machine", Decimal("0.000001"))
    assert budget.spent == 1
    budget.spend(Decimal(1), "a tree")
    assert budget.spent == 2


@pytest.mark.parametrize("delta", ["-0.1", "1", "2", "NaN", "inf"])
def test_what_is_no_delta_costs_nothing(delta):
    budget = BudgetAccountant(1)
    with pytest.raises(BudgetError, match="Delta must be"):
        budget.spend(Decimal("0.5"), "a fit", Decimal(delta))
    assert budget.entries == []
    with pytest.raises(BudgetError, match="Delta must be"):
        BudgetAccountant(1, delta_cap=delta)
    with pytest.raises(BudgetError, match="Delta must be a number"):
        BudgetAccountant(1, delta_cap="a little")
