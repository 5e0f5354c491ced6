"""A first look in a real browser: from the data set to all columns in two clicks, one column, table 1."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from dpcore.domain.schemas.schema import Schema
from tests.support.browsers.app_server import Server, invented, spent
from tests.support.browsers.browser_steps import (
    ONE_SPEND,
    Store,
    choose,
    finished,
    open_page,
    open_review,
    settled,
    spend_button,
)

#: Further columns of the invented patients, beside age, sex, diabetes and died.
_SIGNS = [f"sign {number}" for number in range(1, 9)]


@pytest.fixture
def server(stored: Store) -> Server:
    draw = np.random.default_rng(1)
    people = invented()
    signs = pd.DataFrame({name: draw.choice(["yes", "no"], len(people)) for name in _SIGNS})
    schema = Schema.from_mapping(
        {
            "name": "ward",
            "max_rows": 3000,
            "columns": [
                {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 8, "unit": "years"},
                {"name": "sex", "type": "categorical", "categories": ["female", "male"]},
                {"name": "diabetes", "type": "boolean"},
                {"name": "died", "type": "boolean", "target": True},
                *({"name": name, "type": "boolean"} for name in _SIGNS),
            ],
        }
    )
    return stored(people.join(signs), schema)


def look_up(page: Page, label: str, value: str) -> None:
    choose(page, page.get_by_role("combobox", name=label), re.compile(f"^{value}$"), search=value)
    settled(page)


@pytest.mark.slow
def test_from_the_data_set_to_all_columns_one_column_and_table_one(page: Page, server: Server) -> None:
    open_page(page, server, "First look")
    expect(page.get_by_text("Noise on a count of a column: ±")).to_be_visible()
    look_up(page, "Groups to compare", "died")
    # Two clicks: review, spend.
    open_review(page)
    spend_button(page).click()
    finished(page)
    cards = page.get_by_role("list", name="All columns").get_by_role("listitem").filter(has=page.locator("h4"))
    expect(cards).to_have_count(12)
    expect(cards.filter(has_text="age").first).to_contain_text("median")
    assert spent(server) == ONE_SPEND

    look_up(page, "Look closer at", "age")
    expect(page.get_by_role("figure", name=re.compile("Distribution of age. Mean"))).to_have_count(2)
    expect(page.get_by_role("heading", name="age by died")).to_be_visible()

    page.get_by_role("tab", name="Table 1").click()
    table = page.get_by_role("table").filter(has_text="Standardised difference")
    expect(table.get_by_role("row").filter(has_text="People")).to_be_visible()
    expect(table.get_by_role("columnheader", name="yes")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download for Word").click()
    assert download.value.suggested_filename.endswith("-table-1.doc")
    assert "Table 1. Columns by died" in Path(download.value.path()).read_text()
    assert spent(server) == ONE_SPEND
