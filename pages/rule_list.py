"""Set up, review, run and read a private rule list."""

from __future__ import annotations

from pages.components.families.registry import RULE_LIST
from pages.components.run import workbench

workbench.page(RULE_LIST)
