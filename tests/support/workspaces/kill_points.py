"""A process that is killed at one of the points inside the program at which something lasting is done.

Every such point is met in turn: before and after each commit, before something is forced to disk, before and after
it is moved or exchanged there, and before a model is fitted. Points bear the name of the step that they lie in.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.service import Service
from dpcore.workspace.database.installation import _Watch
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs.queue import RunQueue
from tests.support.workspaces.fake_learner import FakeLearner, fake_request, register, small_frame, small_schema
from tests.support.workspaces.forked import CONTEXT

_STEPS: dict[str, tuple[Any, str]] = {
    "reserve": (Ledger, "reserve"),
    "claim": (RunQueue, "claim"),
    "touch": (Ledger, "touch"),
    "fit": (FakeLearner, "run"),
    "commit": (Ledger, "commit"),
    "folder": (Store, "_write"),
    "entry": (Store, "enter"),
}
COST = "0.5"


class _Points:
    """Notes the points that are met, of those of one name the first, and ends the process at one of them."""

    def __init__(self, fatal: int, noted: Path) -> None:
        self._fatal, self._noted = fatal, noted
        self._names, self._steps = list[str](), list[str]()

    def meet(self, name: str) -> None:
        """A point, or the end."""
        name = " ".join([*self._steps[-1:], name])
        if name in self._names:
            return
        self._names.append(name)
        if len(self._names) > self._fatal:
            self._noted.write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)

    def in_step(self, holder: Any, name: str, label: str) -> None:
        """Name the points within a function."""
        real = getattr(holder, name)

        def call(*details: Any, **more: Any) -> Any:
            self._steps.append(label)
            done = real(*details, **more)
            self._steps.pop()
            return done

        setattr(holder, name, call)

    def around(self, holder: Any, name: str, *, after: bool) -> None:
        """Make points of what comes before, or before and after, a function."""
        real = getattr(holder, name)

        def call(*details: Any, **more: Any) -> Any:
            self.meet(f"before {name}")
            done = real(*details, **more)
            if after:
                self.meet(f"after {name}")
            return done

        setattr(holder, name, call)

    def around_commits(self) -> None:
        """Make points of what is written and not committed, and of what is committed and not marked in the home."""
        real = _Watch.after

        def after(watch: _Watch, connection: Any) -> Callable[[], object]:
            then = real(watch, connection)
            self.meet("written")

            def marked() -> None:
                self.meet("committed")
                then()

            return marked

        _Watch.after = after  # type: ignore[method-assign]


def _install(fatal: int, noted: Path) -> None:
    points = _Points(fatal, noted)
    points.around_commits()
    for holder, name, after in ((os, "fsync", False), (Path, "rename", True), (Path, "replace", True)):
        points.around(holder, name, after=after)
    points.around(FakeLearner, "run", after=False)
    for label, (holder, name) in _STEPS.items():
        points.in_step(holder, name, label)


def run(service: Service, number: int) -> None:
    """A run on 'ward'."""
    request = fake_request(service.dataset("ward").id, COST, units=1)
    service.run(service.submit(request, f"nonce {number}"))


def add(service: Service, number: int) -> None:
    """A data set of other people."""
    service.add_dataset(small_frame(), small_schema(f"added {number}"), budget=Decimal(1))


def replace(service: Service, number: int) -> None:
    """The next version of 'ward'."""
    service.add_dataset(small_frame(), small_schema(), replaces="ward")


def append(service: Service, number: int) -> None:
    """Further rows of 'ward'."""
    service.append_rows("ward", small_frame().assign(who=np.arange(100) + 100 * number))


OPERATIONS = {work.__name__: work for work in (run, add, replace, append)}


def _die(home: str, url: str, operation: str, number: int, noted: str) -> None:
    """Do something, and be killed at the point of this number, if it is met."""
    register()
    with Service(home, url, workers=0) as service:
        _install(number, Path(noted))
        OPERATIONS[operation](service, number)


def killed_at_each_point(home: Path, url: str, operation: str) -> Iterator[tuple[int, str]]:
    """Kill a process at each point of an operation, and tell its number and name, until one is killed at none."""
    number, noted = 0, home.with_name("point")
    while True:
        process = CONTEXT.Process(target=_die, args=(str(home), url, operation, number, str(noted)))
        process.start()
        process.join(120)
        if process.exitcode == 0:
            return
        assert process.exitcode == -signal.SIGKILL, f"it ended by itself, with {process.exitcode}"
        yield number, noted.read_text()
        number += 1
