"""What every page takes of the server and of the network, with two hundred results in the library."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.app_server import visitor
from benchmarks.records import Record, timed
from dpcore.demo import DEMOS
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.custodian import audit_log
from pages.components.visitor import access
from pages.components.visitor.menu import MENU

_ROOT = Path(__file__).resolve().parent.parent
RESULTS = 200
#: Algorithm, target and parameters of a result.
Kind = tuple[str, str, dict[str, Any]]
#: The results of one table, again and again.
KINDS: tuple[Kind, ...] = (
    ("rule_list", "stroke_within_year", {"pool_size": 500}),
    ("tree", "stroke_within_year", {}),
    ("forest", "stroke_within_year", {"method": "random_trees", "trees": 5}),
    ("ebm", "stroke_within_year", {}),
    ("summaries", "", {"by": "stroke_within_year"}),
    ("redescriptions", "", {}),
)
_GOAL = 0.3


def fill(home: Path, results: int, *, epsilon: str = "0.1", budget: int = 1000) -> None:
    """A data set with many results, of every family for one table in turn."""
    store(home, "stroke", [KINDS[number % len(KINDS)] for number in range(results)], epsilon, budget)


def store(home: Path, name: str, kinds: Sequence[Kind], epsilon: str, budget: int) -> str:
    """A demonstration data set with results; its identifier."""
    demo = DEMOS[name]()
    with Service(home=home, workers=0) as service:
        source = {demo.schema.entity: demo.frame, **demo.children} if demo.children else demo.frame
        info = service.add_dataset(source, demo.schema, budget=Decimal(budget), public=True)
        for algorithm, target, parameters in kinds:
            request = RunRequest(
                dataset_id=info.id, algorithm=algorithm, target=target, epsilon=Decimal(epsilon), parameters=parameters
            )
            service.wait(service.submit(request, os.urandom(9).hex()), 600)
    return info.id


def drawn(suite: str, home: Path, results: int, repeats: int) -> Iterator[Record]:
    """CPU seconds of the server for drawing each page again, without a browser."""
    from streamlit.testing.v1 import AppTest

    with _installed(home):
        for entry in MENU:
            app = AppTest.from_file(str(_ROOT / "pages" / "navigation.py"), default_timeout=60)
            app.run()
            if entry is not MENU[0]:
                app.switch_page(entry.path).run()
            seconds = [_once(app) for _ in range(repeats)]
            yield Record(
                suite,
                f"{results} results",
                f"draw page {entry.title}",
                None,
                "CPU seconds of the server",
                *timed(seconds),
                _GOAL,
                "goal",
            )


def ledger(suite: str, home: Path, results: int, repeats: int) -> Iterator[Record]:
    """What the custodian's ledger takes, as it is shown a page at a time, and if all of it were sent."""
    from streamlit.testing.v1 import AppTest

    for what, lines in (("a page at a time", audit_log.LINES), ("all lines at once", sys.maxsize)):
        with _installed(home), patch.object(audit_log, "LINES", lines):
            app = AppTest.from_file(str(_ROOT / "pages" / "navigation.py"), default_timeout=60)
            app.run()
            app.switch_page("custodian.py").run()
            app.segmented_control(key="custodian-view").set_value("Audit log").run()
            seconds = timed([_once(app) for _ in range(repeats)])
            size = sum(len(table.proto.SerializeToString()) for table in app.dataframe)
        data, shown = f"{results} results", f"ledger, {what}"
        yield Record(suite, data, shown, None, "CPU seconds of the server", *seconds, _GOAL, "goal")
        yield Record(suite, data, shown, None, "kilobytes of its table", size / 1000, 0.0, 1, None, "")


def _once(app: Any) -> float:
    start = time.process_time()
    app.run()
    seconds = time.process_time() - start
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return seconds


@contextmanager
def _installed(home: Path) -> Iterator[None]:
    """Pages of this process show the data of a folder."""
    with patch.dict(os.environ, {"FROSTGLASS_HOME": str(home), "FROSTGLASS_WORKERS": "0"}):
        os.environ.pop("FROSTGLASS_DATABASE_URL", None)
        try:
            yield
        finally:
            access.installation().close()
            access.forget()


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


def weighed(suite: str, browser: Any, url: str, results: int) -> Iterator[Record]:
    """Kilobytes of the first visit to each page, one after the other in one tab."""
    page = visitor(browser, viewport={"width": 1360, "height": 900})
    scales = Scales(page)
    for number, entry in enumerate(MENU):
        if number:
            page.get_by_test_id("stSidebarNav").get_by_role("link", name=entry.title, exact=True).click()
        else:
            page.goto(url)
        page.get_by_role("heading", name=entry.title, exact=True).wait_for(timeout=30_000)
        rested(page)
        for what, size in zip(("files", "messages"), scales.taken(), strict=True):
            yield Record(
                suite,
                f"{results} results",
                f"page {entry.title}",
                None,
                f"kilobytes of {what}",
                size / 1000,
                0.0,
                1,
                None,
                "",
            )
    page.close()


def rested(page: Any) -> None:
    """Wait until a page is drawn."""
    page.wait_for_timeout(1000)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=60_000)
    # A part that the browser still has to load has a grey bar in its place.
    page.wait_for_function("() => !document.querySelector('[data-testid=\"stSkeleton\"]')", timeout=60_000)
    page.wait_for_timeout(500)
