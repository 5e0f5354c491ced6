"""Cards of runs: stopping one costs only what was asked about, and none moves under a press."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from dpcore.errors import ConflictError
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunStatus
from pages.components.run import progress, runs_list
from tests.support.pages.page_tools import at_run, checked, words
from tests.support.pages.ward_runs import add_ward, run_status


class Runs:
    """Runs of a data set, in states of one's choice; what was asked of the service about them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dataset_id: str, **states: str) -> None:
        self.dataset_id, self.states, self.asked = dataset_id, states, []
        self.free: list[str] = []
        monkeypatch.setattr(Service, "run", lambda _, run_id: self._status(run_id))
        monkeypatch.setattr(Service, "runs", lambda *_, active=False: self._list(active))
        monkeypatch.setattr(Service, "cancel", self._cancel)

    def _status(self, run_id: str) -> RunStatus:
        return run_status(self.dataset_id, run_id, self.states[run_id])

    def _list(self, active: bool) -> list[RunStatus]:
        found = [self._status(run_id) for run_id in reversed(self.states)]
        return [status for status in found if status.active or not active]

    def _cancel(self, run_id: str, *, only_free: bool = False) -> RunStatus:
        self.asked.append((run_id, only_free))
        if only_free and self.states[run_id] != "queued":
            raise ConflictError("It goes on.")
        self.states[run_id] = "cancelled"
        return self._status(run_id)


def stop_buttons(app) -> list[str]:
    return [b.key for b in app.button if b.key and b.key.startswith(("cancel-", "stop-"))]


def test_a_press_of_the_free_button_costs_nothing_if_the_run_has_begun(monkeypatch):
    runs = Runs(monkeypatch, add_ward(), a="running", b="queued")
    app = at_run("rule_list", "b")
    assert stop_buttons(app) == ["stop-a", "cancel-b"]
    runs.states["b"] = "running"  # After the button was drawn.
    app.button(key="cancel-b").click().run()
    assert runs.asked == [("b", True)]
    assert runs.states["b"] == "running"
    assert "it goes on, and nothing was lost" in words(checked(app))
    assert stop_buttons(app) == ["stop-a", "stop-b"]


def test_a_run_that_has_begun_is_stopped_only_after_a_question(monkeypatch):
    runs = Runs(monkeypatch, add_ward(), a="running")
    app = at_run("rule_list", "a")
    app.button(key="stop-a").click().run()
    assert runs.asked == []
    assert "its ε 0.50 stays spent" in words(checked(app))
    assert app.button(key="stop-now").disabled
    app.checkbox(key="stop-sure-a").check().run()
    app.button(key="stop-now").click().run()
    assert runs.asked == [("a", False)]
    assert "stop-now" not in stop_buttons(checked(app))


def test_a_run_goes_on_if_the_visitor_says_so(monkeypatch):
    runs = Runs(monkeypatch, add_ward(), a="running")
    app = at_run("rule_list", "a")
    app.button(key="stop-a").click().run()
    app.button(key="stop-not").click().run()
    assert runs.asked == []
    assert stop_buttons(checked(app)) == ["stop-a"]


def test_cards_of_runs_keep_their_places(monkeypatch):
    runs = Runs(monkeypatch, add_ward(), a="running", b="running", c="queued")
    app = at_run("rule_list", "c")
    assert stop_buttons(app) == ["stop-a", "stop-b", "cancel-c"]
    runs.states["a"] = "done"
    headings = [item.value for item in app.run().subheader]
    assert stop_buttons(app) == ["stop-b", "cancel-c"]
    assert sum("ε = 0.50" in heading for heading in headings) == 3, headings
    runs.states["d"] = "queued"
    assert stop_buttons(app.run()) == ["stop-b", "cancel-c", "cancel-d"]
    runs.states["b"] = runs.states["c"] = runs.states["d"] = "done"
    assert sum("ε = 0.50" in item.value for item in checked(app.run()).subheader) == 0


@pytest.mark.parametrize(
    ("seconds", "words_shown"),
    [
        (-5, "50% of the run is done, ready in a few seconds"),
        (41, "50% of the run is done, ready in about 40 seconds"),
        (7200, "50% of the run is done, ready at about "),
    ],
)
def test_a_card_says_when_its_run_should_be_ready(seconds, words_shown, monkeypatch):
    running = run_status(add_ward(), "a", "running")
    status = replace(running, ready=datetime.now(UTC) + timedelta(seconds=seconds + 0.5))
    monkeypatch.setattr(Service, "run", lambda *_: status)
    monkeypatch.setattr(Service, "runs", lambda *_, **__: [status])
    assert words_shown in "".join(item.text for item in at_run("rule_list", "a").get("progress"))


def test_a_run_is_ready_at_a_time_of_the_visitors_clock(monkeypatch):
    ready = datetime.now(UTC) + timedelta(hours=3)
    for zone, shown in (("Asia/Kolkata", ready.astimezone(ZoneInfo("Asia/Kolkata"))), ("Nowhere/Else", ready)):
        monkeypatch.setattr(progress.st, "context", SimpleNamespace(timezone=zone))
        assert progress._ready(ready) == f", ready at about {shown:%H:%M}"


def test_a_run_without_a_result_began_at_a_time_of_the_visitors_clock(monkeypatch):
    failed = run_status(add_ward(), "a", "failed")
    for zone, shown in (("Asia/Kolkata", "2026-01-02 05:30"), ("Nowhere/Else", "2026-01-02 00:00")):
        monkeypatch.setattr(progress.st, "context", SimpleNamespace(timezone=zone))
        [row] = runs_list._rows([failed], people=False)
        assert f">{shown}<" in row


def test_a_question_stays_until_it_is_answered_or_its_run_has_ended(monkeypatch):
    runs = Runs(monkeypatch, add_ward(), a="running", b="queued")
    app = at_run("rule_list", "a")
    app.button(key="stop-a").click().run()
    runs.states["b"] = "running"
    assert "stop-now" in {button.key for button in checked(app.run()).button}
    runs.states["b"] = "failed"
    assert "stop-now" in {button.key for button in checked(app.run()).button}
    runs.states["a"] = "done"
    monkeypatch.setattr(Service, "release", lambda *_: None)
    assert "stop-now" not in {button.key for button in app.run().button}
    assert runs.asked == []
