"""``python -m benchmarks SUITE``: measure, compare, print, write the page or JSON."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from unittest.mock import patch

import typer

from benchmarks.suites import application, families, privacy, speed

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)


@app.callback()
def _suites(context: typer.Context) -> None:
    """Measured comparisons with the papers and with peer programs."""
    folder = context.with_resource(
        TemporaryDirectory()
    )  # Homes of benchmarks are temporary, and so are their witnesses.
    context.with_resource(patch.dict(os.environ, {"FROSTGLASS_WITNESS": folder}))


for _suites_of in (families, privacy, speed, application):
    app.add_typer(_suites_of.app)


if __name__ == "__main__":
    app()
