"""Help texts, kept as Markdown files in ``assets/help``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@cache
def text(name: str) -> str:
    """The help text called ``name``."""
    return (ASSETS / "help" / f"{name}.md").read_text(encoding="utf-8").strip()
