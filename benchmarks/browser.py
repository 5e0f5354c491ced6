"""The application in a process of its own, and a browser to look at it and to weigh it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pages.components.visitor import remembered

_ROOT = Path(__file__).resolve().parent.parent
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window.

    Raises
    ------
    RuntimeError
        If no Chromium is on the path.
    """
    from playwright.sync_api import sync_playwright

    program = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        raise RuntimeError("no Chromium found: install Debian's package chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


def visitor(browser: Any, **look: Any) -> Any:
    """A page of somebody who has been here before: the tour does not open by itself."""
    context = browser.new_context(**look)
    seen = {"name": remembered.cookie(remembered.TOUR), "value": "seen", "domain": "localhost", "path": "/"}
    context.add_cookies([seen])
    return context.new_page()


@contextmanager
def served(home: Path, script: str = "app.py", *arguments: str) -> Iterator[str]:
    """Address of the application, or of a page of its own, until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), "--", *arguments]
    environment = {**os.environ, "FROSTGLASS_HOME": str(home), "PYTHONPATH": str(_ROOT)}
    process = subprocess.Popen(
        command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_port(port, process)
        yield f"http://localhost:{port}"
    finally:
        process.kill()  # A request to stop would wait for the browser to hang up.
        process.wait(30)


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the application did not start")


def rested(page: Any) -> None:
    """Wait until a page is drawn."""
    page.wait_for_timeout(1000)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=60_000)
    # A part that the browser still has to load has a grey bar in its place.
    page.wait_for_function("() => !document.querySelector('[data-testid=\"stSkeleton\"]')", timeout=60_000)
    page.wait_for_timeout(500)


class Scales:
    """Bytes that a page of a browser has received, by what brought them."""

    def __init__(self, page: Any) -> None:
        self.files = self.messages = 0
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.loadingFinished", self._file)
        network.on("Network.webSocketFrameReceived", self._message)

    def _file(self, event: dict[str, Any]) -> None:
        self.files += int(event["encodedDataLength"])

    def _message(self, event: dict[str, Any]) -> None:
        # Binary messages are told in base64: four letters for three bytes.
        self.messages += len(event["response"]["payloadData"]) * 3 // 4

    def taken(self) -> tuple[int, int]:
        """What came since the last time: files, and messages that draw the page."""
        since, self.files, self.messages = (self.files, self.messages), 0, 0
        return since
