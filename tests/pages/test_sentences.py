"""Sentences that say what is so: of what waits, of what was looked at, of conditions joined, of counts of records."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_reading import tree_groups
from dpcore.privacy.losses import pure_loss
from pages.components.run import meter
from tests.support.pages.ward_runs import balance
from tests.support.results.hand_made_trees import sample
from tests.support.texts import lacking


def test_what_a_waiting_run_reserves_is_not_called_spent() -> None:
    """It may be cancelled for free, as the card of the run says."""
    found = balance("5", "1", "4")
    [told, room] = found.cap_states
    waiting = replace(told, total=told.total + pure_loss(Decimal("0.5")))
    shown = meter.meter_html(replace(found, cap_states=(waiting, room)), found)
    assert not lacking(shown, "Spent</span><b>20 %", "Reserved</span><b>10 %")


def test_conditions_with_an_or_are_in_brackets_wherever_a_tree_is_read() -> None:
    tree = sample()
    told = {own.place: " and ".join(own.conditions) for own in tree_groups(SimpleNamespace(target="ill"), tree).groups}
    assert told == {place: pretty(tree.condition(place)) for place in tree.finals}
    assert "age ≤ 60 and (odor = other or missing)" in told.values()
