"""Set up, review, run and read a private explainable boosting machine."""

from __future__ import annotations

from pages.components import workbench
from pages.components.families import EBM

workbench.page(EBM)
