"""The main flows in a real browser, against a server with a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import (
    ONE_SPEND,
    click_until,
    finished,
    from_data_set_to_review,
    open_review,
    open_rule_list,
    open_tree,
    rehearsed,
    spend_button,
    type_epsilon,
)
from tests.support.app_server import SCHEMA_TEXT, Server, held_up, invented, spent
from tests.support.identity_provider import WAIT


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


@pytest.mark.slow
def test_a_tree_from_a_mistake_to_the_way_of_a_case(page: Page, ward: Server) -> None:
    open_tree(page, ward)
    type_epsilon(page, "0.000000001")
    expect(page.get_by_text("This epsilon is too small")).to_be_visible()
    expect(page.get_by_role("button", name="Review and spend")).to_be_disabled()
    assert spent(ward) == (0, 0, 0)
    type_epsilon(page, "0.5")
    expect(page.get_by_text("Noise on a count of a group")).to_be_visible()
    page.get_by_role("button", name="Rehearse (free)").click()
    rehearsed(page)
    open_review(page)
    expect(page.get_by_role("dialog")).to_contain_text("Decision tree: Exact lookahead")
    spend_button(page).click()
    finished(page)
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_have_count(0)
    drawing = page.locator(".js-plotly-plot").first
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("everyone")
    expect(page.get_by_label(re.compile("Decision tree with .* groups at the end")).filter(visible=True)).to_have_count(
        1
    )
    page.get_by_text("Follow a case through the tree").click()
    click_until(page.get_by_role("button", name="Which way does it go?"), page.get_by_text("so go"))
    expect(page.get_by_text("the case you typed in")).to_be_visible()
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert "epsilon at node" in Path(download.value.path()).read_text()
    page.reload()
    finished(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_a_forest_tells_of_a_case(page: Page, ward: Server) -> None:
    open_tree(page, ward, "Forest")
    expect(page.get_by_text("Questions drawn at random, without")).to_be_visible()
    open_review(page)
    spend_button(page).dblclick(delay=20)
    finished(page)
    page.get_by_role("button", name="What do they tell?").click()
    expect(page.get_by_text("On average the 10 trees tell")).to_be_visible()
    page.get_by_role("tab", name="Single trees").click()
    expect(page.get_by_text("Group: prediction")).to_be_visible()
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_shapes_from_the_form_to_one_case(page: Page, ward: Server) -> None:
    open_tree(page, ward, "Shape functions")
    expect(page.locator(".fg-meter")).to_contain_text("Counted at δ = 10⁻⁵.")
    assert spent(ward) == (0, 0, 0)
    open_review(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Shape functions (explainable boosting): All bins at once")
    expect(dialog).to_contain_text("plus δ = 5 · 10⁻⁷")
    spend_button(page).click()
    finished(page)
    expect(page.get_by_label(re.compile("Mean size of what each adds"))).to_have_count(1)
    expect(page.get_by_label(re.compile("Shape of age"))).to_have_count(1)
    expect(page.locator(".js-plotly-plot").nth(1)).to_contain_text("missing")
    page.get_by_role("tab", name="One case").click()
    page.get_by_label("age", exact=True).fill("90")
    click_until(
        page.get_by_role("button", name="How does it add up?"),
        page.get_by_text("The prediction is died = "),
    )
    expect(page.get_by_label(re.compile("How the parts add up"))).to_have_count(1)
    waterfall = page.locator(".js-plotly-plot").nth(2)
    expect(waterfall).to_contain_text("age: ")
    expect(page.get_by_text("parts need what is not known and add nothing")).to_be_visible()
    expect(waterfall).not_to_contain_text("sex")
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert Path(download.value.path()).read_text().startswith("term,bin,lower,upper,category")
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_methods_are_compared_without_spending(page: Page, untouched: Server) -> None:
    open_tree(page, untouched)
    page.get_by_text("Compare methods on these public data").click()
    at_work = page.get_by_role("table").or_(page.get_by_role("progressbar"))
    click_until(page.get_by_role("button", name="Compare methods"), at_work)
    expect(page.get_by_role("table").last).to_contain_text("Tree: Exact lookahead", timeout=3 * WAIT)
    expect(page.get_by_label(re.compile("Accuracy on people set aside"))).to_have_count(1)
    assert spent(untouched) == (0, 0, 0)


@pytest.mark.slow
def test_two_real_clicks_spend_once(page: Page, ward: Server) -> None:
    open_rule_list(page, ward)
    open_review(page)
    spend_button(page).dblclick(delay=20)
    finished(page)
    page.wait_for_timeout(2000)
    assert spent(ward) == ONE_SPEND


@pytest.mark.slow
def test_a_wrong_upload_gives_a_sentence(page: Page, shared: Server, tmp_path: Path) -> None:
    page.goto(f"{shared.url}/custodian")
    expect(page.get_by_role("heading", name="Custodian")).to_be_visible()
    for name, content, sentence in (
        ("empty.csv", b"", "The file is empty."),
        ("latin.csv", "größe\n1\n".encode("latin-1"), "Say its encoding (--encoding, on the page 'Encoding')"),
        ("twice.csv", b"a,a\n1,2\n", "Column names must be distinct"),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        page.locator("input[type=file]").first.set_input_files(file)
        expect(page.get_by_text(sentence)).to_be_visible()
    assert "Traceback" not in page.content() + shared.log.read_text()


@pytest.mark.slow
def test_storing_twice_stores_once_and_says_so(page: Page, untouched: Server, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    invented(400_000).to_csv(file, index=False)
    schema = SCHEMA_TEXT.replace("name: ward", "name: large").replace("3000", "1000000")
    page.goto(f"{untouched.url}/custodian")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Write or bring a schema").click()
    page.get_by_label("Schema (YAML or JSON)").fill(schema)
    # While the page is drawn anew, the old button may still stand beside the new one.
    page.get_by_role("button", name="Check and store").first.dblclick()
    expect(page.get_by_text("Data set stored")).to_be_visible(timeout=2 * WAIT)
    page.wait_for_timeout(2000)
    expect(page.get_by_text("'large' is stored")).to_be_visible()
    expect(page.get_by_text("Nothing was stored")).to_have_count(0)
    with untouched.service() as service:
        assert [info.name for info in service.datasets()] == ["ward", "large"]
    assert not list((untouched.home / "incoming").iterdir())
