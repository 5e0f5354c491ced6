"""No page asks its browser for what the content security policy refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.components.visitor.menu import MENU
from tests.browser.test_accessibility import RESULTS, darken, filled, settle
from tests.browser.test_browser import Server, go, invented, open_review
from tests.support.refusals import listen

__all__ = ["filled"]


def open_every_tab(page: Page) -> None:
    """Tabs inside of tabs may be others after a click."""
    for name in page.get_by_role("tab").all_inner_texts():
        page.get_by_role("tab", name=name, exact=True).first.click()
        settle(page)


def upload(page: Page, file: Path) -> None:
    """A file, as far as the table in which its columns are declared."""
    go(page, "Custodian")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    settle(page)


#: Who walks through the menu to see whether it is accessible listens too: here it is the long form that does.
@pytest.mark.parametrize(
    ("titles", "results"),
    [
        (["Custodian"], RESULTS[:1]),
        pytest.param([entry.title for entry in MENU], RESULTS[1:], marks=pytest.mark.slow),
    ],
)
def test_no_page_violates_the_policy(
    page: Page, filled: tuple[Server, dict[str, str]], tmp_path: Path, titles, results
) -> None:
    server, runs = filled
    heard = listen(page)
    page.goto(server.url)
    settle(page)
    for title in titles:
        go(page, title)
        settle(page)
    views = page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    for place in range(views.count()):
        views.nth(place).click()
        settle(page)
    for algorithm, path, *_ in results:
        page.goto(f"{server.url}/{path}?run={runs[algorithm]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        open_every_tab(page)
    for label in ("JSON", "CSV", "HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download {label}").click()
        assert Path(download.value.path()).stat().st_size > 100
    file = tmp_path / "ward.csv"
    invented(50).to_csv(file, index=False)
    upload(page, file)
    darken(page)
    settle(page)
    page.get_by_role("button", name="Remove").click()  # The desk would keep it for whoever comes next.
    settle(page)
    page.goto(server.url)
    go(page, "Rule list")
    open_review(page)
    assert heard == []


def test_the_listener_would_hear_of_a_violation(page: Page, filled: tuple[Server, dict[str, str]]) -> None:
    heard = listen(page)
    page.goto(filled[0].url)
    settle(page)
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML('beforeend', '<img src="http://elsewhere.invalid/x">')
            document.body.append(Object.assign(document.createElement('script'), {text: 'ran = 1'}))
        }"""
    )
    page.wait_for_timeout(500)
    assert page.evaluate("typeof ran") == "undefined"
    assert {"img-src", "script-src-elem"} <= {
        word for line in heard if "policy violation" in line for word in line.split()
    }
