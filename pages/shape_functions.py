"""Set up, review, run and read a private explainable boosting machine."""

from __future__ import annotations

from pages.components.families.registry import EBM
from pages.components.run import workbench

workbench.page(EBM)
