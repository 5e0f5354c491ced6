"""The application in a process of its own, and a browser to look at it."""

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
