"""Set up, review, run and read a private first look at all columns."""

from __future__ import annotations

from pages.components.families.registry import SUMMARIES
from pages.components.run import workbench

workbench.page(SUMMARIES)
