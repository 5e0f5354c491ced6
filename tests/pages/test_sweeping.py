"""The hourly sweep beside the pages."""

from __future__ import annotations

import logging
from threading import Event
from typing import cast

import pytest

from dpcore.errors import InstallationError
from dpcore.service import Service
from pages.components.server import sweeping


class Hours(Event):
    """So many hours pass at once, then the application ends."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.waited: list[float | None] = []
        self._count = count

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        return len(self.waited) > self._count


class Sweeper:
    """In place of the service: some of its sweeps fail."""

    def __init__(self, faults: dict[int, Exception]) -> None:
        self.begun = 0
        self._faults = faults

    def sweep(self) -> None:
        self.begun += 1
        if self.begun in self._faults:
            raise self._faults[self.begun]


def test_one_error_does_not_end_the_sweeps(caplog: pytest.LogCaptureFixture) -> None:
    service, hours = Sweeper({1: OSError("/home/secret"), 3: ValueError("Ann")}), Hours(4)
    with caplog.at_level(logging.ERROR, "frostglass.app"):
        sweeping.sweep(hours, lambda: cast(Service, service))
    assert service.begun == 4
    assert hours.waited == [3600] * 5
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"old uploads could not be removed: {kind}" for kind in ("OSError", "ValueError")]


def test_an_installation_that_is_away_for_an_hour_is_swept_in_the_next() -> None:
    service, opened = Sweeper({}), iter([False, True])

    def installation() -> Service:
        if not next(opened):
            raise InstallationError("The database cannot be reached.")
        return cast(Service, service)

    sweeping.sweep(Hours(2), installation)
    assert service.begun == 1
