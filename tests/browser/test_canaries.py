"""Values that nobody may see: what reaches a browser, a log or a file, also when something breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocket, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from tests.support.browsers.app_server import ROOT, SCHEMA_TEXT, Server, invented, serve, spent
from tests.support.browsers.browser_steps import ONE_SPEND, finished, go, open_review, spend_button

BROKEN = """
from dpcore.service import Service
def broken(*_):
    raise RuntimeError("Qxzcanary")
Service.releases = broken
"""


@pytest.mark.slow
def test_an_unforeseen_error_shows_a_fixed_page_and_logs_no_text(page: Page, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    heard = Heard()
    heard.listen(page)
    home = tmp_path / "home"
    with Service(home=home, workers=0) as service:
        service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(2))
    with serve(home, PYTHONPATH=f"{tmp_path}:{ROOT}", FROSTGLASS_WORKERS="0") as server:
        page.goto(f"{server.url}/releases")
        expect(page.get_by_text("This page could not be shown")).to_be_visible()
        heard.look(page)
        log = server.log.read_text()
    assert "a page stopped with RuntimeError in sitecustomize.py" in log
    for content in (*heard.frames, *heard.pages, *heard.console, log):
        assert not found_in(content)
        assert "Traceback" not in str(content)


CANARIES = ("Qxzcanary", "qxz-person", "73519.1731", "8642097531")
CANARY_SCHEMA = SCHEMA_TEXT.replace("max_rows: 3000", "privacy_unit: {column: person}\nmax_rows: 3000")


@dataclass
class Heard:
    """Everything that reached the browser."""

    frames: list[bytes] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("websocket", self._socket)
        page.on("console", lambda message: self.console.append(message.text))

    def _socket(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._frame)

    def _frame(self, payload: bytes | str) -> None:
        self.frames.append(payload if isinstance(payload, bytes) else payload.encode())

    def look(self, page: Page) -> None:
        page.wait_for_timeout(700)
        self.pages.append(page.content())


def canary_file(folder: Path) -> Path:
    """Invented people whose every unlisted value is unmistakable."""
    frame = invented(600)
    frame["person"] = [f"qxz-person-{i}" for i in range(len(frame))]
    frame["notes"] = [f"Qxzcanary note {i}" for i in range(len(frame))]
    frame["age"] = frame["age"].astype(object)
    frame.loc[::7, "age"] = "73519.1731"
    frame.loc[3::7, "age"] = "8642097531"
    frame.loc[::5, "sex"] = "Qxzcanary-sex"
    frame.loc[::11, "died"] = "Qxzcanary-died"
    path = folder / "private.csv"
    frame.to_csv(path, index=False)
    return path


def upload_by_page(page: Page, server: Server, path: Path) -> None:
    """Store a file of which three columns lose values: these are shown to the custodian, and to nobody else."""
    page.goto(f"{server.url}/custodian")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text("Write or bring a schema").click()
    page.get_by_label("Schema (YAML or JSON)").fill(CANARY_SCHEMA)
    page.get_by_role("button", name="Check and store").click()
    expect(page.get_by_text("Qxzcanary-sex").first).to_be_visible()
    page.get_by_role("button", name="Store all 3 all the same").click()
    expect(page.get_by_text("Data set stored")).to_be_visible()


def found_in(content: bytes | str) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    return [canary for canary in CANARIES if canary.encode().lower() in raw.lower()]


def test_canaries_reach_no_page_frame_log_or_file(page: Page, tmp_path: Path) -> None:
    heard = Heard()
    heard.listen(page)
    with serve(tmp_path / "home") as server:
        with page.context.new_page() as custodian:
            upload_by_page(custodian, server, canary_file(tmp_path))
        page.goto(server.url)
        heard.look(page)
        go(page, "Rule list")
        open_review(page)
        heard.look(page)
        spend_button(page).click()
        finished(page)
        for tab in ("Chart", "Hold-out check", "Predict a case", "Certificate", "Download"):
            page.get_by_role("tab", name=tab).click()
            heard.look(page)
        for title in ("Data sets", "Releases", "Custodian"):
            go(page, title)
            heard.look(page)
        page.get_by_text("Audit log", exact=True).click()
        heard.look(page)
        assert spent(server) == ONE_SPEND
    # The net catches: what is public did come through every one of these ways.
    assert any(b"died" in frame for frame in heard.frames)
    assert all("Frostglass" in content for content in heard.pages)
    for content in (*heard.frames, *heard.pages, *heard.console, server.log.read_bytes()):
        assert not found_in(content)
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            assert path.parent.parent.name == "datasets" or not found_in(path.read_bytes()), path
    assert not list((tmp_path / "home" / "incoming").iterdir())
