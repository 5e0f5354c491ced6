"""A worker that knows the fake learner and, on request, kills itself or has no disk from a given point."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from typing import Any

from dpcore.workspace import worker
from dpcore.workspace.ledger import Ledger
from dpcore.workspace.queue import RunQueue
from tests.support.fake_learner import FakeLearner, register

#: The life of a run in order. Up to "claimed" nothing was touched; from "committed" all is done.
KILL_POINTS = ("claimed", "touched", "running", "before commit", "in commit", "committed")
#: Where the disk of the home may fill up.
FULL_POINTS = ("full before a touch", "full before commit")
VARIABLE = "FROSTGLASS_TEST_KILL"


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(original: Callable[..., Any]) -> Callable[..., Any]:
    return die


def after(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> None:
        original(*arguments, **named)
        die()

    return call


def filled(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        return original(*arguments, **named)

    return call


def install(point: str) -> None:
    places: dict[str, tuple[Any, str, Callable[..., Any]]] = {
        "claimed": (Ledger, "touch", before),
        "touched": (Ledger, "touch", after),
        "running": (FakeLearner, "run", before),
        "before commit": (Ledger, "commit", before),
        "in commit": (RunQueue, "_mark_done", after),
        "committed": (Ledger, "commit", after),
        "full before a touch": (Ledger, "touch", filled),
        "full before commit": (Ledger, "commit", filled),
    }
    if point in FULL_POINTS:
        worker.PATIENCE = 0.2  # It stays full.
    holder, name, wrap = places[point]
    setattr(holder, name, wrap(getattr(holder, name)))


def main() -> None:
    register()
    if os.environ.get(VARIABLE):
        install(os.environ[VARIABLE])
    worker.main(warm=False)


if __name__ == "__main__":
    main()
