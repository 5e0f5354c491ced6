"""``fit ilp``: one option for every parameter of relational rules."""

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
from dpcore.models.ilp.language.parameters import Criterion, ILPParameters, Method

_DEFAULT = ILPParameters()


def ilp(
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Class of the target that the rules should describe. Default: the last one.",
        ),
    ] = None,
    method: Annotated[
        Method,
        typer.Option(
            help="noisy_max: the best of all rules, with noise that does not grow with their "
            "number. relevance_aware, naive: as published, every rule counted with noise."
        ),
    ] = _DEFAULT.method,
    literals: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A condition that rules may ask, as 'age > 60' or 'car: roof = flat'; repeat "
            "it. Default: all that the schema declares.",
        ),
    ] = None,
    max_literals: Annotated[
        int, typer.Option(help="Most conditions of a rule, 1 to 8.")
    ] = _DEFAULT.max_literals,
    max_variables: Annotated[
        int, typer.Option(help="Most rows of further tables that a rule refers to, 0 to 3.")
    ] = _DEFAULT.max_variables,
    negation: Annotated[
        bool, typer.Option(help="Rules may also ask that somebody has no such row.")
    ] = _DEFAULT.negation,
    clauses: Annotated[int, typer.Option(help="How many rules, 1 to 10.")] = _DEFAULT.clauses,
    positive_weight: Annotated[
        int,
        typer.Option(
            help="How many people without the class one person with it outweighs. Choose more "
            "than 1 for a rare class."
        ),
    ] = _DEFAULT.positive_weight,
    negative_weight: Annotated[
        int,
        typer.Option(
            help="How many people with the class one person without it outweighs. More than 1 "
            "asks for rules that cover few others, where several rules are wanted."
        ),
    ] = _DEFAULT.negative_weight,
    count_share: Annotated[
        float, typer.Option(help="Share of the budget for counting the chosen rules.")
    ] = float(_DEFAULT.count_share),
    length_prior: Annotated[
        bool,
        typer.Option(
            help="noisy_max: give each length of a rule about the same chance, although most "
            "rules are long."
        ),
    ] = _DEFAULT.length_prior,
    criterion: Annotated[
        Criterion,
        typer.Option(
            help="relevance_aware: leave out what cannot beat the best rule so far (best), or "
            "what covers too few (share)."
        ),
    ] = _DEFAULT.criterion,
    min_share: Annotated[
        float, typer.Option(help="share: least noisy positives, as a share of max_rows.")
    ] = _DEFAULT.min_share,
    reserved_literals: Annotated[
        bool, typer.Option(help="Also conditions such as 'age = (missing)'.")
    ] = _DEFAULT.reserved_literals,
    evaluate: Evaluate = _DEFAULT.evaluate,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Fit differentially private relational rules, print them, and write the release as JSON.

    A rule may ask about several tables: about a person, and about rows that the person must, or
    must not, have. This spends EPSILON of the data set's budget for good. Look first with
    --quote (cost) and --rehearse (what the result will look like); both are free.
    """
    parameters = {
        "positive": positive,
        "method": method,
        "literals": literals or None,
        "max_literals": max_literals,
        "max_variables": max_variables,
        "negation": negation,
        "clauses": clauses,
        "positive_weight": positive_weight,
        "negative_weight": negative_weight,
        "count_share": str(count_share),
        "length_prior": length_prior,
        "criterion": criterion,
        "min_share": min_share,
        "reserved_literals": reserved_literals,
        "evaluate": evaluate,
    }
    fit(FitRequest("ilp", dataset, target, epsilon, parameters, quote, rehearse, output, nonce))
