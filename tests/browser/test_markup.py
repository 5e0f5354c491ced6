"""What one visitor wrote does nothing in another's browser: no link, picture, letter or markup."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from dpcore.domain.schema import Schema
from dpcore.service import Service
from dpcore.workspace.requests import RunRequest
from pages.components.visitor.menu import MENU
from tests.browser.test_accessibility import settle
from tests.browser.test_browser import ROOT, Server, go, serve
from tests.support.identity_provider import WAIT

LINK = "[l](https://evil.example/l)"
IMAGE = "![p](https://evil.example/p.png)"
BARE = "https://evil.example/b"
WWW = "www.evil.example"
MAIL = "ann@evil.example"
ANCHOR = "<a href='https://evil.example/a'>a</a><img src='https://evil.example/i.png'>"
EVERYTHING = f"{LINK} {IMAGE} {BARE} {WWW} {MAIL} {ANCHOR} :smile: $x$ -> *y*"
SCHEMA = Schema.from_mapping(
    {
        "name": f"set {LINK} {MAIL}",
        "description": EVERYTHING,
        "max_rows": 2000,
        "columns": [
            {
                "name": f"age {LINK} {BARE}",
                "type": "integer",
                "lower": 20,
                "upper": 100,
                "bins": 4,
                "unit": WWW,
                "view": "right",
                "description": EVERYTHING,
            },
            {
                "name": f"ward {IMAGE} {ANCHOR}",
                "type": "categorical",
                "categories": [IMAGE, f"{LINK} {MAIL}", ANCHOR],
                "view": "left",
                "description": EVERYTHING,
            },
            {"name": WWW, "type": "boolean", "view": "left"},
            {"name": MAIL, "type": "boolean", "view": "right"},
            {"name": f"died {IMAGE} {MAIL}", "type": "boolean", "target": True},
        ],
    }
)
TARGET = SCHEMA.targets[0]
RESULTS = (
    ("rule_list", "rule_list", TARGET, {"pool_size": 500}),
    ("tree", "tree", TARGET, {}),
    ("forest", "forest", TARGET, {"method": "random_trees", "trees": 3}),
    ("ebm", "shape_functions", TARGET, {}),
    ("redescriptions", "redescriptions", "", {}),
    ("ilp", "relational_rules", TARGET, {}),
)
#: Links, pictures and frames on a page that lead to where the names say.
LURES = """() => [...document.querySelectorAll('a, img, image, iframe, object, area, use, link')]
    .map(one => one.getAttribute('href') || one.getAttribute('xlink:href')
        || one.getAttribute('src') || '')
    .filter(address => /evil|mailto/i.test(address))"""


def people(rows: int = 1500) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age, ward, *flags = (column.name for column in SCHEMA)
    frame = pd.DataFrame({age: draw.integers(20, 101, rows)})
    frame[ward] = draw.choice([IMAGE, f"{LINK} {MAIL}", ANCHOR], rows)
    for flag in flags:
        frame[flag] = np.where(draw.random(rows) < frame[age] / 150, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    home = tmp_path_factory.mktemp("hostile") / "home"
    runs = {}
    with Service(home=home, workers=0) as service:
        info = service.add_dataset(people(), SCHEMA, budget=Decimal(9), public=True)
        for algorithm, _, target, parameters in RESULTS:
            request = RunRequest(
                dataset_id=info.id, algorithm=algorithm, target=target, epsilon=Decimal(1), parameters=parameters
            )
            runs[algorithm] = service.submit(request, os.urandom(9).hex())
            status = service.wait(runs[algorithm], 60)
            assert status.release_id is not None, status.message
            service.note_release(status.release_id, EVERYTHING[:60], f"{EVERYTHING}\n{EVERYTHING}")
    with serve(home) as running:
        yield running, runs


class Watch:
    """Lures found on the pages that were looked at, and requests to elsewhere."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("request", lambda sent: "evil" in sent.url and self.found.append(sent.url))
        self._page = page

    def look(self) -> None:
        settle(self._page)
        self.found += [f"{self._page.url[:60]}: {one}" for one in self._page.evaluate(LURES)]


@pytest.mark.parametrize("results", [RESULTS[:1], pytest.param(RESULTS[1:], marks=pytest.mark.slow)])
def test_nothing_that_was_written_leads_anywhere(page: Page, hostile, results) -> None:
    server, runs = hostile
    watch = Watch(page)
    page.goto(server.url)
    watch.look()
    assert "evil.example" in page.content()
    for entry in MENU:
        go(page, entry.title)
        watch.look()
    views = page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    for place in range(views.count()):
        views.nth(place).click()
        watch.look()
    for algorithm, path, *_ in results:
        page.goto(f"{server.url}/{path}?run={runs[algorithm]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        for name in page.get_by_role("tab").all_inner_texts():
            page.get_by_role("tab", name=name, exact=True).first.click()
            watch.look()
    assert watch.found == []


def test_lures_would_be_found(page: Page, hostile) -> None:
    watch = Watch(page)
    page.goto(hostile[0].url)
    settle(page)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', "
        '\'<a href="mailto:ann@evil.example">x</a><img src="https://evil.example/x">\')'
    )
    watch.look()
    told = "\n".join(watch.found)
    assert ": mailto:ann@evil.example" in told
    assert ": https://evil.example/x" in told


#: What some reader of Markdown, Streamlit's among them, makes something else of.
FRAGMENTS = (
    LINK,
    IMAGE,
    BARE,
    WWW,
    MAIL,
    ANCHOR,
    "HTTP://EVIL.example",
    "mailto:a@b.cd",
    "xmpp:a@b.cd",
    "<https://evil.example>",
    "&lt;b&gt; &copy; &#104;ttp://evil.example",
    "# a",
    "> a",
    "- a",
    "+ a",
    "* a",
    "1. a",
    "1) a",
    "    a",
    "```",
    "~~~",
    "| a | b |",
    "|---|---|",
    "---",
    "===",
    "\n",
    "\n\n",
    ":smile:",
    ":100:",
    ":material/home:",
    ":streamlit:",
    ":red[x]",
    ":small[x]",
    "$x$",
    "$$x$$",
    "[^1]",
    "[x]: https://evil.example",
    "->",
    "<-",
    "--",
    "<=",
    ">=",
    "*a*",
    "**a**",
    "_a_",
    "~~a~~",
    "a\\b",
    "\\",
    "`a`",
    "``",
    "<!-- a -->",
    "- [ ] a",
    "//evil.example",
    "3:1",
    "a:b:c",
    "::",
    "é@x.org",
    "@",
    ":",
    " ",
    "a",
    "(",
    ")",
    "…",
    "№ 5",
    "5 %",
    "ε = 0.5",
)
SCRIPT = """
import json, sys
from pathlib import Path
import streamlit as st
from pages.components.kit import markup

for place, words in enumerate(json.loads(Path(sys.argv[1]).read_text())):
    with st.container(key=f"in-text-{place}"):
        st.markdown(f"**Before:** {markup.plain(words)} (after)")
    with st.container(key=f"in-label-{place}"):
        st.checkbox(markup.plain(words), key=f"box-{place}")
    with st.container(key=f"alone-{place}"):
        st.error(markup.plain(words))
"""


def texts(count: int = 60) -> list[str]:
    """Every fragment once, and some drawn together at random."""
    draw = random.Random(7)
    mixed = ("".join(draw.choices(FRAGMENTS, k=draw.randint(2, 5))) for _ in range(count))
    return [text for text in (*FRAGMENTS, *mixed) if text.strip()]


@pytest.fixture
def written(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """A page of Streamlit's that shows such texts, and the texts."""
    script, words = tmp_path / "words.py", tmp_path / "words.json"
    script.write_text(SCRIPT)
    words.write_text(json.dumps(texts()))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--", str(words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://localhost:{port}", texts()
    finally:
        process.kill()
        process.wait(30)


SHOWN = """prefix => [...document.querySelectorAll(`[class*="st-key-${prefix}-"]`)].map(
    part => [part.className.match(/st-key-[a-z-]+-(\\d+)/)[1], part.innerText,
        part.querySelectorAll('a, img, h1, h2, ul, ol, table, blockquote, hr, pre, code, em, del')
            .length])"""
DRAWN = """count => [...document.querySelectorAll('[class*="st-key-"]')].filter(
    part => /st-key-(in-text|in-label|alone)-/.test(part.className) && part.innerText.trim()
).length === count"""


def test_any_text_is_shown_as_it_is(page: Page, written: tuple[str, list[str]]) -> None:
    url, words = written
    for _ in range(40):
        try:
            page.goto(url)
            break
        except Exception:  # noqa: BLE001 - it is not up yet
            page.wait_for_timeout(500)
    expect(page.locator(f".st-key-alone-{len(words) - 1}")).to_be_visible()
    # What draws Markdown is loaded when it is first needed: until then there are empty places.
    page.wait_for_function(DRAWN, arg=3 * len(words), timeout=WAIT)
    wrong = []
    for prefix, shape in (("in-text", "Before: {} (after)"), ("in-label", "{}"), ("alone", "{}")):
        seen = page.evaluate(SHOWN, prefix)
        assert len(seen) == len(words)
        for place, shown, marks in seen:
            text = shape.format(_on_one_line(words[int(place)]))
            if marks or _on_one_line(shown) != _on_one_line(text):
                wrong.append((prefix, text, shown, marks))
    assert wrong == []


def _on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
