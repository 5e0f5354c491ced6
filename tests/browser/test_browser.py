"""The main flows in a real browser, against a server with a folder of its own."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.browsers.app_server import Server, held_up, spent
from tests.support.browsers.browser_steps import ONE_SPEND, finished, from_data_set_to_review, spend_button


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
