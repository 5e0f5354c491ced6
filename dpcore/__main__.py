"""The command line: ``python -m dpcore --help``."""

from __future__ import annotations

from dpcore.commands import app

if __name__ == "__main__":
    app(prog_name="python -m dpcore")
