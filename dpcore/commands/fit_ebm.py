"""``fit ebm``: one option for every parameter of an explainable boosting machine."""

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
from dpcore.models.ebm.released.parameters import EBMMethod, EBMParameters

_DEFAULT = EBMParameters()


def ebm(
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    method: Annotated[
        EBMMethod,
        typer.Option(
            help="all_bins: the noisy gradient of every bin of a column at once. random_splits: "
            "the published learner, small trees with random splits."
        ),
    ] = _DEFAULT.method,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="DELTA",
            help="Delta of the guarantee, for example 1e-6. Default: chosen from max_rows.",
        ),
    ] = None,
    max_bins: Annotated[
        int | None,
        typer.Option(help="Most bins of a numeric column. Default: the method's own rule."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="Rounds over all columns. Default: the method's own rule."),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Size of a step, up to 1. Default: the method's own rule."),
    ] = None,
    leaves: Annotated[
        int, typer.Option(help="random_splits: leaves of each tree.")
    ] = _DEFAULT.leaves,
    bin_share: Annotated[
        float | None,
        typer.Option(
            help="Share of the budget for the noisy counts that give bins and densities. "
            "Default: the method's own rule."
        ),
    ] = None,
    pairs: Annotated[
        int, typer.Option(help="all_bins: pairs of columns with a shape of their own.")
    ] = _DEFAULT.pairs,
    replicates: Annotated[
        int,
        typer.Option(help="Fits that share the budget; their spread gives the noise bands."),
    ] = _DEFAULT.replicates,
    evaluate: Evaluate = _DEFAULT.evaluate,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Fit a differentially private explainable boosting machine, print it, and write the release.

    A numeric target is predicted as a number, any other one by class. The release is written as
    JSON. This spends EPSILON of the data set's budget for good, and adds DELTA to its deltas.
    Look first with --quote (cost) and --rehearse (what the result will look like); both are free.
    """
    parameters = {
        "method": method,
        "delta": delta,
        "max_bins": max_bins,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "leaves": leaves,
        "bin_share": bin_share,
        "pairs": pairs,
        "replicates": replicates,
        "evaluate": evaluate,
    }
    fit(FitRequest("ebm", dataset, target, epsilon, parameters, quote, rehearse, output, nonce))
