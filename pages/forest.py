"""Set up, review, run and read a private forest."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import FOREST

workbench.page(FOREST)
