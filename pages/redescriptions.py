"""Set up, review, run and read private redescriptions."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import REDESCRIPTIONS

workbench.page(REDESCRIPTIONS)
