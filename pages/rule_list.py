"""Set up, review, run and read a private rule list."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import RULE_LIST

workbench.page(RULE_LIST)
