"""A browser is told that the run of a part went well, whatever runs next; signs come with their numbers."""

from __future__ import annotations

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.components.server.delivery import Delivery
from tests.support.rows import for_each

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


@for_each("following", [["picture"], ["meter", "picture"], None])
def test_what_is_drawn_anew_was_broken_off(following: list[str] | None) -> None:
    assert told(["picture"], ENDED, following) == BROKEN_OFF


PARTED = "At ε = 0.50 and δ = 5 · 10⁻⁷, ε 2.00 of ε ≤ ∞: ≈ 35% of e^ε"
#: An underscore stands for a space at which no browser breaks a line.
KEPT = "At ε_=_0.50 and δ_=_5_·_10⁻⁷, ε_2.00 of ε_≤_∞: ≈_35% of e^ε".replace("_", "\N{NO-BREAK SPACE}")


@for_each("kind", ["markdown", "html", "alert", "heading"])
def test_signs_are_sent_with_their_numbers(kind: str) -> None:
    queue, message = Delivery(), ForwardMsg()
    getattr(message.delta.new_element, kind).body = PARTED
    queue.enqueue(message)
    [sent] = queue.flush()
    assert getattr(sent.delta.new_element, kind).body == KEPT


def session(page: str, *parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.fragment_ids.extend(parts)
    return message


def test_the_run_of_a_part_is_on_the_page_that_was_drawn_last_whatever_its_browser_said() -> None:
    queue, drawn = Delivery(), ForwardMsg()
    queue.enqueue(session("unknown yet", "meter"))
    queue.enqueue(session("main"))
    drawn.navigation.page_script_hash = "rules"
    queue.enqueue(drawn)
    for page, parts in (("main", ["meter"]), ("", ["meter", "picture"]), ("elsewhere", [])):
        queue.enqueue(session(page, *parts))
    told = [message.new_session.page_script_hash for message in queue.flush() if message.HasField("new_session")]
    assert told == ["unknown yet", "main", "rules", "rules", "elsewhere"]
