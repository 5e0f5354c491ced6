"""Sentences that say what is so: of what waits, of what was looked at, of conditions joined, of counts of records."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_reading import tree_groups
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.visitor import access
from tests.support.pages.page_tools import open_page, press, words
from tests.support.pages.ward_runs import add_ward
from tests.support.results.hand_made_trees import sample


def test_what_a_waiting_run_reserves_is_not_called_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be cancelled for free, as the card of the run says."""
    dataset_id, price = add_ward(budget="5"), Service.quote

    def with_reserved(service: Service, request: RunRequest) -> Quote:
        found = price(service, request)
        [cap_state] = found.balance.cap_states
        waiting = replace(cap_state, total=cap_state.total + pure_loss(Decimal("0.5")))
        return replace(found, balance=found.balance.exchanged(cap_state, waiting))

    for called, prices in (("spent", price), ("spent or reserved", with_reserved)):
        monkeypatch.setattr(Service, "quote", prices)
        app = open_page("rule_list")
        app.text_input(key="epsilon").set_value("0.1").run()
        shown = words(press(app, "Review and spend"))
        for line in ("Budget before", "Budget after"):
            assert re.search(rf"{line}</th><td>ε [\d.]+ {called}, ε [\d.]+ left", shown)
    assert access.service().releases(dataset_id) == []


def test_conditions_with_an_or_are_in_brackets_wherever_a_tree_is_read() -> None:
    tree = sample()
    told = {own.place: " and ".join(own.conditions) for own in tree_groups(SimpleNamespace(target="ill"), tree).groups}
    assert told == {place: pretty(tree.condition(place)) for place in tree.finals}
    assert "age ≤ 60 and (odor = other or missing)" in told.values()
