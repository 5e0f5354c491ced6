"""Help texts, kept as Markdown files in ``assets/help``, and words used in several places."""

from __future__ import annotations

from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
#: What the steps of a run are called, wherever a budget is divided among them.
STEPS = {
    "antecedents": "finding conditions",
    "list": "choosing the list",
    "estimates": "noisy counts",
    "evaluation": "hold-out check",
}


@cache
def text(name: str) -> str:
    """The help text called ``name``."""
    return (ASSETS / "help" / f"{name}.md").read_text(encoding="utf-8").strip()
