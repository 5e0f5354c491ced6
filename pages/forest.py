"""Set up, review, run and read a private forest."""

from __future__ import annotations

from pages.components.families.registry import FOREST
from pages.components.run import workbench

workbench.page(FOREST)
