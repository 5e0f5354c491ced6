"""Meter, review, custodian, audit log, report and command line say the same after every run."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from dpcore.commands import app as command_line
from dpcore.numerals import small
from dpcore.privacy.budgets import at_delta, exact_amount, percent, plain_epsilon
from dpcore.report.totals import cost_together
from dpcore.workspace.ledger.accounts import Balance
from pages.components.visitor import access
from tests.support.pages.page_tools import checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward, fit, quote, submit

#: Page and epsilon of each run: small ones, a large one, and one of all the digits that there may be.
RUNS = (("tree", "0.1"), ("shape_functions", "0.2"), ("rule_list", "0.05"), ("tree", "1.234567891"))


@pytest.mark.parametrize("delta", ["0.000001", "0"])
def test_everything_says_the_same_after_every_run(delta: str) -> None:
    dataset_id = add_ward(budget="5", delta=delta)
    prices = Decimal(0)
    for page, epsilon in RUNS:
        if page == "shape_functions" and delta == "0":
            continue
        app = open_page(page)
        app.text_input(key="epsilon").set_value(epsilon).run()
        before, price = access.service().balance(dataset_id), access.service().quote(access_request(app))
        takes, after_it = percent(price.share), percent(price.left_after, up=False)
        assert meter_of(app) == {"Spent": percent(before.spent), "This run": takes, "Left after it": after_it}
        assert f"It takes {takes} of the budget; {price.runs_like_this_left:,} such runs are left." in words(app)
        reviewed = review_of(press(app, "Review and spend"))
        assert reviewed["Promises"] == f"ε = {plain_epsilon(Decimal(epsilon))}{at_delta(before.run_delta)}"
        assert reviewed["Takes"] == f"{takes} of the budget; {price.runs_like_this_left:,} such runs are left"
        assert reviewed["Left after it"] == after_it
        assert app.button(key="spend").label == f"Run and spend {takes}"
        app.button(key="spend").click().run()
        after, prices = access.service().balance(dataset_id), prices + price.share
        assert after.spent == prices, "what was told is what is spent"
        assert_same_everywhere(dataset_id, after)


def access_request(app: AppTest):
    """The run that is being set up."""
    return app.session_state[access.THIS_RUN_KEY].request


def meter_text(app: AppTest) -> str:
    return next(item.value for item in app.sidebar.get("html") if "fg-meter" in item.value)


def meter_of(app: AppTest) -> dict[str, str]:
    """Parts of the meter."""
    return dict(re.findall(r"<span>([^<]+)</span><b>([^<]+)</b>", meter_text(app)))


def review_of(app: AppTest) -> dict[str, str]:
    table = words(app).partition("What you are about to do")[2].partition("</table>")[0]
    return dict(re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+)</td>', table))


def facts_of(app: AppTest) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", words(app)))


def assert_same_everywhere(dataset_id: str, balance: Balance) -> None:
    spent, left = percent(balance.spent), percent(balance.left, up=False)
    app = open_page("custodian")
    assert meter_of(app) == {"Spent": spent, "Left": left}
    facts = facts_of(checked(app.segmented_control(key="custodian-view").set_value("Budget").run()))
    assert facts["Total budget"] == f"ε 5.00{at_delta(balance.delta)}"
    assert (facts["Spent by all analysts"], facts["Left"]) == (spent, left)
    assert_audit_log()
    assert_report(dataset_id, balance)
    told = CliRunner().invoke(command_line, ["ledger", "show", "ward"], catch_exceptions=False).stdout
    assert f"budget 5.00{at_delta(balance.delta)}, {spent} spent, {left} left" in told


def assert_audit_log() -> None:
    app = open_page("custodian")
    shown = checked(app.segmented_control(key="custodian-view").set_value("Audit log").run()).dataframe[-1].value
    told = CliRunner().invoke(command_line, ["ledger", "show", "ward"], catch_exceptions=False).stdout
    for entry in access.service().ledger_entries():
        line = shown[shown["No."] == str(entry.sequence)].iloc[0]
        if not entry.epsilon:
            assert (line["ε"], line["ρ"]) == ("", "")
            continue
        amounts = plain_epsilon(entry.epsilon), exact_amount(entry.rho)
        assert (line["ε"], line["ρ"]) == amounts
        assert line.get("δ", "") == (exact_amount(entry.delta) if entry.delta else "")
        row = next(row for row in told.splitlines() if row.split()[:1] == [str(entry.sequence)])
        assert all(amount in row.split() for amount in amounts)
        assert not entry.delta or exact_amount(entry.delta) in row.split()


def assert_report(dataset_id: str, balance: Balance) -> None:
    [newest, *_] = access.service().releases(dataset_id)
    of_chosen, of_all = access.service().dossier_totals(dataset_id, [newest.id])
    epsilon, delta = cost_together([newest], balance)
    assert (of_chosen.epsilon, of_chosen.delta) == (plain_epsilon(epsilon), small(delta))
    assert epsilon == newest.certificate.epsilon
    assert (of_all.epsilon, of_all.delta) == (plain_epsilon(balance.epsilon), small(balance.delta))
    app = open_page("report")
    app.multiselect[0].set_value([newest.id]).run()
    shown = words(checked(app))
    for total in (of_chosen, of_all):
        assert f"<td>{total.epsilon}</td><td>{total.delta}</td>" in shown


# The meter beside what others spend


def test_the_meter_asks_again_for_the_price_if_somebody_has_spent() -> None:
    dataset_id = add_ward(budget="5")
    app = open_page("rule_list")
    app.text_input(key="epsilon").set_value("0.1").run()
    first = access.service().quote(access_request(app))
    submit(dataset_id, "tree", "0.1", "died")
    now = access.service().balance(dataset_id)
    seen = {}

    def script() -> None:
        import streamlit as st

        from pages.components.visitor import access

        access.show_cost_of_this_run(st.session_state["price"])
        st.session_state["told"] = access.this_run(st.session_state["balance"])

    other = AppTest.from_function(script)
    other.session_state["price"], other.session_state["balance"] = first, now
    checked(other.run())
    seen = other.session_state["told"]
    assert seen.balance == now != first.balance
    assert (seen.share, seen.left_after) == (first.share, first.left_after - now.spent)


def test_a_limited_analyst_is_told_what_will_be_left_of_the_nearer_budget() -> None:
    dataset_id = add_ward(budget="2")
    service = access.service()
    service.grant(dataset_id, service.user.name, Decimal(4), "a pilot")
    fit(dataset_id, "0.1")
    price = quote(dataset_id, "0.1")
    fit(dataset_id, "0.1")
    after = service.balance(dataset_id)
    assert after.left == price.left_after < 1 - after.spent
    assert after.spent == price.balance.spent + price.share


# A run without a delta


def test_the_largest_run_that_would_fit_is_told_of_its_own_kind() -> None:
    dataset_id = add_ward(budget="4")
    fit(dataset_id, "3.5")
    for pure in (False, True):
        largest = access.service().balance(dataset_id).largest(pure=pure)
        refusal = quote(dataset_id, "3.9", pure=pure).refusal
        assert f"A run of up to ε = {plain_epsilon(largest)} would fit." in refusal
        assert quote(dataset_id, str(largest), pure=pure).affordable


def test_a_run_may_be_kept_free_of_a_delta_where_there_is_a_choice() -> None:
    dataset_id = add_ward(budget="5")
    app = open_page("rule_list")
    app.text_input(key="epsilon").set_value("0.1").run()
    _box(app).check().run()
    app.switch_page("releases.py").run()
    app.switch_page("rule_list.py").run()
    assert _box(app).value
    assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))
    assert review_of(press(app, "Review and spend"))["Promises"] == "ε = 0.10"
    app.button(key="spend").click().run()
    [release] = access.service().releases(dataset_id)
    assert (release.certificate.delta, release.certificate.epsilon) == (0, Decimal("0.1"))


def _box(app: AppTest):
    return next(box for box in app.checkbox if box.label == "Pure: no δ")


# The custodian's delta


def test_the_custodian_changes_the_delta_of_a_budget() -> None:
    dataset_id = add_ward(budget="5")
    app = _change(dataset_id, "1e-6", "fewer digits")
    assert facts_of(app)["Total budget"] == "ε 5.00 at δ = 10⁻⁶"
    assert access.service().total_balance(dataset_id).delta == Decimal("0.000001")
    for entry, sentence in (
        ("much", "Delta must be a number"),
        ("1", "Delta must be at least 0 and below 1"),
        ("0.1", "too large"),
        ("1e-16", "at most 15 decimal places"),
    ):
        app = _change(dataset_id, entry)
        assert sentence in app.error[-1].value
        assert app.text_input(key=f"caps-{dataset_id}-delta").value == entry, "nothing typed is lost"
    submit(dataset_id, "ebm", "0.1", "died")
    assert "Runs with a delta were made" in _change(dataset_id, "0").error[-1].value
    assert access.service().total_balance(dataset_id).delta == Decimal("0.000001")


def _change(dataset_id: str, delta: str, reason: str = "") -> AppTest:
    app = open_page("custodian")
    app.segmented_control(key="custodian-view").set_value("Budget").run()
    app.text_input(key=f"caps-{dataset_id}-delta").set_value(delta)
    app.text_input(key=f"caps-{dataset_id}-note").set_value(reason)
    return press(app, "Change the budget")
