"""What a custodian brings and types stays, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.app_server import Server, invented, serve
from tests.support.browsers.browser_steps import go
from tests.support.browsers.identity_provider import WAIT
from tests.support.files.hostile_files import endless_parquet

LONG = "{name: long, max_rows: 1000, privacy_unit: {column: who}, columns: [{name: a, type: boolean}]}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "home", FROSTGLASS_WORKERS="0") as running:
        yield running


def bring(page: Page, server: Server, file: Path) -> None:
    page.goto(f"{server.url}/custodian")
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text("Describe it")).to_be_visible()


def _wait_for_note(server: Server, text: str) -> None:
    """What is typed is noted as soon as its field is left."""
    for _ in range(WAIT // 100):
        if any(text in path.read_text() for path in server.home.glob("uploads/*/notes.json")):
            return
        time.sleep(0.1)
    pytest.fail(f"{text} was not noted")


def test_another_page_and_a_reload_lose_nothing(page: Page, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "ward.csv"
    invented(200).to_csv(file, index=False)
    bring(page, server, file)
    name = page.get_by_label("Name of the data set")
    limit = page.get_by_role("spinbutton", name="Row limit")
    name.fill("Ward")
    limit.fill("7000")
    limit.press("Tab")
    _wait_for_note(server, "7000")
    go(page, "Learn")
    go(page, "Custodian")
    expect(page.get_by_text("ward.csv")).to_be_visible()
    expect(name).to_have_value("Ward")
    expect(limit).to_have_value("7000")
    page.reload()
    expect(page.get_by_text("ward.csv")).to_be_visible()
    expect(name).to_have_value("Ward")
    expect(limit).to_have_value("7000")
    assert len(list((server.home / "uploads").rglob("*.csv"))) == 1
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Describe it")).to_have_count(0)
    assert not list((server.home / "uploads").iterdir())
    assert not list((server.home / "spool").iterdir())


@pytest.mark.slow
def test_a_long_reading_goes_on_without_its_page_and_can_be_cancelled(
    page: Page, server: Server, tmp_path: Path
) -> None:
    bring(page, server, endless_parquet(tmp_path / "long.parquet", 60_000_000))
    page.get_by_text("Write or bring a schema").click()
    page.get_by_label("Schema (YAML or JSON)").fill(LONG)
    page.get_by_role("button", name="Check and store").click()
    expect(page.get_by_text("rows of 'person' so far")).to_be_visible()
    page.reload()
    expect(page.get_by_text("rows of 'person' so far")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Schema (YAML or JSON)")).to_have_value(LONG)
    assert not list((server.home / "incoming").iterdir())
