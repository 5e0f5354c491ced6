"""What this machine can do: measured on invented records, kept in the home folder.

The figures are a function of the machine alone. They turn the work of a run, which is public
(:mod:`dpcore.released.workload`), into seconds.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from dpcore.frozen import FrozenModel
from dpcore.released.workload import DurationForecast, Work, Workload
from dpcore.version import __version__
from dpcore.workspace.database.owners import open_private

_FILE: Final = "machine.json"
#: Bytes of a process that is ready to run models: much the same on every machine.
_READY: Final = 3e8


def this_machine() -> str:
    """Processor, cores and version of the program: figures that were measured for others do not hold."""
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, version {__version__}"


class Machine(FrozenModel):
    """Seconds that one core takes for a unit of each kind of work; by default usual ones."""

    name: str = Field(default_factory=this_machine)
    """What was measured, see :func:`this_machine`."""
    word: float = Field(default=5e-10, gt=0)
    place: float = Field(default=1.5e-9, gt=0)
    draw: float = Field(default=7e-6, gt=0)
    call: float = Field(default=1e-4, gt=0)
    """``word``, ``place``, ``draw``, ``call``: seconds of one unit of :class:`dpcore.released.workload.Work`."""

    def seconds(self, work: Work, cores: int = 1) -> float:
        """Seconds for some work on so many cores, as far as they can share it."""
        shared = work.words * self.word + work.places * self.place
        return shared / min(cores, work.cores or cores) + work.draws * self.draw + work.calls * self.call

    def forecast(self, workload: Workload) -> DurationForecast:
        """What a run takes here, on all cores."""
        cores = os.cpu_count() or 1
        steps = {name: self.seconds(work, cores) for name, work in workload.steps.items()}
        return DurationForecast(steps, _READY + workload.bytes)


def machine_of(home: Path) -> Machine:
    """What was measured on this machine, or usual figures if nothing was."""
    return kept_machine(home) or Machine()


def kept_machine(home: Path) -> Machine | None:
    """What was measured on this machine by this version of the program, if it was."""
    with suppress(OSError, ValidationError):
        kept = Machine.model_validate_json((home / _FILE).read_bytes())
        return kept if kept.name == this_machine() else None
    return None


def keep(home: Path, machine: Machine) -> None:
    """Keep what was measured, if the home folder lets itself be written to."""
    part = home / f"{_FILE}.{os.getpid()}"
    with suppress(OSError):
        with os.fdopen(open_private(part, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as stream:
            stream.write(machine.model_dump_json(indent=1) + "\n")
        part.replace(home / _FILE)
