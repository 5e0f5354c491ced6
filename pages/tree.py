"""Set up, review, run and read a private decision tree."""

from __future__ import annotations

from pages.components.families.registry import TREE
from pages.components.run import workbench

workbench.page(TREE)
