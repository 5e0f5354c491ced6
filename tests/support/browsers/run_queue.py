"""A queue whose runs go no further than a test lets them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.runs.processes import ProcessIdentity
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve

NOBODY = (sys.executable, "-c", "import sys; sys.stdin.read()")


@dataclass
class Queue:
    """Runs that go no further than this test lets them."""

    url: str
    service: Service
    dataset_id: str

    def add(self) -> str:
        request = RunRequest(dataset_id=self.dataset_id, target="died", epsilon=Decimal("0.5"), pure=True)
        return self.service.submit(request, os.urandom(9).hex())

    def begin(self, run: str) -> None:
        """As a worker does."""
        self.service._queue.claim(ProcessIdentity.mine(), run)
        self.service._ledger.touch(run)

    def end(self, run: str) -> None:
        self.service._queue.end(run, "failed", "The run failed.")

    def asked_to_stop(self, run: str) -> bool:
        return self.service._queue.report(run, "counts", 1, 2)

    def states(self, *runs: str) -> list[str]:
        return [self.service.run(run).state for run in runs]

    def spent(self) -> Decimal:
        return self.service.balance(self.dataset_id).total.epsilon


def ward(service: Service) -> str:
    """A public data set with a name of its own; returns its id."""
    info = service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(3), public=True)
    service.rename_dataset(info.id, f"ward {info.id}")
    return info.id


@contextmanager
def standing(home: Path) -> Iterator[tuple[Service, Server]]:
    """An application whose queue has no worker but the test."""
    with (
        Service(home, workers=1, worker_command=NOBODY) as service,
        serve(home, FROSTGLASS_WORKERS="0") as server,
    ):
        yield service, server


def queue_of(standing: tuple[Service, Server], dataset_id: str) -> Queue:
    """The queue as the page of rule lists shows it for a data set."""
    service, server = standing
    chosen = replace(server, dataset=service.dataset(dataset_id).name)
    return Queue(chosen.page("rule_list"), service, dataset_id)
