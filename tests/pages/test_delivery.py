"""A browser is told that the run of a part went well, whatever runs next."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session

from pages.components.server import delivery
from pages.components.server.delivery import Delivery

ENDED, BROKEN_OFF = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN


def told(of: list[str], status: int, following: list[str] | None) -> int:
    """The end of a run that a browser hears of, if another run begins before it is sent."""
    queue, end = Delivery(), ForwardMsg()
    end.script_finished = status
    end.metadata.run.fragment_ids.extend(of)
    queue.enqueue(end)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=following)
    [message] = queue.flush()
    return message.script_finished


def test_sessions_send_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_session, "ForwardMsgQueue", app_session.ForwardMsgQueue)
    delivery.install()
    assert app_session.ForwardMsgQueue is Delivery


@pytest.mark.parametrize("status", [ENDED, BROKEN_OFF])
def test_another_part_changes_nothing(status: int) -> None:
    assert told(["picture"], status, ["meter"]) == status


@pytest.mark.parametrize("following", [["picture"], ["meter", "picture"], None])
def test_what_is_drawn_anew_was_broken_off(following: list[str] | None) -> None:
    assert told(["picture"], ENDED, following) == BROKEN_OFF
