"""Meter, review, custodian, audit log, report and command line say the same after every run."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from dpcore.commands import app as command_line
from dpcore.numerals import small
from dpcore.privacy.budgets import at_delta, exact_amount, format_epsilon, plain_epsilon
from dpcore.report.spending import adds_reason
from dpcore.report.totals import cost_together, exact_epsilon
from dpcore.workspace.ledger.accounts import Balance
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward, fit, quote, submit
from tests.support.texts import lacking

#: Page and epsilon of each run; small ones, a large one, and a pure one that may be composed.
RUNS = (("tree", "0.1"), ("shape_functions", "0.2"), ("rule_list", "0.05"), ("tree", "1.234567891"))
PURE = "Keep this run free of δ"


@pytest.mark.parametrize("delta", ["0.000001", "0"])
def test_everything_says_the_same_after_every_run(delta: str) -> None:
    dataset_id = add_ward(budget="5", delta=delta)
    at = at_delta(Decimal(delta))
    for page, epsilon in RUNS:
        if page == "shape_functions" and delta == "0":
            continue
        app = open_page(page)
        app.text_input(key="epsilon").set_value(epsilon).run()
        before, price = access.service().balance(dataset_id), access.service().quote(access_request(app))
        meter = meter_of(app)
        used, added = before.spent + before.reserved, amount(meter["This run adds"])
        assert added == Decimal(format_epsilon(used + price.adds)) - Decimal(format_epsilon(used))
        assert amount(meter["Left after it"]) == Decimal(format_epsilon(price.left_after, up=False))
        reason = adds_reason(price)
        assert reason in meter_text(app)
        assert bool(reason) == (format_epsilon(price.adds) != format_epsilon(price.cost))
        assert f"This run and {price.runs_like_this_left:,} more like it fit." in meter_text(app)
        reviewed = review_of(press(app, "Review and spend"))
        assert reviewed["Asked for"] == f"ε {format_epsilon(Decimal(epsilon))}"
        assert amount(reviewed["Adds to what is spent"].partition(". ")[0].removesuffix(at)) == added
        assert reviewed["Adds to what is spent"].endswith(reason or at)
        assert reviewed["Budget before"] == spent_and_left(before) + at
        assert reviewed["How many fit"] in meter_text(app)
        app.button(key="spend").click().run()
        after = access.service().balance(dataset_id)
        assert after.spent == before.spent + price.adds, "what was told is what is spent"
        assert reviewed["Budget after"] == spent_and_left(after) + at
        assert_same_everywhere(dataset_id, after)


def access_request(app: AppTest):
    """The run that is being set up."""
    return app.session_state[access.THIS_RUN_KEY].request


def meter_text(app: AppTest) -> str:
    return next(item.value for item in app.sidebar.get("html") if "fg-meter" in item.value)


def meter_of(app: AppTest) -> dict[str, str]:
    """Parts of the meter, by the words before a comma."""
    found = re.findall(r"<span>([^<]+)</span><b>([^<]+)</b>", meter_text(app))
    return {label.partition(",")[0]: amount for label, amount in found}


def amount(shown: str) -> Decimal:
    """The number behind an ε; lists may write it with more zeros."""
    return Decimal(shown.removeprefix("ε "))


def review_of(app: AppTest) -> dict[str, str]:
    table = words(app).partition("What you are about to do")[2].partition("</table>")[0]
    return dict(re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+)</td>', table))


def facts_of(app: AppTest) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", words(app)))


def spent_and_left(balance: Balance) -> str:
    return f"ε {format_epsilon(balance.spent)} spent, ε {format_epsilon(balance.left, up=False)} left"


def assert_same_everywhere(dataset_id: str, balance: Balance) -> None:
    spent, left = format_epsilon(balance.spent), format_epsilon(balance.left, up=False)
    added = None if balance.total.epsilon == balance.spent else format_epsilon(balance.total.epsilon)
    app = open_page("custodian")
    meter = meter_of(app)
    assert (amount(meter["Spent so far"]), amount(meter["Left"])) == (Decimal(spent), Decimal(left))
    assert (f"would add up to {added}." in meter_text(app)) == (added is not None)
    facts = facts_of(checked(app.segmented_control(key="custodian-view").set_value("Budget").run()))
    assert facts["Total budget"] == f"ε 5.00{at_delta(balance.delta)}"
    assert (facts["Spent by all analysts"], facts["Left"]) == (f"ε {spent}", f"ε {left}")
    captions = [caption.value for caption in app.main.caption]
    assert any(f"would add up to {added}." in caption for caption in captions) == (added is not None)
    assert_audit_log()
    assert_report(dataset_id, balance)
    told = CliRunner().invoke(command_line, ["ledger", "show", "ward"], catch_exceptions=False).stdout
    assert not lacking(told, f"budget 5.00{at_delta(balance.delta)}, spent {spent}, ", f", left {left}")
    assert (f"without composition {added}," in told) == (added is not None)


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
    assert (of_chosen.epsilon, of_chosen.delta) == (exact_epsilon(epsilon), small(delta))
    assert epsilon <= min(newest.certificate.epsilon, balance.spent)
    assert (of_all.epsilon, of_all.delta) == (exact_epsilon(balance.spent), small(balance.delta))
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
    assert seen.adds == access.service().quote(first.request).adds != first.adds


def test_a_limited_analyst_is_told_what_will_be_left_of_the_nearer_budget() -> None:
    dataset_id = add_ward(budget="2")
    service = access.service()
    service.grant(dataset_id, service.user.name, Decimal(4), "a pilot")
    fit(dataset_id, "0.1")
    price = quote(dataset_id, "0.1")
    fit(dataset_id, "0.1")
    after = service.balance(dataset_id)
    assert after.left == price.left_after < after.cap - after.spent
    assert after.spent == price.balance.spent + price.adds


# A run without a delta


def test_what_a_run_without_a_delta_could_still_spend_is_told() -> None:
    dataset_id = add_ward(budget="4")
    fit(dataset_id, "3")
    refused = quote(dataset_id)
    assert not refused.affordable
    assert "A run without a delta of up to ε = 1.00 would fit." in refused.refusal
    assert quote(dataset_id, pure=True).affordable


def test_a_run_may_be_kept_free_of_a_delta_where_there_is_a_choice() -> None:
    dataset_id = add_ward(budget="5")
    app = open_page("rule_list")
    app.text_input(key="epsilon").set_value("0.1").run()
    assert "Made to be one of many" in words(app)
    _box(app).check().run()
    assert "Made to be one of many" not in words(checked(app))
    app.switch_page("releases.py").run()
    app.switch_page("rule_list.py").run()
    assert _box(app).value
    assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))
    button(app, "Review and spend").click().run()
    assert "What δ means" not in words(app)
    app.button(key="spend").click().run()
    [release] = access.service().releases(dataset_id)
    assert (release.certificate.delta, release.certificate.epsilon) == (0, Decimal("0.1"))


def _box(app: AppTest):
    return next(box for box in app.checkbox if box.label == PURE)


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
