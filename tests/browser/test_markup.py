"""Any text that is shown on a page is text: no link, picture, letter or markup."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.app_server import ROOT
from tests.support.browsers.identity_provider import WAIT
from tests.support.files.hostile_names import ANCHOR, BARE, IMAGE, LINK, MAIL, WWW
from tests.support.servers.ports import free_port
from tests.support.workspaces.forked import started

#: What some reader of Markdown, Streamlit's among them, makes something else of.
FRAGMENTS = (
    *(LINK, IMAGE, BARE, WWW, MAIL, ANCHOR, "HTTP://EVIL.example", "mailto:a@b.cd", "xmpp:a@b.cd"),
    *("<https://evil.example>", "&lt;b&gt; &copy; &#104;ttp://evil.example", "# a", "> a", "- a", "+ a", "* a"),
    *("1. a", "1) a", "    a", "```", "~~~", "| a | b |", "|---|---|", "---", "===", "\n", "\n\n", ":smile:"),
    *(":100:", ":material/home:", ":streamlit:", ":red[x]", ":small[x]", "$x$", "$$x$$", "[^1]"),
    *("[x]: https://evil.example", "->", "<-", "--", "<=", ">=", "*a*", "**a**", "_a_", "~~a~~", "a\\b", "\\"),
    *("`a`", "``", "<!-- a -->", "- [ ] a", "//evil.example", "3:1", "a:b:c", "::", "é@x.org", "@", ":", " ", "a"),
    *("(", ")", "…", "№ 5", "5 %", "ε = 0.5"),
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
    port = free_port()
    arguments = ["run", str(script), "--server.port", str(port), "--", str(words)]
    process = started("streamlit.web.cli", arguments, ROOT, os.environ, tmp_path / "server.log")
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
