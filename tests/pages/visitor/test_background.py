"""Work beside a page: few at once, each in its turn, and none for nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Event
from types import SimpleNamespace

import pytest

from dpcore.service import Service
from pages.components.visitor import access, background
from pages.components.visitor.background import QueuedTask


@dataclass
class Holding(QueuedTask):
    """Work that goes on until it may end."""

    failed = "It failed."

    begun: Event = field(default_factory=Event)
    may_end: Event = field(default_factory=Event)
    made: bool = False

    def make(self, service: Service) -> None:
        self.begun.set()
        while not self.may_end.wait(0.01):
            self.tell(1, 2)
        self.made = True


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Holding]]:
    """Three of them, with a place for one."""
    monkeypatch.setattr(background, "_PLACES", BoundedSemaphore(1))
    monkeypatch.setattr(background, "_LOOK", 0.01)
    works = [Holding() for _ in range(3)]
    yield works
    for work in works:
        work.stop.set()
        ended(work)


def begin(work: Holding) -> None:
    work.start(access.installation())


def ended(work: Holding) -> bool:
    if work.thread is not None:
        work.thread.join(30)
    return not work.active


def test_work_beyond_the_places_waits_for_its_turn(works: list[Holding]) -> None:
    first, second, third = works
    begin(first)
    assert first.begun.wait(30)
    begin(second)
    begin(third)
    assert (first.waiting, second.waiting, third.waiting) == (False, True, True)
    second.stop.set()
    assert ended(second)
    assert not second.begun.is_set()
    assert not second.problem
    first.may_end.set()
    assert third.begun.wait(30)
    assert ended(first)
    third.may_end.set()
    assert ended(third)
    assert [work.made for work in works] == [True, False, True]


def test_a_place_is_free_again_after_a_fault(works: list[Holding], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _ = works

    def fail(_self: Holding, _done: int, _total: int) -> None:
        raise ValueError

    with monkeypatch.context() as faulty:
        faulty.setattr(Holding, "tell", fail)
        begin(first)
        assert ended(first)
    assert first.problem == "It failed."
    begin(second)
    assert second.begun.wait(30)


def test_work_ends_some_time_after_its_page_is_gone(works: list[Holding], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = works
    there = {"a", "b"}
    now = [0.0]
    server = SimpleNamespace(is_active_session=lambda session: session in there)
    monkeypatch.setattr(background.runtime, "exists", lambda: True)
    monkeypatch.setattr(background.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(background, "monotonic", lambda: now[0])
    for work, session in ((first, "a"), (second, "b")):
        monkeypatch.setattr(
            background, "get_script_run_ctx", lambda session=session: SimpleNamespace(session_id=session)
        )
        begin(work)
        assert work is second or work.begun.wait(30)
    there.remove("a")
    now[0] = background.AWAY - 1
    assert not third.begun.wait(0.05)
    assert first.active, "it may come back"
    now[0] = background.AWAY + 1
    assert ended(first)
    assert not first.made
    assert second.begun.wait(30), "its page is there"
