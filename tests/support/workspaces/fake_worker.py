"""A worker that knows the fake learner and, on request, has no disk from a given point."""

from __future__ import annotations

import os
import resource
from typing import Any

from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs import worker
from tests.support.workspaces.fake_learner import register

#: Where the disk of the home may fill up, and what is done there.
_METHODS = {"full before a touch": "touch", "full before commit": "commit"}
FULL_POINTS = tuple(_METHODS)
VARIABLE = "FROSTGLASS_TEST_FULL"


def install(point: str) -> None:
    original = getattr(Ledger, _METHODS[point])

    def call(*arguments: Any, **named: Any) -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        return original(*arguments, **named)

    worker.PATIENCE = 0.2  # It stays full.
    setattr(Ledger, _METHODS[point], call)


def main() -> None:
    register()
    if os.environ.get(VARIABLE):
        install(os.environ[VARIABLE])
    worker.main(warm=False)


if __name__ == "__main__":
    main()
