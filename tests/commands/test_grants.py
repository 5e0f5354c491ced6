"""Commands for grants, requests and the audit log, as a custodian at a terminal meets them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.service import Service
from dpcore.workspace.people.users import User
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.command_line import HOME, refuse, run
from tests.support.workspaces.fake_learner import register, small_frame, small_schema

register()
ANN = User("ann@x.org", frozenset({"analyst"}))
OFFICE = User("office@x.org", frozenset({"custodian"}))
HOSTILE = "please \x1b[2J\u202e =1+1\nnew line"


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Two data sets, 'small' where nobody spends without a grant, and 'other'; one request."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    with Service(tmp_path / "home", workers=0) as service:
        office = service.acting(OFFICE)
        for name, each in (("small", Decimal(0)), ("other", None)):
            office.add_dataset(small_frame(), small_schema(name), budget=Decimal(3), analyst_cap=each)
        service.acting(ANN).ask("small", Decimal("0.5"), HOSTILE)
        yield service


def number(service: Service) -> int:
    return service.budget_requests()[0].number


def fields(text: str, start: str) -> list[str]:
    """Cells of the line of a printed table that begins so."""
    [line] = [line for line in text.splitlines() if line.startswith(start)]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_granting_extending_and_lowering(house: Service) -> None:
    assert fields(run("ledger", "accounts", "small"), "ann") == [
        "ann@x.org",
        "as all: 0.00",
        "0 %",
        "0 %",
        "0 %",
        "0",
        "-",
    ]
    for limit, left in (("2", "100 %"), ("2.5", "100 %"), ("0", "0 %")):
        told = run("ledger", "grant", "small", "Ann@X.org", "--limit", limit, "--note", "pilot")
        assert fields(told, "ann")[1:5] == [f"granted {Decimal(limit):.2f}", "0 %", "0 %", left]
    assert run("ledger", "accounts", "other").startswith("No analyst")


def test_stopping_and_letting_go_on(house: Service) -> None:
    assert "frozen" in run("ledger", "freeze", "other", ANN.name, "--note", "contract ended")
    assert "frozen: contract ended" in run("ledger", "accounts", "other")
    assert "frozen already" in refuse("ledger", "freeze", "other", ANN.name, "--note", "x")
    assert amounts(house.acting(ANN).balance("other")).left == 0
    run("ledger", "thaw", "other", ANN.name, "--note", "new contract")
    assert amounts(house.acting(ANN).balance("other")).left == Decimal(3)
    assert "not frozen" in refuse("ledger", "thaw", "other", ANN.name, "--note", "x")
    assert "Give a reason" in refuse("ledger", "freeze", "other", ANN.name, "--note", " ")


def test_answering_a_request(house: Service) -> None:
    asked = number(house)
    told = fields(run("ledger", "requests"), str(asked))
    assert told[2:7] == ["small", ANN.name, "0.50", "open", "-"]
    assert "--limit or --decline" in refuse("ledger", "answer", asked)
    assert "--limit or --decline" in refuse("ledger", "answer", asked, "--limit", 1, "--decline")
    assert "Give a reason" in refuse("ledger", "answer", asked, "--decline")
    assert run("ledger", "answer", asked, "--limit", "1.25", "--note", "go on").startswith("granted")
    assert fields(run("ledger", "requests"), str(asked))[4:7] == ["0.50", "granted", "1.25"]
    assert "granted already" in refuse("ledger", "answer", asked, "--limit", "1")
    assert "no such request" in refuse("ledger", "answer", 10**6, "--limit", "1")
    assert amounts(house.acting(ANN).balance("small")).left == Decimal("1.25")
    house.acting(ANN).ask("small", Decimal(1), "again")
    last = house.budget_requests()[-1].number
    assert run("ledger", "answer", last, "--decline", "--note", "no").startswith("declined")
    assert fields(run("ledger", "requests"), str(last))[5:7] == ["declined", "-"]
    assert "Nobody has asked" in run("ledger", "requests", "other")


def test_nothing_that_was_typed_reaches_the_terminal_as_a_command(house: Service) -> None:
    for told in (run("ledger", "requests"), run("ledger", "log"), run("ledger", "show", "small")):
        assert not {"\x1b", "\u202e"} & set(told)
        assert r"please \x1b[2J\u202e =1+1 new line" in told


def test_the_log_can_be_filtered(house: Service) -> None:
    run("ledger", "grant", "small", ANN.name, "--limit", "2", "--note", "Pilot study")
    today = f"{datetime.now(UTC):%Y-%m-%d}"

    def kinds(*options: object) -> list[str]:
        lines = run("ledger", "log", "small", *options).splitlines()[1:]
        return [line.split("  ")[2].strip() for line in lines]

    assert kinds() == ["open", "ask", "grant"]
    assert kinds("--kind", "ask", "--kind", "grant") == ["ask", "grant"]
    assert kinds("--analyst", ANN.name) == ["ask", "grant"]
    assert kinds("--actor", OFFICE.name) == ["open"]
    assert kinds("--text", "pilot") == ["grant"]
    assert kinds("--since", today, "--until", "2999-01-01") == ["open", "ask", "grant"]
    assert kinds("--until", "2020-01-01") == kinds("--run", "abc") == []
    assert "no kind of line 'given'" in refuse("ledger", "log", "--kind", "given")
    assert "'1.2.2026' is not a date" in refuse("ledger", "log", "--since", "1.2.2026")
    assert "first day" in refuse("ledger", "log", "--since", "2026-02-02", "--until", "2026-02-01")


def test_the_log_as_a_file(house: Service, tmp_path: Path) -> None:
    run("ledger", "grant", "small", ANN.name, "--limit", "0.123456789", "--note", "=1+1")
    target = tmp_path / "log.csv"
    assert run("ledger", "log", "small", "--kind", "grant", "--csv", target) == ""
    with target.open(newline="", encoding="utf-8") as stream:
        [row] = csv.DictReader(stream)
    assert (row["data set"], row["analyst"], row["done by"]) == ("small", ANN.name, "local")
    assert (row["limit per analyst"], row["note"]) == ("0.123456789", "'=1+1")
    assert datetime.fromisoformat(row["time"]).tzinfo is not None
    assert "exists already" in refuse("ledger", "log", "--csv", target)
