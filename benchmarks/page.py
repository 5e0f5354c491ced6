"""``docs/benchmarks.md``: made of the texts and the results of every suite in ``results/``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.results import FOLDER, Layout, Stored
from benchmarks.suites import SUITES, find

PAGE: Final = Path(__file__).parents[1] / "docs" / "benchmarks.md"
#: Where the tables stand in the text of a suite.
TABLES: Final = "{tables}"


def page() -> str:
    """The whole page."""
    parts = [(FOLDER / "page.md").read_text(encoding="utf-8").strip(), *map(section, SUITES)]
    return "\n\n".join(parts) + "\n"


def section(name: str) -> str:
    """Text of a suite, with its tables in their place."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    stored = Stored.read(FOLDER / f"{name}.json")
    return text.replace(TABLES, measured(stored, find(name).layouts))


def measured(stored: Stored, layouts: tuple[Layout, ...]) -> str:
    """Tables of results, and the commands that measured what they show."""
    results = [result for _, result in stored.results]
    tables = [table.markdown() for layout in layouts if (table := layout.table(results))]
    shown = {place for place, own in stored.results for layout in layouts if layout.shows(own)}
    runs = [run for place, run in enumerate(stored.runs) if place in shown]
    commands = "; ".join(dict.fromkeys(f"`{run['command']}`" for run in runs))
    notes = [note for run in runs for note in run["notes"]]
    return "\n\n".join([*tables, *notes, *([f"Measured by {commands}."] if commands else [])])
