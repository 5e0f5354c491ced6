"""What waits to be sent to a browser: set as prose is set, and with runs of parts told as what they are."""

from __future__ import annotations

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.components.kit.markup import unparted

#: Pieces of a page that hold prose, whatever wrote it.
_PROSE = ("markdown", "html", "alert", "heading")


class Delivery(ForwardMsgQueue):
    """Messages to one browser: signs keep their numbers, and runs of parts are told as what they are.

    A browser removes what a run has not drawn again once it hears that the run went well. If
    another part starts before that was sent, Streamlit tells it that the run was broken off,
    although all that the run drew is sent: what was there before would stay on the page.

    A browser clears a page when it hears that the next run is one of another page. A part's run is said to be on the
    page that the browser named when it asked: a slow one may not have known yet where it is, or be elsewhere by now.
    Then nearly all is gone, and a message about a place that was there ends the page.
    """

    def __init__(self) -> None:
        super().__init__()
        #: The page that was drawn last.
        self._page = ""

    def enqueue(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "navigation":
            self._page = msg.navigation.page_script_hash
        elif msg.WhichOneof("type") == "new_session" and msg.metadata.run.fragment_ids and self._page:
            msg.new_session.page_script_hash = self._page
        kind = msg.delta.new_element.WhichOneof("type") if msg.WhichOneof("type") == "delta" else None
        if kind in _PROSE:
            piece = getattr(msg.delta.new_element, kind)
            piece.body = unparted(piece.body)
        super().enqueue(msg)

    def clear(self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None) -> None:
        ends = [
            (message, message.script_finished)
            for message in self._queue
            if message.WhichOneof("type") == "script_finished"
            and (ended := message.metadata.run.fragment_ids)
            and fragment_ids_this_run is not None
            and set(ended).isdisjoint(fragment_ids_this_run)
        ]
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        for message, status in ends:
            message.script_finished = status


def install() -> None:
    """Let every session that begins from now on send so."""
    app_session.ForwardMsgQueue = Delivery  # type: ignore[attr-defined]
