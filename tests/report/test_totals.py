"""What results cost together is never more than everything that was spent, whatever was run."""

from __future__ import annotations

from decimal import Decimal

import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import Loss, pure_loss, run_loss, total_loss
from dpcore.released.release import SECURE, Release
from dpcore.report.dossier import Dossier
from dpcore.report.forms.registry import registry_yaml
from dpcore.report.totals import cost_together
from dpcore.workspace.ledger.accounts import Balance, CapState
from dpcore.workspace.results.dossier import Application
from tests.support.results import reports

EPSILONS = st.integers(1, 900).map(lambda thousandths: Decimal(thousandths) / 1000)


def composing(epsilon: Decimal, delta: Decimal) -> Loss:
    return run_loss(epsilon, delta, largest_rho(epsilon, delta))


@st.composite
def accounts(draw: st.DrawFn) -> tuple[list[Loss], int, Balance]:
    """Runs that fit under a cap, how many of them are chosen, and the account of all of them and of one that waits."""
    delta = draw(st.sampled_from([Decimal(0), Decimal("1e-6"), Decimal("1e-9")]))
    cap = PrivacyFilter(Decimal(draw(st.integers(1, 12))), delta)
    kinds = st.sampled_from(["pure", "composing"] if delta else ["pure"])
    losses: list[Loss] = []
    for epsilon, kind in draw(st.lists(st.tuples(EPSILONS, kinds), min_size=1, max_size=25)):
        loss = pure_loss(epsilon) if kind == "pure" else composing(epsilon, cap.run_delta)
        if cap.accepts(total_loss([*losses, loss])):
            losses.append(loss)
    losses = losses or [pure_loss(Decimal("0.001"))]
    waiting = draw(st.booleans()) and len(losses) > 1
    spent = total_loss(losses[:-1] if waiting else losses)
    most = len(losses) - waiting
    return losses[:most], draw(st.integers(1, most)), Balance((CapState(cap, spent, total_loss(losses)),))


def release_of(loss: Loss) -> Release:
    """A release with this loss in its certificate."""
    made = reports.release("tree")
    rho = loss.rho if loss.delta else None
    public = {"randomness": SECURE, "origins": ("declared",), "private": True, "guarantee": "unconditional"}
    amounts = {"epsilon": loss.epsilon, "delta": loss.delta, "rho": rho}
    card = made.certificate.model_copy(update=amounts | public)
    return made.model_copy(update={"certificate": card})


@given(accounts())
def test_a_part_is_never_more_than_the_whole(account: tuple[list[Loss], int, Balance]) -> None:
    losses, chosen, balance = account
    releases = [release_of(loss) for loss in losses]
    epsilon, delta = cost_together(releases[:chosen], balance)
    added = total_loss(losses[:chosen])
    assert epsilon <= balance.epsilon
    assert epsilon <= added.epsilon or added.delta > balance.delta
    assert delta <= balance.delta
    every, _ = cost_together(releases, balance)
    assert epsilon <= every
    assert all(cost_together([one], balance)[0] <= epsilon for one in releases[:chosen])


def test_every_form_tells_the_same_part() -> None:
    """Small runs under a delta, which cost less together than their sum: page, statement and registry alike."""
    cap = PrivacyFilter(Decimal(5), Decimal("1e-6"))
    losses = [composing(Decimal("0.3"), cap.run_delta)] * 12
    balance = Balance((CapState(cap, *[total_loss(losses)] * 2),))
    releases = [release_of(loss).model_copy(update={"id": f"{place:032x}"}) for place, loss in enumerate(losses)]
    dossier = Dossier(reports.dataset(), releases, {}, balance, Application())
    part, whole = dossier.sums
    assert balance.epsilon < total_loss(losses).epsilon
    assert part.epsilon == whole.epsilon == plain_epsilon(balance.epsilon)
    assert dossier.statement["ε of the results in this dossier, together"] == part.epsilon
    parameters = yaml.safe_load(registry_yaml(dossier))["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters == {"epsilon": float(balance.epsilon), "delta": 1e-6}
    assert part.guarantee == whole.guarantee == "unconditional"
