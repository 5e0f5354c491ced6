"""What waits to be sent to a browser: set as prose is set, and with the end of each part's run as it was."""

from __future__ import annotations

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.components.kit.typesetting import unparted

#: Pieces of a page that hold prose, whatever wrote it.
_PROSE = ("markdown", "html", "alert", "heading")


class Delivery(ForwardMsgQueue):
    """Messages to one browser: signs keep their numbers, and the end of a part's run is told as it was.

    A browser removes what a run has not drawn again once it hears that the run went well. If
    another part starts before that was sent, Streamlit tells it that the run was broken off,
    although all that the run drew is sent: what was there before would stay on the page.
    """

    def enqueue(self, msg: ForwardMsg) -> None:
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
