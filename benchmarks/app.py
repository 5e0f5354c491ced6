"""How fast the application answers, measured in a real browser on the demonstration data."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.records import Record, summarise
from dpcore.service import Service

SUITE = "app"
_ROOT = Path(__file__).resolve().parent.parent
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run(*, quick: bool) -> Iterator[Record]:
    """Start the application several times and use it; seconds until a person sees the answer.

    Raises
    ------
    RuntimeError
        If no Chromium is on the path.
    """
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with Service(home=home, workers=0) as service:
            service.add_demo_datasets()
        for _ in range(1 if quick else 3):
            _one_visit(home, times, repeats=5 if quick else 15)
    goals = {"start to first page": 3.0, "first page in a running app": 3.0}
    for what, seconds in times.items():
        yield Record(
            SUITE,
            "demonstration",
            what,
            None,
            "seconds",
            float(np.median(seconds)),
            summarise(seconds)[1],
            len(seconds),
            goals.get(what, 0.3),
            "goal",
        )


def _one_visit(home: Path, times: dict[str, list[float]], repeats: int) -> None:
    from playwright.sync_api import sync_playwright

    program = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        raise RuntimeError("no Chromium found: install Debian's package chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page(viewport={"width": 1360, "height": 900})

        def seen(name: str) -> None:
            page.get_by_role("heading", name=name, exact=True).wait_for(timeout=30_000)

        def note(what: str, action: Callable[[], object], name: str) -> None:
            start = time.perf_counter()
            action()
            seen(name)
            times.setdefault(what, []).append(time.perf_counter() - start)

        start = time.perf_counter()
        with _served(home) as url:
            page.goto(url)
            seen("Data sets")
            times.setdefault("start to first page", []).append(time.perf_counter() - start)
            time.sleep(8)
            note("first page in a running app", lambda: page.goto(url), "Data sets")
            for _ in range(repeats):
                for name in ("Releases", "Custodian", "Rule list", "Data sets"):
                    link = page.get_by_role("link", name=name, exact=True).first
                    note(f"open page {name}", link.click, name)
            _use_chooser(page, times, repeats)
        browser.close()


def _use_chooser(page: object, times: dict[str, list[float]], repeats: int) -> None:
    """Move between epsilon presets: the expected noise must follow."""
    page.get_by_role("link", name="Rule list", exact=True).first.click()  # type: ignore[attr-defined]
    for turn in range(repeats):
        name, noise = (("Strict", "0.05"), ("Detailed", "0.50"))[turn % 2]
        button = page.get_by_text(f"{name} (").first  # type: ignore[attr-defined]
        button.wait_for()
        start = time.perf_counter()
        button.click()
        page.get_by_text(f"ε {noise} for choosing the list").first.wait_for(timeout=10_000)  # type: ignore[attr-defined]
        times.setdefault("choose another epsilon", []).append(time.perf_counter() - start)


@contextmanager
def _served(home: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "FROSTGLASS_HOME": str(home)}
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
