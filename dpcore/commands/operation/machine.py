"""Commands about what answers questions: this machine, and what it can do, or a cluster."""

from __future__ import annotations

import typer

from dpcore.data.execution.executor_choice import configured_executor
from dpcore.workspace.database.database import default_home
from dpcore.workspace.database.home import usable
from dpcore.workspace.runs.calibration import calibrate as measure


def cluster() -> None:
    """Say who answers questions to the records: this machine, or a Dask cluster and its dashboard."""
    typer.echo(configured_executor().status())


def calibrate() -> None:
    """Measure again what this machine can do, and keep it: it tells what runs will take."""
    folder = default_home().resolve()
    with usable(folder):
        machine = measure(folder, again=True)
    typer.echo(
        f"{machine.name}\n"
        f"a word of bit vectors:    {machine.word * 1e9:.2f} ns\n"
        f"a place of the table:     {machine.place * 1e9:.2f} ns\n"
        f"a number of noise:        {machine.draw * 1e6:.1f} us\n"
        f"a question to the table:  {machine.call * 1e6:.0f} us"
    )
