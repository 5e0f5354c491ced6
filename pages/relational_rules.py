"""Set up, review, run and read private relational rules."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import ILP

workbench.page(ILP)
