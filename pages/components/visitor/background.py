"""Free work that takes a while, in a thread that never touches the page; the page waits for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.cores import core_count
from dpcore.errors import FrostglassError
from pages.components.kit import drawing, faults
from pages.components.visitor import login

if TYPE_CHECKING:
    from dpcore.service import Service


#: Works of :class:`QueuedTask` that may be under way at once, whoever began them.
_PLACES = BoundedSemaphore(max(2, core_count()))
#: Seconds between two looks whether somebody still waits for a place.
_LOOK: Final = 0.2
#: Seconds for which a page may be away, as while it is loaded again, before nobody waits any longer.
AWAY = 60.0


class Stopped(Exception):  # noqa: N818  Stopping on request is not an error.
    """The visitor does not want to wait any longer."""


@dataclass(kw_only=True)
class BackgroundTask(ABC):
    """Something that is being made; a subclass says what, in :meth:`make`.

    Attributes
    ----------
    done, total : int
        Progress, in parts that take about as long as each other.
    problem : str
        Why it could not be made, once that is known.
    waiting : bool
        Whether it has not begun yet, because others are under way.
    """

    failed: ClassVar[str]

    done: int = 0
    total: int = 0
    problem: str = ""
    waiting: bool = False
    stop: Event = field(default_factory=Event)
    thread: Thread | None = None

    @property
    def active(self) -> bool:
        """Whether there is something to wait for."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, service: Service) -> None:
        """Begin, beside the page."""
        self.thread = Thread(target=self._run, args=(service,), daemon=True)
        self.thread.start()

    @abstractmethod
    def make(self, service: Service) -> None:
        """Do the work, reporting by :meth:`tell`."""

    def tell(self, done: int, total: int) -> None:
        """Note progress; ends the work if the visitor wants that."""
        if self.stop.is_set():
            raise Stopped
        self.done, self.total = done, total

    def _run(self, service: Service) -> None:
        problem = self.failed
        try:
            self.make(service)
            problem = ""
        except Stopped:
            problem = ""
        except FrostglassError as mistake:
            problem = str(mistake)
        except Exception as fault:  # noqa: BLE001  A thread would print its text, which may quote a record.
            faults.note(fault, "work beside a page")
        finally:
            self.problem = problem


@dataclass(kw_only=True)
class QueuedTask(BackgroundTask):
    """Work of minutes for one page alone: few are under way at once, and none goes on for long without its page.

    Attributes
    ----------
    is_there : callable
        Whether the visitor's page is still there.
    seen : float
        When it was last, in seconds of a clock that never goes back.
    """

    is_there: Callable[[], bool] = field(default=lambda: True)
    seen: float = 0.0

    def start(self, service: Service) -> None:
        """Begin as soon as there is a place."""
        self.is_there, self.seen, self.waiting = _this_page(), monotonic(), True
        super().start(service)

    def tell(self, done: int, total: int) -> None:
        """Note progress; ends the work if nobody waits for it."""
        if self._is_left():
            raise Stopped
        super().tell(done, total)

    def _run(self, service: Service) -> None:
        while not _PLACES.acquire(timeout=_LOOK):
            if self.stop.is_set() or self._is_left():
                return
        self.waiting = False
        try:
            super()._run(service)
        finally:
            _PLACES.release()

    def _is_left(self) -> bool:
        """Whether the page has been away for long."""
        now = monotonic()
        if self.is_there():
            self.seen = now
        return now - self.seen > AWAY


def _this_page() -> Callable[[], bool]:
    """Whether the visitor's page is there, for threads that never touch it."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return lambda: True
    server, session = runtime.get_instance(), context.session_id
    return lambda: server.is_active_session(session)


def wait(work: BackgroundTask, units: str, button: str, key: str) -> None:
    """Progress, and a way to stop."""
    _follow(work, units)
    st.button(button, key=key, on_click=work.stop.set)


@drawing.every(1)
def _follow(work: BackgroundTask, units: str) -> None:
    login.follow()
    if not work.active:
        drawing.again()
    if work.waiting:
        st.progress(0.0, text="Waiting until work of other pages is done …")
        return
    share = work.done / work.total if work.total else 0.0
    st.progress(share, text=f"{work.done} of {work.total or '…'} {units}")
