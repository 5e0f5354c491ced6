"""Set up, review, run and read private relational rules."""

from __future__ import annotations

from pages.components.families.registry import ILP
from pages.components.run import workbench

workbench.page(ILP)
