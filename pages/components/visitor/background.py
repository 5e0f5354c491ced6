"""Free work that takes a while, in a thread that never touches the page; the page waits for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, ClassVar

import streamlit as st

from dpcore.errors import FrostglassError
from pages.components.kit import faults, refresh
from pages.components.visitor import login

if TYPE_CHECKING:
    from dpcore.service import Service


class Stopped(Exception):  # noqa: N818  Stopping on request is not an error.
    """The visitor does not want to wait any longer."""


@dataclass(kw_only=True)
class Work(ABC):
    """Something that is being made; a subclass says what, in :meth:`make`.

    Attributes
    ----------
    done, total : int
        Progress, in parts that take about as long as each other.
    problem : str
        Why it could not be made, once that is known.
    """

    failed: ClassVar[str]

    done: int = 0
    total: int = 0
    problem: str = ""
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


def wait(work: Work, units: str, button: str, key: str) -> None:
    """Progress, and a way to stop."""
    _follow(work, units)
    st.button(button, key=key, on_click=work.stop.set)


@refresh.every(1)
def _follow(work: Work, units: str) -> None:
    login.follow()
    if not work.active:
        refresh.page()
    share = work.done / work.total if work.total else 0.0
    st.progress(share, text=f"{work.done} of {work.total or '…'} {units}")
