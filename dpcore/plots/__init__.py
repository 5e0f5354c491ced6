"""Plotly figures of releases. They see a release and nothing else."""

from __future__ import annotations

from dpcore.ebm.words import EBMWords
from dpcore.plots.ebm import (
    MOST_TERMS,
    importance,
    importance_alt,
    importance_figure,
    shape_alt,
    shape_figure,
)
from dpcore.plots.ebm_case import case_alt, case_figure, case_steps
from dpcore.plots.forest import attribute_use_figure, votes_alt, votes_figure
from dpcore.plots.methods import Line, methods_alt, methods_figure
from dpcore.plots.rule_list import rule_list_alt, rule_list_figure
from dpcore.plots.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.tree_layout import group_numbers, readable_levels, rows_in_order

__all__ = [
    "MOST_TERMS",
    "EBMWords",
    "Line",
    "attribute_use_figure",
    "branches_width",
    "case_alt",
    "case_figure",
    "case_steps",
    "group_numbers",
    "importance",
    "importance_alt",
    "importance_figure",
    "methods_alt",
    "methods_figure",
    "readable_levels",
    "rows_in_order",
    "rule_list_alt",
    "rule_list_figure",
    "shape_alt",
    "shape_figure",
    "tree_alt",
    "tree_figure",
    "votes_alt",
    "votes_figure",
]
