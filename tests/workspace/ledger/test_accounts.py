"""What is told of a budget: the largest epsilon that fits can be run."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import get_learner
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import Loss, run_loss, total_loss
from dpcore.workspace.ledger.accounts import Balance, CapState

SCHEMA = Schema(name="toy", max_rows=1000, columns=(BooleanColumn(name="x"), BooleanColumn(name="y")))
DELTA = Decimal("0.000001")


def _composing(cap: PrivacyFilter, epsilon: Decimal) -> Loss:
    return cap.priced(run_loss(epsilon, cap.run_delta, largest_rho(epsilon, cap.run_delta)))


@given(
    st.lists(st.decimals("0.05", "2", places=3), max_size=6),
    st.sampled_from([None, "1", "2.7"]),
    st.sampled_from([Decimal(0), DELTA / 200]),
)
def test_a_run_of_the_largest_epsilon_is_accepted_and_charged_what_it_costs(picked, limit, aside):
    """Its price may exceed what is left, by less than the last digit: then it takes all of that."""
    whole = PrivacyFilter(Decimal(5), DELTA, aside)
    spent = total_loss(_composing(whole, epsilon) for epsilon in picked)
    own = [] if limit is None else [CapState(PrivacyFilter(Decimal(limit), DELTA), *[total_loss([])] * 2)]
    balance = Balance((*own, CapState(whole, spent, spent)))
    if not (largest := balance.largest()):
        return
    plan = get_learner("tree").plan(SCHEMA, "y", largest, {}, balance.run_delta)
    charged = balance.charged(plan)
    assert balance.refusal(charged) is None
    assert plan.loss.rho <= charged.rho <= plan.loss.rho * Decimal("1.001") + whole.rho / 1_000_000
