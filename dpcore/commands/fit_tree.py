"""``fit tree`` and ``fit forest``: one option for every parameter."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcore.commands.fitting import (
    Epsilon,
    Evaluate,
    FitRequest,
    Nonce,
    Output,
    QuoteOnly,
    Rehearse,
    Target,
    fit,
)
from dpcore.commands.shell import Dataset
from dpcore.models.trees.released.parameters import (
    Criterion,
    ForestMethod,
    ForestParameters,
    Sharing,
    TreeMethod,
    TreeParameters,
)

_TREE = TreeParameters()
_FOREST = ForestParameters()
Threshold = Annotated[float, typer.Option(help="adiffp, rfdiffp: threshold t of the thesis.")]
SpendRest = Annotated[
    bool, typer.Option(help="adiffp, rfdiffp: a group's counts take all that its path has left.")
]
Prune = Annotated[
    bool | None,
    typer.Option(help="Fold what the noisy counts do not support. Default: as published."),
]


def tree(
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    method: Annotated[
        TreeMethod,
        typer.Option(
            help="lookahead: whole blocks of the tree are drawn exactly. adiffp: adaptive "
            "budgets. diffp_id3, diffp_c45, sulq_id3: the same budget on every level."
        ),
    ] = _TREE.method,
    criterion: Annotated[
        Criterion, typer.Option(help="What a good split is. lookahead supports error and gini.")
    ] = _TREE.criterion,
    blocks: Annotated[
        list[int] | None,
        typer.Option(
            help="lookahead: depth of a block, 1 to 3; repeat it for blocks below. Default: "
            "chosen from epsilon and the schema."
        ),
    ] = None,
    leaf_share: Annotated[
        float | None,
        typer.Option(
            help="lookahead: share of the budget for the groups' noisy counts. Default: chosen "
            "from epsilon and the schema."
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(help="diffp_id3, diffp_c45, sulq_id3: levels of splits.")
    ] = _TREE.depth,
    threshold: Threshold = _TREE.threshold,
    spend_rest: SpendRest = _TREE.spend_rest,
    reserved_splits: Annotated[
        bool, typer.Option(help="lookahead: also split on '(missing)' and '(other)'.")
    ] = _TREE.reserved_splits,
    prune: Prune = None,
    evaluate: Evaluate = _TREE.evaluate,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Fit a differentially private decision tree, print it, and write the release as JSON.

    This spends EPSILON of the data set's budget for good. Look first with --quote (cost) and
    --rehearse (what the result will look like); both are free.
    """
    parameters = {
        "method": method,
        "criterion": criterion,
        "blocks": blocks or None,
        "leaf_share": leaf_share,
        "depth": depth,
        "threshold": threshold,
        "spend_rest": spend_rest,
        "reserved_splits": reserved_splits,
        "prune": prune,
        "evaluate": evaluate,
    }
    fit(FitRequest("tree", dataset, target, epsilon, parameters, quote, rehearse, output, nonce))


def forest(
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    method: Annotated[
        ForestMethod,
        typer.Option(
            help="rfdiffp: adaptive trees on random columns. random_trees: splits drawn at "
            "random, all budget in the counts."
        ),
    ] = _FOREST.method,
    criterion: Annotated[
        Criterion, typer.Option(help="rfdiffp: what a good split is.")
    ] = _FOREST.criterion,
    sharing: Annotated[
        Sharing,
        typer.Option(
            help="parts: each tree sees its own random part of the people, with the whole "
            "budget. split: each sees all, with a part of the budget."
        ),
    ] = _FOREST.sharing,
    trees: Annotated[int, typer.Option(help="Number of trees.")] = _FOREST.trees,
    depth: Annotated[int, typer.Option(help="random_trees: levels of splits.")] = _FOREST.depth,
    attributes: Annotated[
        int | None,
        typer.Option(help="rfdiffp: most columns drawn at a node. Default: log2(columns) + 1."),
    ] = None,
    threshold: Threshold = _FOREST.threshold,
    spend_rest: SpendRest = _FOREST.spend_rest,
    prune: Prune = None,
    evaluate: Evaluate = _FOREST.evaluate,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Fit a differentially private forest, print it, and write the release as JSON.

    This spends EPSILON of the data set's budget for good. Look first with --quote (cost) and
    --rehearse (what the result will look like); both are free.
    """
    parameters = {
        "method": method,
        "criterion": criterion,
        "sharing": sharing,
        "trees": trees,
        "depth": depth,
        "attributes": attributes,
        "threshold": threshold,
        "spend_rest": spend_rest,
        "prune": prune,
        "evaluate": evaluate,
    }
    fit(FitRequest("forest", dataset, target, epsilon, parameters, quote, rehearse, output, nonce))
