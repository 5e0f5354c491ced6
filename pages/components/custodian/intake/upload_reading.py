"""Reading an upload beside the page: how far it is, a way to stop, one at a time for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

import streamlit as st

from dpcore.intake.sources.choices import Choices, choosing
from dpcore.numerals import whole
from pages.components.custodian.intake import reading_choices
from pages.components.kit import drawing
from pages.components.kit.markup import plain
from pages.components.visitor import access, login
from pages.components.visitor.background import BackgroundTask

if TYPE_CHECKING:
    from dpcore.intake.process.readers import Watch
    from dpcore.service import Service

#: Seconds that a page waits for an answer before it shows progress instead.
PATIENCE = 2.5
#: How many times as long it waits with a form in sight, which goes while progress is shown, and
#: with it what was typed there and not sent.
WITH_FORM = 4
_current: dict[str, Reading] = {}
_lock = Lock()


@dataclass(kw_only=True)
class Reading(BackgroundTask):
    """One question about the files on a desk, or their storing.

    Attributes
    ----------
    what : str
        What is being done, for the visitor.
    action : callable
        Does it; what it finds out it keeps itself.
    table : str
        The table that is being read, ``done`` rows of it so far.
    choices : Choices
        How files are read: what was answered when it began.
    """

    failed: ClassVar[str] = "This did not work, and nothing was stored. Please try again."

    what: str
    action: Callable[[Service, Watch], None]
    table: str = ""
    choices: Choices = field(default_factory=reading_choices.current)

    def make(self, service: Service) -> None:
        with choosing(self.choices):
            self.action(service, self._watch)

    def _watch(self, table: str, rows: int) -> None:
        self.table = table
        self.tell(rows, 0)

    @property
    def words(self) -> str:
        """How far it is."""
        if not self.done:
            return f"{self.what} …"
        table = f" of '{plain(self.table)}'" if self.table else ""
        return f"{self.what}: {whole(self.done)} rows{table} so far"


def current() -> Reading | None:
    """What is being read for this visitor, whichever of their pages began it."""
    with _lock:
        work = _current.get(login.user().name)
    return work if work is not None and work.active else None


def begin(what: str, action: Callable[[Service, Watch], None], *, with_form: bool = True) -> Reading:
    """Begin, unless something of this visitor's is under way; wait for it a little while."""
    name, service = login.user().name, access.service()
    with _lock:
        work = _current.get(name)
        if work is None or not work.active:
            work = _current[name] = Reading(what=what, action=action)
            work.start(service)
    if work.thread is not None:
        work.thread.join(PATIENCE * WITH_FORM if with_form else PATIENCE)
    return work


def wait(work: Reading) -> None:
    """Show progress until it is done, then draw the page again."""
    with st.container(border=True, key="card-reading"):
        _follow(work)
        st.button("Cancel", key="cancel-reading", on_click=work.stop.set)
        st.caption("You may leave this page: what you uploaded and typed stays here.")


@drawing.every(1)
def _follow(work: Reading) -> None:
    login.follow()
    if not work.active:
        drawing.again()
    st.markdown(f"**{work.words}**")
