"""Pictures of every page and of a result of every family: light, dark, and on a narrow screen."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.browser import chromium, rested, served, visitor
from benchmarks.suites.app import KINDS, store
from pages.components.families import registry
from pages.components.visitor.access import DATASET_KEY
from pages.components.visitor.menu import MENU, Entry

#: Name, width in pixels, colours of the visitor's system.
_LOOKS: Final = (("light", 1280, "light"), ("dark", 1280, "dark"), ("narrow", 800, "light"))
_HEIGHT: Final = 900
#: Milliseconds that a page may take on a busy machine.
_PATIENCE: Final = 120_000


def pictures(folder: Path) -> Iterator[Path]:
    """Make them; each file as it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        # As much as a custodian might give, so that the meter shows what people see.
        store(home, "trains", [("ilp", "direction", {"positive": "east"})], "0.5", 10)
        store(home, "stroke", KINDS, "0.5", 10)
        with served(home) as url, chromium() as browser:
            for look, width, colours in _LOOKS:
                page = visitor(browser, viewport={"width": width, "height": _HEIGHT}, color_scheme=colours)
                page.set_default_timeout(_PATIENCE)
                for entry in MENU:
                    name = entry.path.removesuffix(".py")
                    _open(page, url, entry, "stroke")
                    yield _picture(page, folder / f"{look}-{name}.png")
                    if name == "relational_rules":
                        _open(page, url, entry, "trains")
                    if registry.sets_up(name) and _read_a_result(page):
                        yield _picture(page, folder / f"{look}-{name}-result.png")
                page.close()


def _open(page: Any, url: str, entry: Entry, dataset: str) -> None:
    address = "" if entry is MENU[0] else entry.path.removesuffix(".py")
    page.goto(f"{url}/{address}?{urlencode({DATASET_KEY: dataset})}")
    page.get_by_role("heading", name=entry.title, exact=True).wait_for()
    rested(page)


def _read_a_result(page: Any) -> bool:
    box = page.get_by_role("combobox", name="Read a result")
    if not box.count():
        return False
    box.click()
    page.get_by_role("option").first.click()
    rested(page)
    return True


def _picture(page: Any, file: Path) -> Path:
    """The whole page, as long as it is."""
    part, width = page.get_by_test_id("stMain"), page.viewport_size["width"]
    height = int(part.evaluate("part => part.scrollHeight"))
    page.set_viewport_size({"width": width, "height": max(_HEIGHT, height)})
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    page.set_viewport_size({"width": width, "height": _HEIGHT})
    return file
