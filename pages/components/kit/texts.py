"""Help texts, kept as Markdown files in ``assets/help``, and words used in several places."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dpcore.report.names import METHODS, STEPS, step_name

__all__ = ["ASSETS", "METHODS", "STEPS", "step_name", "text"]
ASSETS = Path(__file__).resolve().parents[3] / "assets"


@cache
def text(name: str) -> str:
    """The help text called ``name``."""
    return (ASSETS / "help" / f"{name}.md").read_text(encoding="utf-8").strip()
