"""Set up, review, run and read private redescriptions."""

from __future__ import annotations

from pages.components.families.registry import REDESCRIPTIONS
from pages.components.run import workbench

workbench.page(REDESCRIPTIONS)
