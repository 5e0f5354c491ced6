"""Set up, review, run and read a private decision tree."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import TREE

workbench.page(TREE)
