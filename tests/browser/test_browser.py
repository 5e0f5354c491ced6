"""The main flows in a real browser, against a server with a folder of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import psutil
import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, expect

from dpcore.domain.schema import Schema
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import run_loss, total_loss
from dpcore.service import Service
from dpcore.workspace.machine import Machine, keep
from pages.components.visitor.access import DATASET_KEY
from tests.support.forked import Process, started
from tests.support.identity_provider import WAIT

ROOT = Path(__file__).resolve().parents[2]
SCHEMA_TEXT = """
version: 1
name: ward
max_rows: 3000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8}
  - {name: sex, type: categorical, categories: [female, male]}
  - {name: diabetes, type: boolean}
  - {name: died, type: boolean, target: true}
"""
#: A run of this many candidate lists lasts long enough to be held up under way, and ends soon on a busy machine too.
LONG_POOL = "150000"


@dataclass
class Server:
    """A running app and everything it said."""

    url: str
    home: Path
    log: Path
    #: Number of its process.
    pid: int
    #: Name of the data set of a test that shares its server with others.
    dataset: str = ""

    def page(self, path: str = "") -> str:
        """Address of a page, with the data set of the test chosen."""
        return f"{self.url}/{path}?{urlencode({DATASET_KEY: self.dataset})}" if self.dataset else f"{self.url}/{path}"

    def service(self) -> Service:
        """A second view of the same folder, for looking at budgets."""
        return Service(home=self.home, workers=0)


def invented(rows: int = 2000) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age = draw.integers(20, 101, rows)
    died = draw.random(rows) < np.where(age > 70, 0.6, 0.1)
    return pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["female", "male"], rows),
            "diabetes": draw.choice(["yes", "no"], rows),
            "died": np.where(died, "yes", "no"),
        }
    )


@contextmanager
def serve(home: Path, **more: str) -> Iterator[Server]:
    """``streamlit run`` with a free port, until the test is over.

    It is forked from a process that has imported what it needs, unless modules of the test's own come with it.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home.parent / "server.log"
    arguments = ["run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "FROSTGLASS_HOME": str(home), "FROSTGLASS_WORKERS": "1", **more}
    environment.pop("FROSTGLASS_DATABASE_URL", None)
    if home.is_dir():
        keep(home, Machine())  # So that its workers need not measure the machine first.
    process = started("streamlit.web.cli", arguments, ROOT, environment, log, anew="PYTHONPATH" in more)
    try:
        server = Server(f"http://localhost:{port}", home, log, process.pid)
        _wait_until_up(server, process)
        yield server
    finally:
        _stop(process)


def _stop(process: Process) -> None:
    """As a service manager does: the server waits for browsers to hang up, but not forever."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    if process.poll() is None:
        process.kill()
        process.wait(30)


def _wait_until_up(server: Server, process: Process) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"{server.url}/health", timeout=5):
                return
        except OSError:  # Refused, cut off, or slow on a machine with much to do.
            assert process.poll() is None, server.log.read_text() if server.log.exists() else "it never began"
            time.sleep(0.25)
    pytest.fail(server.log.read_text())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    home = tmp_path / "home"
    with Service(home=home, workers=0) as service:
        service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(2), public=True)
    with serve(home) as running:
        yield running


def go(page: Page, title: str) -> None:
    """Follow the menu to a page."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def settled(page: Page, pause: int = 800) -> None:
    """What was just done has reached the server, and the page is drawn with it."""
    page.wait_for_timeout(pause)
    drawn = page.get_by_test_id("stApp")
    expect(drawn).to_have_attribute("data-test-script-state", "notRunning")


def choose(page: Page, box: Locator, *options: str | re.Pattern[str], search: str = "") -> None:
    """Choose from a list, once the page is drawn: a list that is open closes when it gets other options meanwhile."""
    expect(box).to_be_visible()
    settled(page)
    for option in options:
        wanted = page.get_by_role("option", name=option).first
        for _ in range(6):
            if not wanted.is_visible():
                box.click()
                if search:
                    box.fill(search)
            try:
                wanted.click(timeout=5000)
                break
            except PlaywrightError:
                continue
        else:
            pytest.fail(f"the list offers no {option}")


def open_page(page: Page, server: Server, title: str) -> None:
    """Come to a page by its address."""
    page.goto(server.page(title.lower().replace(" ", "_")))
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def open_rule_list(page: Page, server: Server) -> None:
    open_page(page, server, "Rule list")
    expect(page.get_by_text("Noise on a count: ±")).to_be_visible()


def use_pool(page: Page, size: str) -> None:
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Candidate pool", exact=True).click()
    settled(page)
    entry = page.get_by_label("Lists in the pool", exact=True)
    entry.fill(size)
    entry.press("Enter")
    settled(page)


def open_review(page: Page) -> None:
    page.get_by_role("button", name="Review and spend").click()
    expect(spend_button(page)).to_be_enabled()


def spend_button(page: Page):
    return page.get_by_role("button", name="Run and spend ε = 0.50")


@contextmanager
def held_up(server: Server) -> Iterator[None]:
    """No run goes on meanwhile, however fast the machine is, once one is under way."""
    _wait_until_running(server)
    family = psutil.Process(server.pid).children(recursive=True)
    workers = [each for each in family if "dpcore.workspace.worker" in each.cmdline()]
    assert workers
    for worker in workers:
        worker.suspend()
    try:
        yield
    finally:
        for worker in workers:
            worker.resume()


def _wait_until_running(server: Server) -> None:
    with server.service() as service:
        dataset = service.dataset(server.dataset).id
        for _ in range(WAIT // 10):
            if any(run.step for run in service.runs(dataset)):
                return
            time.sleep(0.01)
    pytest.fail("no run is under way")


def rehearsed(page: Page) -> None:
    """The first rehearsal of a server loads the engine, which takes a busy machine a while."""
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_be_visible(timeout=4 * WAIT)


def finished(page: Page) -> None:
    """Runs give way to whatever else a machine has to do, so a busy one may need minutes for a small run."""
    expect(page.get_by_text("Finished.")).to_be_visible(timeout=10 * WAIT)


def spent(server: Server) -> tuple[Decimal, int, int]:
    """What was asked for and counts, how many runs there are and how many reservations.

    No more is gone from the budget than these runs cost.
    """
    with server.service() as service:
        [info] = [info for info in service.datasets() if server.dataset in ("", info.name)]
        balance, runs = service.balance(info.id), service.runs(info.id)
        reserved = [e for e in service.ledger_entries(info.id) if e.kind == "reserve"]
    counted = {run.id: run.request.epsilon for run in runs if run.charged}
    losses = [run_loss(e.epsilon, e.delta, e.rho) for e in reserved if e.run_id in counted]
    assert balance.cap - balance.left == PrivacyFilter(balance.cap, balance.delta).spent(total_loss(losses))
    return sum(counted.values(), Decimal(0)), len(runs), len(reserved)


ONE_SPEND = (Decimal("0.5"), 1, 1)


def test_from_data_set_to_result_with_five_clicks_a_reload_and_a_second_tab(page: Page, ward: Server) -> None:
    from_data_set_to_review(page, ward)
    spend_button(page).evaluate("button => { for (let i = 0; i < 5; i++) button.click() }")  # They spend once.
    with held_up(ward):
        expect(page.get_by_role("button", name="Stop run …")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="Stop run …")).to_be_visible()
        second = page.context.new_page()
        second.goto(ward.page("rule_list"))
        expect(second.get_by_role("button", name="Stop run …")).to_be_visible()
    finished(second)
    second.close()
    finished(page)
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_have_count(0)
    expect(page.get_by_role("table").first).to_contain_text("Everyone else")
    expect(page.get_by_role("tab", name="Chart")).to_have_count(1)
    page.get_by_role("tab", name="Chart").click()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.get_by_role("tab", name="Predict a case").click()
    page.get_by_role("button", name="Which rule fits?").click()
    expect(page.get_by_text("Noisy chance of died = yes:")).to_be_visible()
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    assert '"rule_list"' in Path(download.value.path()).read_text()
    assert spent(ward) == ONE_SPEND


def from_data_set_to_review(page: Page, ward: Server) -> None:
    """Set up a run that lasts, rehearse it for free and open its review."""
    page.goto(ward.page())
    card = page.locator("[class*=st-key-card-]", has_text=ward.dataset)  # Other tests may have stored data sets, too.
    card.get_by_text("Columns (4)").click()
    expect(card.get_by_text("Public demonstration data.")).to_be_visible()
    expect(card.get_by_text("20 to 100, in 8 bins")).to_be_visible()
    go(page, "Rule list")
    expect(page.get_by_text("Noise on a count: ±")).to_be_visible()
    use_pool(page, LONG_POOL)
    page.get_by_role("button", name="Rehearse (free)").click()
    rehearsed(page)
    assert spent(ward) == (0, 0, 0)
    open_review(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("cannot be undone")
    expect(dialog).to_contain_text("This run and 3 more like it fit.")


def open_tree(page: Page, server: Server, title: str = "Tree") -> None:
    open_page(page, server, title)
    expect(page.get_by_text("Noise on a")).to_be_visible()


def click_until(button: Locator, sign: Locator) -> None:
    """Click until it shows: a click on a page that is still being drawn may get lost."""
    for _ in range(6):
        button.click()
        try:
            expect(sign.first).to_be_visible(timeout=10_000)
            return
        except AssertionError:
            continue
    expect(sign.first).to_be_visible()


def type_epsilon(page: Page, entry: str) -> None:
    field = page.get_by_label("Exact ε")
    field.fill(entry)
    field.press("Enter")


@pytest.mark.slow
def test_a_tree_from_a_mistake_to_the_way_of_a_case(page: Page, ward: Server) -> None:
    open_tree(page, ward)
    type_epsilon(page, "0.000000001")
    expect(page.get_by_text("This epsilon is too small")).to_be_visible()
    expect(page.get_by_role("button", name="Review and spend")).to_be_disabled()
    assert spent(ward) == (0, 0, 0)
    type_epsilon(page, "0.5")
    expect(page.get_by_text("Noise on a count of a group")).to_be_visible()
    page.get_by_role("button", name="Rehearse (free)").click()
    rehearsed(page)
    open_review(page)
    expect(page.get_by_role("dialog")).to_contain_text("Decision tree: Exact lookahead")
    spend_button(page).click()
    finished(page)
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_have_count(0)
    drawing = page.locator(".js-plotly-plot").first
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("everyone")
    expect(page.get_by_label(re.compile("Decision tree with .* groups at the end")).filter(visible=True)).to_have_count(
        1
    )
    page.get_by_text("Follow a case through the tree").click()
    click_until(page.get_by_role("button", name="Which way does it go?"), page.get_by_text("so go"))
    expect(page.get_by_text("the case you typed in")).to_be_visible()
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert "epsilon at node" in Path(download.value.path()).read_text()
    page.reload()
    finished(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_a_forest_tells_of_a_case(page: Page, ward: Server) -> None:
    open_tree(page, ward, "Forest")
    expect(page.get_by_text("Questions drawn at random, without")).to_be_visible()
    open_review(page)
    spend_button(page).dblclick(delay=20)
    finished(page)
    page.get_by_role("button", name="What do they tell?").click()
    expect(page.get_by_text("On average the 10 trees tell")).to_be_visible()
    page.get_by_role("tab", name="Single trees").click()
    expect(page.get_by_text("Group: prediction")).to_be_visible()
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_shapes_from_the_form_to_one_case(page: Page, ward: Server) -> None:
    open_tree(page, ward, "Shape functions")
    expect(page.locator(".fg-meter")).to_contain_text("Counted at δ = 10⁻⁵.")
    assert spent(ward) == (0, 0, 0)
    open_review(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Shape functions (explainable boosting): All bins at once")
    expect(dialog).to_contain_text("plus δ = 5 · 10⁻⁷")
    spend_button(page).click()
    finished(page)
    expect(page.get_by_label(re.compile("Mean size of what each adds"))).to_have_count(1)
    expect(page.get_by_label(re.compile("Shape of age"))).to_have_count(1)
    expect(page.locator(".js-plotly-plot").nth(1)).to_contain_text("missing")
    page.get_by_role("tab", name="One case").click()
    page.get_by_label("age", exact=True).fill("90")
    click_until(
        page.get_by_role("button", name="How does it add up?"),
        page.get_by_text("The prediction is died = "),
    )
    expect(page.get_by_label(re.compile("How the parts add up"))).to_have_count(1)
    waterfall = page.locator(".js-plotly-plot").nth(2)
    expect(waterfall).to_contain_text("age: ")
    expect(page.get_by_text("parts need what is not known and add nothing")).to_be_visible()
    expect(waterfall).not_to_contain_text("sex")
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert Path(download.value.path()).read_text().startswith("term,bin,lower,upper,category")
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_methods_are_compared_without_spending(page: Page, server: Server) -> None:
    open_tree(page, server)
    page.get_by_text("Compare methods on these public data").click()
    at_work = page.get_by_role("table").or_(page.get_by_role("progressbar"))
    click_until(page.get_by_role("button", name="Compare methods"), at_work)
    expect(page.get_by_role("table").last).to_contain_text("Tree: Exact lookahead", timeout=3 * WAIT)
    expect(page.get_by_label(re.compile("Accuracy on people set aside"))).to_have_count(1)
    assert spent(server) == (0, 0, 0)


@pytest.mark.slow
def test_two_real_clicks_spend_once(page: Page, ward: Server) -> None:
    open_rule_list(page, ward)
    open_review(page)
    spend_button(page).dblclick(delay=20)
    finished(page)
    page.wait_for_timeout(2000)
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_a_wrong_upload_gives_a_sentence(page: Page, shared: Server, tmp_path: Path) -> None:
    page.goto(f"{shared.url}/custodian")
    expect(page.get_by_role("heading", name="Custodian")).to_be_visible()
    for name, content, sentence in (
        ("empty.csv", b"", "The file is empty."),
        ("latin.csv", "größe\n1\n".encode("latin-1"), "Say its encoding (--encoding, on the page 'Encoding')"),
        ("twice.csv", b"a,a\n1,2\n", "Column names must be distinct"),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        page.locator("input[type=file]").first.set_input_files(file)
        expect(page.get_by_text(sentence)).to_be_visible()
    assert "Traceback" not in page.content() + shared.log.read_text()


@pytest.mark.slow
def test_storing_twice_stores_once_and_says_so(page: Page, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    invented(400_000).to_csv(file, index=False)
    schema = SCHEMA_TEXT.replace("name: ward", "name: large").replace("3000", "1000000")
    page.goto(f"{server.url}/custodian")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Write or bring a schema").click()
    page.get_by_label("Schema (YAML or JSON)").fill(schema)
    # While the page is drawn anew, the old button may still stand beside the new one.
    page.get_by_role("button", name="Check and store").first.dblclick()
    expect(page.get_by_text("Data set stored")).to_be_visible(timeout=2 * WAIT)
    page.wait_for_timeout(2000)
    expect(page.get_by_text("'large' is stored")).to_be_visible()
    expect(page.get_by_text("Nothing was stored")).to_have_count(0)
    with server.service() as service:
        assert [info.name for info in service.datasets()] == ["ward", "large"]
    assert not list((server.home / "incoming").iterdir())
