"""A day of one analyst: after each run every page, the report and the command line say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from typer.testing import CliRunner

from dpcore.commands import app
from dpcore.domain.schemas.schema import Schema
from dpcore.numerals import small
from dpcore.privacy.budgets import format_epsilon
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import run_loss, total_loss
from dpcore.report.totals import exact_epsilon
from dpcore.service import Service
from pages.components.kit.markup import unparted
from tests.support.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browser_steps import choose, finished, go, settled, type_epsilon

#: Runs of the day; fewer of them, without a browser, are in tests/pages/test_same_digits.py.
MANY = 40
CAP, DELTA = Decimal(5), Decimal("0.000001")
#: Method and epsilon of each run, again and again.
RUNS = (
    ("Tree", "0.1"),
    ("Shape functions", "0.2"),
    ("Rule list", "0.05"),
    ("Tree", "0.333333333"),
    ("Rule list", "0.1"),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    home = tmp_path / "home"
    with Service(home=home, workers=0) as service:
        service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=CAP, delta=DELTA)
    with serve(home) as running:
        yield running


@pytest.mark.slow
def test_everything_says_the_same_after_every_run(page: Page, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_HOME", str(server.home))
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    spent, left = Decimal(0), CAP
    for number in range(MANY):
        title, epsilon = RUNS[number % len(RUNS)]
        go(page, title)
        expect(page.get_by_text("Noise on a c").first).to_be_visible()
        type_epsilon(page, epsilon)
        settled(page)
        reviewed = review(page)
        assert reviewed["Asked for"] == unparted(f"ε {format_epsilon(Decimal(epsilon))}")
        meter = meter_of(page)
        assert Decimal(amount(meter["This run adds"])) == Decimal(amount(reviewed["Adds to what is spent"]))
        assert (amount(reviewed["Budget before"]), last_amount(reviewed["Budget before"])) == shown(spent, left)
        page.get_by_role("button", name="Run and spend").click()
        finished(page)
        spent, left = by_the_ledger(server)
        after = shown(spent, left)
        assert (amount(reviewed["Budget after"]), last_amount(reviewed["Budget after"])) == after
        expect(part_of_meter(page, "Spent so far")).to_have_text(re.compile(rf"^ε\s{after[0]}0*$"))
        expect(part_of_meter(page, "Left")).to_have_text(re.compile(rf"^ε\s{after[1]}0*$"))
        assert f"spent {after[0]}" in told("ledger", "show", "ward")
        assert f"left {after[1]}" in told("data", "list")
        assert_custodian(page, *after)
        assert_report(page, spent, first=number == 0)
    assert spent < added(MANY) / 2, "composed, so many runs cost far less than their sum"


def added(runs: int) -> Decimal:
    return sum((Decimal(RUNS[number % len(RUNS)][1]) for number in range(runs)), Decimal(0))


def review(page: Page) -> dict[str, str]:
    """Open the review and read its table."""
    page.get_by_role("button", name="Review and spend").click()
    expect(page.get_by_role("button", name="Run and spend")).to_be_enabled()
    rows = page.get_by_role("dialog").get_by_role("row").all()[1:]
    return dict(row.get_by_role("cell").or_(row.get_by_role("rowheader")).all_inner_texts() for row in rows)


def meter_of(page: Page) -> dict[str, str]:
    """Parts of the meter, by the words before a comma."""
    lines = page.locator(".fg-meter .fg-legend li").all()
    return {line.locator("span").inner_text().partition(",")[0]: line.locator("b").inner_text() for line in lines}


def part_of_meter(page: Page, label: str):
    return page.locator(".fg-meter .fg-legend li").filter(has_text=re.compile(f"^{label}")).locator("b")


def by_the_ledger(server: Server) -> tuple[Decimal, Decimal]:
    """What is spent and left, from the lines of the ledger alone."""
    with server.service() as service:
        lines = [line for line in service.ledger_entries("ward") if line.kind == "reserve"]
    cap = PrivacyFilter(CAP, DELTA)
    spent = cap.spent(total_loss(run_loss(line.epsilon, line.delta, line.rho) for line in lines))
    return spent, CAP - spent


def shown(spent: Decimal, left: Decimal) -> tuple[str, str]:
    return format_epsilon(spent), format_epsilon(left, up=False)


def amount(words: str) -> str:
    """The first epsilon of a sentence."""
    return re.findall(r"ε\s([0-9.]*[0-9])", words)[0]


def last_amount(words: str) -> str:
    return re.findall(r"ε\s([0-9.]*[0-9])", words)[-1]


def told(*command: str) -> str:
    done = CliRunner().invoke(app, list(command), catch_exceptions=False, env={"COLUMNS": "400"})
    assert done.exit_code == 0
    return done.output


def assert_custodian(page: Page, spent: str, left: str) -> None:
    go(page, "Custodian")
    page.get_by_test_id("stButtonGroup").get_by_text("Budget", exact=True).first.click()
    facts = page.locator(".fg-facts").first
    expect(facts).to_contain_text(f"ε {spent}")
    expect(facts).to_contain_text(f"ε {left}")


def assert_report(page: Page, spent: Decimal, *, first: bool) -> None:
    go(page, "Report")
    if first:
        choose(page, page.get_by_role("combobox", name="Results"), re.compile("."))
        page.keyboard.press("Escape")
    costs = page.get_by_role("table", name="What it cost in privacy, exactly")
    expect(costs).to_contain_text(exact_epsilon(spent))
    expect(costs).to_contain_text(small(DELTA))
