"""Broken engines that a replay must find out, each with the methods where it bites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from dpcore.audit.ilp import links_of_anybody
from dpcore.audit.replay.methods import METHODS
from tests.support.learning import breaking
from tests.support.learning.breaking import (
    LEAKS,
    Break,
    Broken,
    budget_times,
    monotone,
    one_for_all,
    permuted,
    question_times,
    weight_times,
    worth_times,
)

Method = tuple[str, str]


@dataclass(frozen=True)
class Mutant:
    """What is broken, how, and the methods (family, name) in which a replay must see it."""

    name: str
    broken: Callable[[], Broken]
    bites: tuple[Method, ...]


def _methods(*names: str) -> tuple[Method, ...]:
    """Methods of these names; ``family: name`` where two families have one."""
    return tuple((own.family, own.name) for own in METHODS if {own.name, f"{own.family}: {own.name}"} & {*names})


def _of(*families: str) -> tuple[str, ...]:
    return tuple(f"{own.family}: {own.name}" for own in METHODS if own.family in families)


GEOMETRIC: Final = "GeometricMechanism"
EXPONENTIAL: Final = "ExponentialMechanism"
GAUSSIAN: Final = "GaussianMechanism"
RULES: Final = "models.rules.learning"
TREES: Final = "models.trees.learning"
MACHINES: Final = "models.ebm.learning"
CLAUSES: Final = "models.ilp.learning"
PAIRS: Final = "models.redescriptions.learning"
LOOKS: Final = "models.summaries.learning.accounting"

ALL: Final = tuple(own.name for own in METHODS)
LISTS: Final = ("pool, composing", "blocks, composing")
CHOSEN: Final = ("adiffp, composing", "fixed depth, composing", "rfdiffp, composing")
TREES_OF_RHO: Final = (*CHOSEN, "random_trees, composing")
MINED: Final = ("mined conditions, composing", "mined conditions, blocks, composing")
COUNTED: Final = ("naive, composing", "relevance_aware, composing")
SIDES: Final = (
    "exact_pairs, composing",
    "lookahead in turns, composing",
    "alt_expm, composing",
    "mcmc_tree_pair, pool, composing",
)
COMPOSING: Final = (
    *LISTS,
    *MINED,
    "lookahead, composing",
    "noisy_max, composing",
    *COUNTED,
    *SIDES,
    *TREES_OF_RHO,
)
PAIRED: Final = "pairs, composing"
MACHINES_OF_RHO: Final = (PAIRED, "random splits, composing")
ADAPTIVE: Final = tuple(name for name in ALL if name.startswith("adiffp") and name not in CHOSEN)
FORESTS: Final = tuple(f"{name}, {how}" for name in ("rfdiffp", "random_trees") for how in ("parts", "split"))
GAUSSIAN_LEVELS: Final = ("groups and finer cells with a delta", "groups and finer cells, composing")
PAIRS_FOUND: Final = ("pairs found", "pairs found, composing")
GAUSSIAN_LOOKS: Final = (
    *("with a delta", "pairs found with a delta", "tables, composing", PAIRS_FOUND[1]),
    *GAUSSIAN_LEVELS,
)
#: A method of each family that evaluates.
EVALUATED: Final = ("pool", "blocks", "diffp_id3", "random_trees, parts", "all bins, classes", "noisy_max")
TREE, PAIR_OF_TREES = "tree: lookahead", "redescriptions: lookahead"

#: Mutants that are a name of a module taken for another: name, place below ``dpcore``, what is replaced, how, and where
#: a replay must see it.
TABLE: Final[tuple[tuple[str, str, str, Break, tuple[str, ...]], ...]] = (
    (
        "counts",
        "learning.count_budget",
        GEOMETRIC,
        budget_times(2),
        (
            *("pool", "chain", "blocks", "mined conditions", "noisy_max", "naive", "relevance_aware"),
            *("exact_pairs", "alt_mcmc"),
        ),
    ),
    (
        "Gaussian counts",
        "learning.count_budget",
        GAUSSIAN,
        budget_times(2),
        (*LISTS, *MINED, "noisy_max, composing", *COUNTED, *SIDES),
    ),
    ("one itemset", f"{RULES}.mining", "itemset_sensitivity", one_for_all, ("mined conditions", MINED[0])),
    ("likelihood", f"{RULES}.samplers", EXPONENTIAL, budget_times(2), ("pool", "pool, composing")),
    ("permute-and-flip for a likelihood", f"{RULES}.samplers", EXPONENTIAL, permuted, ("pool, composing",)),
    ("likelihood of a chain", f"{RULES}.samplers", "ListWalk", weight_times(2), ("chain",)),
    ("class counts of a block of rules", f"{RULES}.blocks", GEOMETRIC, budget_times(2), ("blocks",)),
    (
        "weights of classes in rules",
        f"{RULES}.blocks",
        "weigh_classes",
        worth_times(3),
        ("blocks", "blocks, composing"),
    ),
    (
        "counts of a node",
        f"{TREES}.path_form",
        GEOMETRIC,
        budget_times(2),
        ("diffp_id3", "diffp_c45", "sulq_id3", *ADAPTIVE, *FORESTS),
    ),
    ("Gaussian counts of a node", f"{TREES}.path_form", GAUSSIAN, budget_times(2), TREES_OF_RHO),
    ("split of a node", f"{TREES}.path_form", EXPONENTIAL, budget_times(2), (*ADAPTIVE, "diffp_id3", *CHOSEN)),
    ("permute-and-flip for a split", f"{TREES}.path_form", EXPONENTIAL, permuted, ("fixed depth, composing",)),
    ("counts of an exact tree", f"{TREES}.exact_tree", GEOMETRIC, budget_times(2), (TREE,)),
    ("Gaussian counts of an exact tree", f"{TREES}.exact_tree", GAUSSIAN, budget_times(2), ("lookahead, composing",)),
    ("weights of classes", f"{TREES}.exact_tree", "weigh_classes", worth_times(3), (TREE, "lookahead, composing")),
    ("groups set aside", "learning.holdout", GEOMETRIC, budget_times(2), (*EVALUATED, TREE)),
    ("errors set aside", f"{MACHINES}.holdout", GEOMETRIC, budget_times(2), ("all bins, numbers",)),
    (
        "histograms",
        f"{MACHINES}.fit",
        "histogram_mechanism",
        question_times(2),
        ("all bins, classes", "random splits, numbers", *MACHINES_OF_RHO),
    ),
    (
        "residuals",
        f"{MACHINES}.fit",
        "residual_mechanism",
        question_times(2),
        ("all bins, numbers", "random splits, classes", *MACHINES_OF_RHO),
    ),
    ("sizes of residuals", f"{MACHINES}.fit", "size_mechanism", question_times(2), ("all bins, numbers", PAIRED)),
    ("counts of pairs", f"{MACHINES}.fit", "pair_count_mechanism", question_times(2), ("pairs, classes", PAIRED)),
    ("residuals of pairs", f"{MACHINES}.fit", "pair_residual_mechanism", question_times(2), ("pairs, numbers", PAIRED)),
    ("choice of a pair of columns", f"{MACHINES}.pairs", EXPONENTIAL, budget_times(2), ("pairs, classes", PAIRED)),
    ("monotone choice of a pair of columns", f"{MACHINES}.pairs", EXPONENTIAL, monotone, ("pairs, classes", PAIRED)),
    ("start", f"{PAIRS}.starts", EXPONENTIAL, budget_times(2), (PAIR_OF_TREES,)),
    ("monotone start", f"{PAIRS}.starts", EXPONENTIAL, monotone, (PAIR_OF_TREES,)),
    ("pool of pairs", f"{PAIRS}.pool", EXPONENTIAL, budget_times(2), ("mcmc_tree_pair, pool",)),
    ("monotone pool of pairs", f"{PAIRS}.pool", EXPONENTIAL, monotone, ("mcmc_tree_pair, pool",)),
    ("tree of a chain", f"{PAIRS}.tree_chains", "TreeWalk", weight_times(2), ("alt_mcmc",)),
    ("pair of a chain", f"{PAIRS}.tree_chains", "PairWalk", weight_times(2), ("mcmc_tree_pair, chain",)),
    ("coverage", f"{CLAUSES}.selection", "NoisyMax", budget_times(2), ("noisy_max",)),
    ("coverage of runs that compose", f"{CLAUSES}.selection", EXPONENTIAL, budget_times(2), ("noisy_max, composing",)),
    ("permute-and-flip for coverage", f"{CLAUSES}.selection", EXPONENTIAL, permuted, ("noisy_max, composing",)),
    ("one clause", f"{CLAUSES}.selection", "counts_sensitivity", one_for_all, ("naive", "relevance_aware", *COUNTED)),
    ("numbers of both sides", f"{CLAUSES}.weighing", GEOMETRIC, budget_times(2), ("noisy_max", "noisy_max, composing")),
    (
        "tables of a first look",
        LOOKS,
        GEOMETRIC,
        budget_times(2),
        ("weighted", "equal", "pairs found", "groups and finer cells"),
    ),
    ("tables of a first look with a delta", LOOKS, "FineGaussian", budget_times(2), GAUSSIAN_LOOKS),
    ("rows of a person ignored by first looks", LOOKS, "table_sensitivity", one_for_all, _of("summaries")),
    ("choice of a pair of a first look", LOOKS, EXPONENTIAL, budget_times(2), PAIRS_FOUND),
    ("monotone choice of a pair of a first look", LOOKS, EXPONENTIAL, monotone, PAIRS_FOUND),
    ("rows ignored by that choice", LOOKS, "distance_sensitivity", one_for_all, PAIRS_FOUND),
)

#: Mutants that need words of their own.
OTHERS: Final[tuple[tuple[str, Callable[[], Broken], tuple[str, ...]], ...]] = (
    (
        "rows of a person ignored",
        breaking.rows_ignored,
        ("noisy_max", "relevance_aware", "naive", *_of("rule_list", "tree", "forest", "redescriptions")),
    ),
    ("rows of a person ignored by machines", breaking.rows_ignored_by_machines, _of("ebm")),
    ("rows of a person ignored by Gaussian counts", breaking.rows_ignored_by_gaussian_counts, COMPOSING),
    ("noise halved", breaking.half_scale, ALL),
    ("noise halved after it was drawn", breaking.half_afterwards, ALL),
    ("no noise", breaking.no_noise, ALL),
    ("trained on everybody", breaking.everybody_in("train"), (*EVALUATED, TREE)),
    ("evaluated on everybody", breaking.everybody_in("holdout"), (*EVALUATED, TREE)),
    *((name, breaking.telling(tell), ("pool",)) for name, tell in LEAKS.items()),
    ("what is said of rows holds for nobody", partial(breaking.rows_of_nobody, nested=False), ("relevance_aware",)),
    ("what rows have holds for nobody", partial(breaking.rows_of_nobody, nested=True), ("naive",)),
    ("links of anybody", links_of_anybody, ("noisy_max", "naive", "relevance_aware")),
    ("mined for nothing", breaking.mined_for_nothing, ("mined conditions", MINED[0])),
    ("chosen for nothing", breaking.chosen_for_nothing, ("relevance_aware", COUNTED[1])),
    ("both sides counted for nothing", breaking.sides_for_nothing, ("noisy_max",)),
    (
        "selections of twice the epsilon",
        breaking.twice_the_epsilon,
        (
            "pool, composing",
            "lookahead, composing",
            "noisy_max, composing",
            "fixed depth, composing",
            MINED[0],
            SIDES[0],
            SIDES[3],
            PAIRED,
            PAIRS_FOUND[1],
        ),
    ),
    ("each table of a first look at the budget of all", breaking.whole_for_each_table, _of("summaries")),
    (
        "each level of a column at the budget of all",
        breaking.levels_for_nothing,
        ("groups and finer cells", *GAUSSIAN_LEVELS),
    ),
    ("periodic chain from a fixed start", breaking.periodic, ("chain, given conditions",)),
    ("chains of one step", breaking.one_step, ("chain", "alt_mcmc", "mcmc_tree_pair, chain")),
    ("delta score", breaking.half_delta_score, ("adiffp, information_gain",)),
    ("tables of all columns", breaking.one_column, ("sulq_id3", "fixed depth, composing")),
    (
        "trees and pairs drawn whole",
        breaking.heavy_weight,
        ("lookahead", "lookahead, composing", "exact_pairs", SIDES[0], "alt_expm", SIDES[2], "blocks"),
    ),
    ("one replicate of machines", breaking.one_replicate, ("all bins, two classes", "random splits, numbers")),
    ("one column of a turn of machines", breaking.one_of_a_turn, ("random splits, numbers",)),
)


def _mutants() -> Iterator[Mutant]:
    for name, place, replaced, how, where in TABLE:
        yield Mutant(
            name, lambda place=place, replaced=replaced, how=how: how(breaking.at(place), replaced), _methods(*where)
        )
    for name, broken, where in OTHERS:
        yield Mutant(name, broken, _methods(*where))


MUTANTS: Final = tuple(_mutants())
