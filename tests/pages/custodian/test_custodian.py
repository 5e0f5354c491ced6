"""The custodian's views of budgets, analysts, requests and the audit log; asking for more."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from html import escape

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from dpcore.domain.schemas.origins import INFERRED
from dpcore.errors import AwayError
from dpcore.privacy.budgets import format_epsilon, percent, plain_epsilon
from dpcore.privacy.losses import run_loss
from dpcore.service import Service
from dpcore.workspace.database.transactions import write
from dpcore.workspace.ledger.ledger_lines import append, caps_of
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.people.users import LOCAL_USER, User
from pages.components.custodian import audit_log
from pages.components.run import meter
from pages.components.visitor import access, menu
from tests.support.pages.page_tools import bring, button, by_text, checked, errors, open_page, press, view
from tests.support.pages.page_tools import plain_words as words
from tests.support.pages.page_tools import words as page_words
from tests.support.pages.page_visitors import ANN, BOB, OFFICE, as_, person
from tests.support.pages.ward_runs import SCHEMA, add_ward, balance, fit, quote
from tests.support.pages.ward_runs import ward as people
from tests.support.texts import lacking

#: Markup of every kind that a name or a reason could try to smuggle in.
HOSTILE = "<b>x</b> **y** [z](http://w) $q$ `c` :red[r]"
ONE, HALF = Decimal(1), Decimal("0.5")


Visit = Callable[[User], None]


def new_ward(name: str = "ward", budget: str = "3", each: str | None = None) -> str:
    schema = SCHEMA.model_copy(update={"name": name})
    cap = None if each is None else Decimal(each)
    found = as_(LOCAL_USER).add_dataset(people(), schema, budget=Decimal(budget), analyst_cap=cap)
    return str(found.id)


def notices(app: AppTest) -> str:
    return "\n".join(item.value for item in app.get("html") if "fg-banner" in item.value)


def cells(app: AppTest, who_: str) -> list[str]:
    """The row of the table of analysts."""
    row = next(
        row
        for item in app.get("html")
        for row in re.findall("<tr.*?</tr>", str(item.value))
        if f'<th scope="row"><span class="fg-said">{escape(who_)}</span></th>' in row
    )
    return [re.sub("</?span[^>]*>", "", cell) for cell in re.findall("<td>(.*?)</td>", row)]


# Budget


def test_budgets_can_be_changed() -> None:
    dataset = add_ward()
    app = view("Budget")
    app.text_input(key=f"caps-{dataset}-budget").set_value("nan")
    assert "finite number" in errors(press(app, "Change the budget"))
    app.text_input(key=f"caps-{dataset}-budget").set_value("4")
    assert not errors(press(app, "Change the budget"))
    assert access.service().balance(dataset).cap == Decimal(4)
    assert "<dd>ε 4.00 at δ = 10⁻⁵</dd>" in words(app)
    app.text_input(key=f"caps-{dataset}-analyst").set_value("1.5")
    assert "<dt>Most per analyst</dt><dd>ε 1.50</dd>" in words(press(app, "Change the budget"))


def test_a_schema_that_was_read_off_the_records_is_for_public_data_only() -> None:
    app = open_page("custodian")
    app.file_uploader[0].upload("a.csv", people(300).to_csv(index=False).encode(), "text/csv")
    app.run()
    by_text(app)
    inferred = SCHEMA.model_copy(update={"origin": INFERRED})
    app.text_area(key="intake-yaml").set_value(inferred.to_yaml())
    told = errors(press(app, "Check and store"))
    assert "Nothing was stored. What you typed is kept." in told
    assert "No result on this data set would be private" in told
    assert access.service().datasets() == []
    app.checkbox(key="intake-public").check()
    assert not errors(press(app, "Check and store"))
    assert [info.schema.origin for info in access.service().datasets()] == [INFERRED]
    assert "No result is private." in words(open_page())


@pytest.mark.parametrize(("visitor", "each"), [(OFFICE, "0"), (None, "")])
def test_a_new_data_set_with_a_login_is_for_those_with_a_grant(visitor: User | None, each: str, visit: Visit) -> None:
    if visitor is not None:
        visit(visitor)
    app = open_page("custodian")
    bring(app, "Data file", "a.csv", people(300).to_csv(index=False).encode())
    app.run()
    by_text(app)
    field = app.text_input(key="intake-analyst")
    assert (field.value, "0: only those with a grant" in field.label) == (each, True)
    field.set_value("-1")
    app.text_area(key="intake-yaml").set_value(SCHEMA.to_yaml())
    assert "Per analyst: A limit must be 0 or more" in errors(press(app, "Check and store"))
    app.text_input(key="intake-analyst").set_value("0")
    assert not errors(press(app, "Check and store"))
    [stored] = as_(ANN).datasets()
    assert (as_(ANN).balance(stored.id).left, as_(ANN).total_balance(stored.id).left) == (0, 1)


# Analysts


def test_without_analysts_the_view_says_so_and_lets_one_be_added() -> None:
    dataset = new_ward(each="0")
    app = view("Analysts")
    assert not lacking(words(app), "No analyst yet", "<dd>nothing without a grant</dd>")
    assert not [item for item in app.button if item.label.startswith("Stop")]
    app.text_input(key=f"grant-new-{dataset}").set_value(" Ann@X.org ")
    app.text_input(key=f"grant-limit-{dataset}").set_value("2").run()
    assert "100 % of it could be spent. Nothing is spent yet." in notices(app).replace("</strong>", "")
    app.text_input(key=f"grant-reason-{dataset}").set_value("pilot")
    assert "The budget is set." in words(press(app, "Give this budget"))
    assert cells(app, ANN.name) == ["granted ε 2.00", "0 %", "0 %", "100 %", "0", "may spend"]
    assert app.text_input(key=f"grant-limit-{dataset}").value == ""
    line = as_(OFFICE).ledger_entries(dataset)[-1]
    assert (line.note, line.analyst_cap) == ("pilot", Decimal(2))
    assert "is set." not in words(checked(app.run()))


def test_the_table_shows_what_each_analyst_has_spent_alone(visit: Visit) -> None:
    dataset = new_ward()
    fit(dataset)  # The local user.
    as_(OFFICE).raise_caps(dataset, analyst_cap=ONE)
    as_(OFFICE).grant(dataset, ANN.name, Decimal("0.12345"), "a pilot")
    as_(OFFICE).freeze(dataset, BOB.name, HOSTILE)
    app = view("Analysts")
    [own] = [one.balance for one in as_(OFFICE).accounts(dataset) if one.analyst == "local"]
    spent, left = percent(own.spent), percent(1 - own.spent, up=False)
    assert cells(app, "local") == ["as all: ε 1.00", spent, "0 %", left, "1", "may spend"]
    assert cells(app, ANN.name)[0] == "granted ε 0.1234"  # Limits are rounded down.
    assert cells(app, BOB.name)[3:] == ["0 %", "0", f"frozen: {escape(HOSTILE)}"]
    assert "<b>x</b>" not in page_words(app)


def test_what_a_grant_would_mean_is_said_before_it_is_given() -> None:
    dataset = add_ward(budget="2", delta="0")
    fit(dataset)
    app = view("Analysts")
    for limit, told in (
        ("1.25", "60 % of it could be spent. The rest is spent or reserved already."),
        ("2", "75 % of it could be spent. The rest is spent or reserved already."),
        ("4", "stops it first. The data set has only 75 % of its budget left for everybody."),
        ("0.5", "Nothing more could be spent. As much is spent or reserved already."),
    ):
        checked(app.text_input(key=f"grant-limit-{dataset}").set_value(limit).run())
        assert told in notices(app).replace("</strong>", "")
    assert [line.kind for line in access.service().ledger_entries()][-1] == "commit"


def test_a_grant_that_cannot_be_is_a_sentence() -> None:
    dataset = add_ward()
    app = view("Analysts")
    for analyst, limit, sentence in (
        ("ann", "much", "must be a number"),
        ("ann", "-1", "0 or more"),
        ("ann", "", "a number"),
        ("", "1", "1 to 128 characters"),
        ("a\u202eb", "1", "1 to 128 characters"),
    ):
        app.text_input(key=f"grant-new-{dataset}").set_value(analyst)
        app.text_input(key=f"grant-limit-{dataset}").set_value(limit)
        app.text_input(key=f"grant-reason-{dataset}").set_value("a pilot")
        assert sentence in errors(press(app, "Give this budget")), (analyst, limit)
    assert access.service().accounts(dataset) == []


def test_stopping_an_analyst_needs_a_reason_and_can_be_undone() -> None:
    dataset = new_ward()
    as_(OFFICE).grant(dataset, ANN.name, ONE, "a pilot")
    app = view("Analysts")
    assert "Give a reason" in errors(press(app, "Freeze this analyst"))
    app.text_input(key=f"stop-reason-{dataset}").set_value("contract ended")
    assert "The analyst is frozen." in words(press(app, "Freeze this analyst"))
    assert cells(app, ANN.name)[-1] == "frozen: contract ended"
    assert as_(ANN).balance(dataset).frozen == "contract ended"
    assert app.text_input(key=f"stop-reason-{dataset}").value == ""
    app.text_input(key=f"stop-reason-{dataset}").set_value("new contract")
    assert "The analyst is not frozen any more." in words(press(app, "Unfreeze this analyst"))
    assert as_(ANN).balance(dataset).frozen is None


# Requests


def _tabs(app: AppTest) -> list[str]:
    return list(app.segmented_control(key="custodian-view").options)


def asked(dataset: str, visitor: User = ANN, reason: str = "one more tree") -> int:
    return as_(visitor).ask(dataset, HALF, reason).number


def test_requests_of_all_data_sets_wait_in_order_and_are_counted() -> None:
    first, second = new_ward("first", each="0.25"), new_ward("second")
    numbers = asked(second), asked(first, BOB, HOSTILE)
    app = view("Requests")
    assert "Requests (2)" in _tabs(app)
    headings = re.findall("<h2>(.* asks .*)</h2>", page_words(app))
    assert headings == ["ann@x.org asks for ε 0.50 more", "bob@x.org asks for ε 0.50 more"]
    text = words(app)
    for part in (
        ">On second, 20",
        "<dt>Limit now</dt><dd>no limit of their own</dd>",
        "<dt>Limit now</dt><dd>as all: ε 0.25</dd>",
        "<dt>Spent</dt><dd>0 %</dd>",
        "<dt>Left of the data set</dt><dd>100 %</dd>",
    ):
        assert part in text, part
    assert [item.value for item in app.text] == ["one more tree", HOSTILE]
    assert [app.text_input(key=f"answer-limit-{n}").value for n in numbers] == ["0.50", "0.75"]


def test_the_limit_proposed_gives_what_was_asked_for_beyond_what_is_spent() -> None:
    dataset = new_ward()
    fit(dataset)
    access.service().grant(dataset, "local", Decimal("0.25"), "a pilot")
    number = asked(dataset, LOCAL_USER)
    proposed = access.service().balance(dataset).epsilon + HALF
    assert view("Requests").text_input(key=f"answer-limit-{number}").value == plain_epsilon(proposed)
    access.service().answer(number, proposed)
    assert access.service().balance(dataset).largest() >= HALF


def test_a_request_is_granted_and_the_view_stays() -> None:
    dataset = new_ward(each="0.25")
    number = asked(dataset)
    app = view("Requests")
    app.text_input(key=f"answer-limit-{number}").set_value("1.123456789")
    app.text_input(key=f"answer-reason-{number}").set_value(HOSTILE)
    text = page_words(press(app, key=f"Grant-{number}"))
    assert not lacking(text, "The request is granted.", "No open request", escape(HOSTILE))
    assert "<b>x</b>" not in text
    assert "granted: ε 1.1234 in all" in words(app)
    assert app.segmented_control(key="custodian-view").value == "Requests"
    assert "Requests" in _tabs(app)
    assert (as_(ANN).balance(dataset).cap, as_(ANN).balance(dataset).left) == (Decimal("1.123456789"), 1)


def test_declining_needs_a_reason_and_a_wrong_limit_is_a_sentence() -> None:
    dataset = new_ward(each="0")
    number = asked(dataset)
    app = view("Requests")
    assert "Give a reason" in errors(press(app, key=f"Decline-{number}"))
    app.text_input(key=f"answer-limit-{number}").set_value("much")
    assert "must be a number" in errors(press(app, key=f"Grant-{number}"))
    app.text_input(key=f"answer-reason-{number}").set_value("Not this year.")
    assert "is declined." in words(press(app, key=f"Decline-{number}"))
    assert "Not this year." in words(app)
    [request] = as_(ANN).budget_requests()
    assert (request.state, as_(ANN).balance(dataset).left) == ("declined", 0)


def test_a_card_can_be_answered_where_nothing_bounds_what_was_spent() -> None:
    """As an earlier version left it, which let the δ of a total be lowered to what is set aside."""
    dataset, ledger = new_ward(each="1"), as_(LOCAL_USER)._ledger
    number = asked(dataset)
    ledger.reserve(dataset, ANN.name, run_loss(Decimal("0.25"), Decimal("5e-8"), Decimal("0.0012")), "n", "hash")
    write(ledger._engine, lambda c: append(c, "caps", dataset, **caps_of(c, dataset) | {"delta_cap": Decimal(0)}))
    app = view("Requests")
    assert "until you raise that δ" in notices(app)
    assert "raise the total by" not in notices(app)
    assert app.text_input(key=f"answer-limit-{number}").value == "1.50"
    assert "The request is granted." in words(press(app, key=f"Grant-{number}"))


def _granted_with_the_total(number: int) -> AppTest:
    """The view of requests, once one was granted up to 1 in all with a press that raises the total, too."""
    app = view("Requests")
    app.checkbox(key=f"answer-raise-{number}").set_value(True)
    app.text_input(key=f"answer-limit-{number}").set_value("1")
    return press(app, key=f"Grant-{number}")


def test_a_grant_can_raise_the_total_that_would_stop_it() -> None:
    dataset = new_ward(budget="0.25", each="0")
    number = asked(dataset)
    assert "raise the total by" in notices(view("Requests"))
    assert "The request is granted." in words(_granted_with_the_total(number))
    assert as_(LOCAL_USER).total_balance(dataset).cap == as_(ANN).balance(dataset).cap == ONE
    assert as_(ANN).balance(dataset).left == 1


def test_a_total_that_was_lowered_below_what_is_spent_is_raised_far_enough() -> None:
    dataset = new_ward(budget="5", each="0")
    as_(OFFICE).charge(dataset, Decimal(5), note="a study before this ledger")
    as_(OFFICE).raise_caps(dataset, budget=Decimal(2))
    number = asked(dataset)
    assert "raise the total by ε" in notices(view("Requests"))
    assert "The request is granted." in words(_granted_with_the_total(number))
    assert as_(ANN).balance(dataset).largest() == ONE


def test_a_grant_is_told_even_if_the_total_could_not_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def held_up(*_: object, **__: object) -> None:
        raise AwayError("The data base is away.")

    dataset = new_ward(budget="0.25", each="0")
    number = asked(dataset)
    monkeypatch.setattr(Service, "raise_caps", held_up)
    told = errors(_granted_with_the_total(number))
    assert "The request is granted, but the total was not raised: The data base is away." in told
    assert access.service().budget_requests(dataset)[0].state == "granted"


def test_waiting_requests_are_counted_in_the_menu(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = new_ward(each="0")
    visit(OFFICE)
    assert menu.waiting() == 0
    asked(dataset)
    assert menu.waiting() == 1
    shown: list[str] = []
    monkeypatch.setattr(menu.st, "page_link", lambda *_, label, **__: shown.append(label))
    open_page()
    assert "Custodian (1)" in shown
    visit(ANN)
    assert menu.waiting() == 0


# Audit log


def lines(app: AppTest) -> list[str]:
    return list(app.dataframe[-1].value["What happened"])


def test_the_audit_log_shows_every_line_newest_first_or_oldest() -> None:
    dataset = add_ward()
    fit(dataset)
    as_(OFFICE).answer(asked(dataset), None, HOSTILE)
    told = [
        "budget opened",
        "reserved for a run",
        "run began to read records",
        "result released",
        "more budget asked for",
        "request declined (no. 5)",
    ]
    app = view("Audit log")
    assert lines(app) == told[::-1]
    assert "6 lines." in words(app)
    assert app.dataframe[-1].value["Note"].iloc[0] == HOSTILE
    assert list(app.dataframe[-1].value["Done by"])[:2] == [OFFICE.name, ANN.name]
    assert lines(checked(app.toggle(key="audit-newest").set_value(False).run())) == told


def test_a_long_audit_log_is_sent_a_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "LINES", 2)
    dataset = add_ward()
    for number in range(4):
        as_(OFFICE).grant(dataset, ANN.name, ONE, f"grant {number}")
    app = view("Audit log")
    notes = [list(app.dataframe[-1].value["Note"])]
    for page in (2, 3):
        checked(app.pagination(key="audit-page").set_value(page).run())
        notes.append(list(app.dataframe[-1].value["Note"]))
    assert [len(part) for part in notes] == [2, 2, 1]
    assert [note for part in notes for note in part][:4] == [f"grant {number}" for number in (3, 2, 1, 0)]
    assert "5 lines." in words(app)
    assert "lines 5 to 5" in app.dataframe[-1].proto.alt
    app.text_input(key="audit-words").set_value("grant 0").run()
    assert list(checked(app).dataframe[-1].value["Note"]) == ["grant 0"]
    assert not app.pagination


# Asking for more


def over_budget(dataset: str) -> AppTest:
    app = open_page("rule_list")
    assert app.sidebar.selectbox[0].value == dataset
    return app.text_input(key="epsilon").set_value("0.5").run()


def titles(app: AppTest) -> list[str]:
    """Of the boxes that say why something cannot be done."""
    return [item.proto.title for item in app.error]


def amount_asked(app: AppTest) -> TextInput:
    return next(entry for entry in app.text_input if entry.label == "How much more, ε")


def shortage(app: AppTest) -> str:
    """What the budget lacks for the run that is set up."""
    return plain_epsilon(app.session_state[access.THIS_RUN_KEY].short_by)


def test_another_proposal_takes_the_place_of_the_last_but_not_of_what_was_typed(visit: Visit) -> None:
    dataset = new_ward(each="0.25")
    visit(ANN)
    app = over_budget(dataset)
    assert amount_asked(app).value == shortage(app)
    app.text_input(key="epsilon").set_value("0.75").run()
    assert amount_asked(app).value == shortage(app) > "0.5"
    amount_asked(app).set_value("3")
    button(app, "Ask the custodian").click().run()  # Without a reason: it is not sent.
    app.text_input(key="epsilon").set_value("1").run()
    assert amount_asked(app).value == "3"
    assert [entry.label for entry in app.text_input].count("How much more, ε") == 1


def test_an_analyst_short_of_budget_asks_and_reads_the_answer(visit: Visit) -> None:
    dataset = new_ward(each="0.123456789")
    visit(ANN)
    app = over_budget(dataset)
    assert "Not enough budget" in errors(app)
    assert titles(app) == ["Over budget"]
    short = shortage(app)
    assert amount_asked(app).value == short
    assert "Give a reason" in errors(press(app, "Ask the custodian"))
    app.text_input(key=f"ask-reason-{dataset}").set_value("one more tree")
    text = words(press(app, "Ask the custodian"))
    assert not lacking(
        text,
        "Your request is on its way",
        f"You asked for ε {format_epsilon(Decimal(short), up=False)} more on",
        "has not answered yet",
    )
    assert not [item for item in app.button if item.label == "Ask the custodian"]
    [request] = as_(ANN).budget_requests(dataset)
    assert (request.epsilon, request.reason) == (Decimal(short), "one more tree")
    as_(OFFICE).answer(request.number, None, HOSTILE)
    text = words(checked(app.run()))
    assert "was declined. The custodian wrote: " + HOSTILE in text
    assert button(app, "Ask the custodian")
    as_(OFFICE).grant(dataset, ANN.name, ONE, "a pilot")
    app = over_budget(dataset)
    assert not errors(app)
    assert not [item for item in app.button if item.label == "Ask the custodian"]


def test_the_answers_to_others_are_not_shown(visit: Visit) -> None:
    dataset = new_ward(each="0")
    asked(dataset, BOB)
    visit(person("ann", "analyst", "custodian"))
    app = over_budget(dataset)
    assert "You asked for" not in words(app)
    assert button(app, "Ask the custodian")


def test_a_request_on_one_data_set_is_shown_on_all_about_the_same_people(visit: Visit) -> None:
    first = new_ward(each="0")
    later = SCHEMA.model_copy(update={"name": "later"})
    second = as_(LOCAL_USER).add_dataset(people(), later, same_people_as=first).id
    number = asked(first)
    asked(first, BOB)
    visit(ANN)
    app = open_page("rule_list")
    app.sidebar.selectbox[0].set_value(second).run()
    assert "has not answered yet" in words(checked(app))
    assert not [item for item in app.button if item.label == "Ask the custodian"]
    as_(OFFICE).answer(number, None, "not this year")
    assert "The custodian wrote: not this year" in words(checked(app.run()))
    assert button(app, "Ask the custodian")
    assert [one.number for one in as_(ANN).own_requests(second)] == [number]


def test_a_stopped_analyst_reads_why_and_is_not_sent_to_ask(visit: Visit) -> None:
    dataset = new_ward()
    as_(OFFICE).freeze(dataset, ANN.name, HOSTILE)
    visit(ANN)
    app = over_budget(dataset)
    [error] = app.error
    assert "frozen by the custodian" in error.value
    assert titles(app) == ["Budget frozen"]
    assert "write to the custodian" in words(app)
    assert not [item for item in app.button if item.label == "Ask the custodian"]
    assert f"Frozen by the custodian: {escape(HOSTILE)}</p>" in app.sidebar.get("html")[-1].value
    assert button(app, "Review and spend").disabled


@pytest.mark.parametrize("each", ["3", "0"])
def test_a_retired_data_set_is_not_said_to_lack_budget(each: str, visit: Visit) -> None:
    dataset = new_ward(each=each)
    as_(OFFICE).retire_dataset(dataset, note="the study has ended")
    as_(OFFICE).raise_caps(dataset, run_cap=Decimal("0.25"))
    if each == "3":
        as_(OFFICE).freeze(dataset, ANN.name, "a break")
    visit(ANN)
    app = over_budget(dataset)
    assert "This data set is retired" in errors(app)
    assert titles(app) == ["No run is possible now"]
    assert not [item for item in app.button if item.label == "Ask the custodian"]
    assert "does not fit" not in app.sidebar.get("html")[-1].value


def test_an_analyst_has_no_page_custodian(visit: Visit) -> None:
    new_ward()
    visit(ANN)
    with pytest.raises(Exception, match="custodian"):
        open_page("custodian")


# The meter


def test_a_meter_shows_spending_that_nothing_bounds() -> None:
    """As after a copy of before the δ of an account was raised, and what was spent since has been entered."""
    dataset = add_ward()
    office = as_(LOCAL_USER)
    office.raise_caps(dataset, delta=Decimal(0))
    office.charge(dataset, Decimal("0.25"), Decimal("5e-8"), Decimal("0.0012"), note="since the copy")
    told = meter.meter_html(*[office.balance(dataset)] * 2, quote(dataset))
    assert not lacking(told, "Spent ∞ %; This run ∞ %; Left 0 %", 'class="fg-spent" style="width:100.000%"')
    assert "This run does not fit." in told
    assert "fg-left" not in told.partition('class="fg-bar"')[2].partition("</div>")[0]


def test_who_was_never_given_a_budget_is_not_over_it(visit: Visit) -> None:
    dataset = new_ward(each="0")
    visit(ANN)
    price = access.service().quote(RunRequest(dataset_id=dataset, target="died", epsilon=HALF))
    told = meter.meter_html(as_(ANN).balance(dataset), as_(ANN).total_balance(dataset), price)
    assert "No budget yet: ask" in told
    assert "This run" not in told
    assert "fg-over" not in told
    app = open_page("rule_list")
    assert "The custodian has not given you any budget" in page_words(app)
    assert not errors(app)
    assert button(app, "Ask the custodian")


def test_a_frozen_meter_keeps_its_numbers_and_escapes_the_reason() -> None:
    whole = balance("3", "1", "2")
    frozen = balance("3", "1", "0", frozen=HOSTILE)
    told = meter.meter_html(frozen, whole, replace(quote(add_ward()), balance=frozen))
    assert not lacking(told, f"Frozen by the custodian: {escape(HOSTILE)}", "Spent</span><b>33.3334 %")
    assert "<h2>Privacy budget</h2>" in told
    assert "does not fit" not in told
