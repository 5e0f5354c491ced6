"""Numbers are cut where an earlier first look tells: chosen from a box, said back, and in the review."""

from __future__ import annotations

import os
import re
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from dpcore.workspace.ledger.requests import RunRequest
from tests.browser.steps import choose, open_page, open_review, settled
from tests.support.app_server import Server, spent


@pytest.mark.slow
def test_cut_points_of_a_first_look_are_chosen_said_back_and_reviewed(page: Page, ward: Server) -> None:
    with ward.service() as service:
        [info] = [info for info in service.datasets() if info.name == ward.dataset]
        request = RunRequest(dataset_id=info.id, algorithm="summaries", epsilon=Decimal("0.5"))
        look = service.wait(service.submit(request, os.urandom(9).hex()), 60).release_id
    paid = spent(ward)
    open_page(page, ward, "Tree")
    box = page.get_by_role("combobox", name="Cut points from a first look")
    choose(page, box, re.compile(f"^First look of .*{look[:6]}$"))
    expect(page.get_by_text("Cut points: age at ")).to_be_visible()
    settled(page)
    open_review(page)
    expect(page.get_by_role("dialog")).to_contain_text(f"those of the first look {look[:6]}")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(box).to_have_value(re.compile(f"{look[:6]}$"))
    choose(page, box, re.compile("^None: all cut points of the schema$"))
    expect(page.get_by_text("Cut points: age at ")).to_have_count(0)
    assert spent(ward) == paid
