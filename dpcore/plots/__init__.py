"""Plotly figures of releases. They see a release and nothing else."""

from __future__ import annotations

from dpcore.ebm.words import EBMWords
from dpcore.ilp.example import made_up_case
from dpcore.ilp.hypotheses import Hypotheses, condition_texts, hypotheses
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
from dpcore.plots.ilp import ClauseText, clause_texts, ilp_alt, ilp_figure, prolog_program
from dpcore.plots.lessons import (
    answers_alt,
    answers_figure,
    averages_alt,
    averages_figure,
    neighbours_alt,
    neighbours_figure,
    odds_alt,
    odds_figure,
)
from dpcore.plots.lessons_attacks import (
    membership_alt,
    membership_figure,
    people_alt,
    people_figure,
)
from dpcore.plots.methods import Line, methods_alt, methods_figure
from dpcore.plots.outlook import OutlookMarks, outlook_alt, outlook_figure
from dpcore.plots.redescriptions import (
    redescriptions_alt,
    redescriptions_figure,
    support_steps,
)
from dpcore.plots.redescriptions_agreement import agreement_alt, agreement_figure
from dpcore.plots.redescriptions_pair import leaf_name, outline, pair_alt, pair_figure
from dpcore.plots.redescriptions_truth import truth_alt, truth_figure, truth_histogram
from dpcore.plots.rule_list import rule_list_alt, rule_list_figure
from dpcore.plots.train import is_train, train_alt, train_figure
from dpcore.plots.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.tree_layout import group_numbers, readable_levels, rows_in_order
from dpcore.redescriptions.agreement import agreement_margins, exact_agreement
from dpcore.redescriptions.extraction import Constraints
from dpcore.redescriptions.reading import (
    alike_words,
    alternatives,
    interval_words,
    matching,
    p_words,
    sentence,
)

__all__ = [
    "MOST_TERMS",
    "ClauseText",
    "Constraints",
    "EBMWords",
    "Hypotheses",
    "Line",
    "OutlookMarks",
    "agreement_alt",
    "agreement_figure",
    "agreement_margins",
    "alike_words",
    "alternatives",
    "answers_alt",
    "answers_figure",
    "attribute_use_figure",
    "averages_alt",
    "averages_figure",
    "branches_width",
    "case_alt",
    "case_figure",
    "case_steps",
    "clause_texts",
    "condition_texts",
    "exact_agreement",
    "group_numbers",
    "hypotheses",
    "ilp_alt",
    "ilp_figure",
    "importance",
    "importance_alt",
    "importance_figure",
    "interval_words",
    "is_train",
    "leaf_name",
    "made_up_case",
    "matching",
    "membership_alt",
    "membership_figure",
    "methods_alt",
    "methods_figure",
    "neighbours_alt",
    "neighbours_figure",
    "odds_alt",
    "odds_figure",
    "outline",
    "outlook_alt",
    "outlook_figure",
    "p_words",
    "pair_alt",
    "pair_figure",
    "people_alt",
    "people_figure",
    "prolog_program",
    "readable_levels",
    "redescriptions_alt",
    "redescriptions_figure",
    "rows_in_order",
    "rule_list_alt",
    "rule_list_figure",
    "sentence",
    "shape_alt",
    "shape_figure",
    "support_steps",
    "train_alt",
    "train_figure",
    "tree_alt",
    "tree_figure",
    "truth_alt",
    "truth_figure",
    "truth_histogram",
    "votes_alt",
    "votes_figure",
]
