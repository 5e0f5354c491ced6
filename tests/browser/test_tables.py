"""Several tables in a real browser: what is typed stays while files come, and all is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.app_server import Server, serve
from tests.support.browsers.browser_steps import go
from tests.support.tables.small_trains import BARE_TEXT

#: Lets every drawing of a page take its time to end, after it has looked at what was told so far.
LATE_END = """
import time
from dataclasses import replace
from streamlit.runtime.state.session_state import WStates

swept = WStates.remove_stale_widgets

def late(states, *given):
    seen = replace(states, states=dict(states.states))
    swept(seen, *given)
    time.sleep(0.4)
    states.states = seen.states

WStates.remove_stale_widgets = late
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "sitecustomize.py").write_text(LATE_END)
    with serve(tmp_path / "home", PYTHONPATH=str(tmp_path), FROSTGLASS_WORKERS="0") as running:
        yield running


def test_further_tables_are_described_and_stored(page: Page, server: Server, tmp_path: Path) -> None:
    """Also while one drawing of the page ends late: the end must not undo what was typed since."""
    (tmp_path / "trains.csv").write_text("train_id,direction\n1,west\n2,east\n")
    (tmp_path / "cars.csv").write_text("train_id,length\n1,short\n1,long\n")
    page.goto(f"{server.url}/custodian")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "trains.csv")
    page.get_by_text("More files about the same people").click()
    expect(page.get_by_text("Further tables about the same people")).to_be_visible()
    name = page.get_by_label("Name of the data set")
    name.fill("Half done")
    further = page.get_by_test_id("stFileUploader").filter(has_text="Further tables about the same people")
    further.locator("input[type=file]").set_input_files(tmp_path / "cars.csv")
    page.get_by_role("tab", name="cars").click()
    kept = page.get_by_test_id("stTabs").get_by_test_id("stNumberInputField")
    kept.fill("3")
    table = page.get_by_label("Name of the table in cars.csv")
    table.fill("car")
    table.press("Enter")
    expect(page.get_by_role("tab", name="car", exact=True)).to_be_visible()
    page.get_by_role("button", name="Check and store").click()
    fault = "Table 'car', column 'length': list its categories"
    expect(page.get_by_text(fault)).to_be_visible()
    expect(name).to_have_value("Half done")
    expect(kept).to_have_value("3")
    page.get_by_text("Write or bring a schema").click()
    page.get_by_label("Schema (YAML or JSON)").fill(BARE_TEXT)
    expect(page.get_by_test_id("stTabs")).to_have_count(0)
    expect(page.get_by_role("button", name="Check and store")).to_have_count(1)
    page.get_by_role("button", name="Check and store").click()
    expect(page.get_by_text("Data set stored")).to_be_visible()
    go(page, "Data sets")
    page.get_by_text("and further tables").click()
    expect(page.get_by_text("at most 3 rows for each train")).to_be_visible()
    assert "Traceback" not in page.content() + server.log.read_text()
