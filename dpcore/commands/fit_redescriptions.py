"""``fit redescriptions``: one option for every parameter of redescriptions."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcore.commands.fitting import Epsilon, FitRequest, Nonce, Output, QuoteOnly, Rehearse, fit
from dpcore.commands.shell import Dataset
from dpcore.models.redescriptions.released.parameters import (
    PairSampler,
    PairSensitivity,
    RedescriptionMethod,
    RedescriptionParameters,
)

_DEFAULT = RedescriptionParameters()


def redescriptions(
    dataset: Dataset,
    epsilon: Epsilon,
    method: Annotated[
        RedescriptionMethod,
        typer.Option(
            help="exact_pairs: two conditions on either side, drawn together and exactly. "
            "lookahead: trees drawn whole and exactly, one view after the other. alt_expm, "
            "alt_mcmc: as published, split by split or by a random walk. mcmc_tree_pair: both "
            "trees of a pair drawn together."
        ),
    ] = _DEFAULT.method,
    left: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the left view; repeat it. Default: those the schema puts there.",
        ),
    ] = None,
    right: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the right view; repeat it. Default: those the schema puts there.",
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(help="Levels of splits of every tree, 1 to 4. Default: the method's own."),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(help="Independent searches, up to 20. Default: the method's own rule."),
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Alternations between the views in each search.")
    ] = _DEFAULT.rounds,
    tree_share: Annotated[
        float | None,
        typer.Option(
            help="Share of the budget for choosing trees; the rest counts people. Default: the "
            "method's own rule."
        ),
    ] = None,
    margins: Annotated[
        bool | None,
        typer.Option(
            help="Also count the leaves of the left tree on their own. Default: the method's own."
        ),
    ] = None,
    sampler: Annotated[
        PairSampler,
        typer.Option(
            help="mcmc_tree_pair: a random walk, whose guarantee holds only if it has converged, "
            "or an exact choice from a pool of random pairs."
        ),
    ] = _DEFAULT.sampler,
    steps: Annotated[
        int, typer.Option(help="Steps of each random walk, fixed in advance.")
    ] = _DEFAULT.steps,
    pool_size: Annotated[
        int, typer.Option(help="mcmc_tree_pair: pairs in the pool.")
    ] = _DEFAULT.pool_size,
    sensitivity: Annotated[
        PairSensitivity,
        typer.Option(
            help="mcmc_tree_pair: what one person can change, as proved here or as published "
            "(much larger, so less is found)."
        ),
    ] = _DEFAULT.sensitivity,
    reserved_splits: Annotated[
        bool, typer.Option(help="Also split on '(missing)' and '(other)'.")
    ] = _DEFAULT.reserved_splits,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Find pairs of conditions that hold for nearly the same people, one over each view.

    The best are printed, and the release is written as JSON. Nothing is predicted, so there is
    no target. This spends EPSILON of the data set's budget for good. Look first with --quote
    (cost) and --rehearse (what the result will look like); both are free. So is reading the
    release again, with other constraints: 'release redescriptions'.
    """
    parameters = {
        "method": method,
        "left": left or None,
        "right": right or None,
        "depth": depth,
        "starts": starts,
        "rounds": rounds,
        "tree_share": tree_share,
        "margins": margins,
        "sampler": sampler,
        "steps": steps,
        "pool_size": pool_size,
        "sensitivity": sensitivity,
        "reserved_splits": reserved_splits,
    }
    fit(
        FitRequest(
            "redescriptions", dataset, "", epsilon, parameters, quote, rehearse, output, nonce
        )
    )
