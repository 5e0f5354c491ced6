"""Plotly figures of releases. They see a release and nothing else."""

from __future__ import annotations

from dpcore.plots.forest import attribute_use_figure, votes_alt, votes_figure
from dpcore.plots.methods import Line, methods_alt, methods_figure
from dpcore.plots.rule_list import rule_list_alt, rule_list_figure
from dpcore.plots.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.tree_layout import group_numbers, readable_levels, rows_in_order

__all__ = [
    "Line",
    "attribute_use_figure",
    "branches_width",
    "group_numbers",
    "methods_alt",
    "methods_figure",
    "readable_levels",
    "rows_in_order",
    "rule_list_alt",
    "rule_list_figure",
    "tree_alt",
    "tree_figure",
    "votes_alt",
    "votes_figure",
]
