"""``fit rule-list``: one option for every parameter of a rule list."""

from __future__ import annotations

from typing import Annotated, Literal

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
from dpcore.models.rules.released.parameters import BudgetShares, RuleListParameters

_DEFAULT = RuleListParameters()
_SHARES = BudgetShares()


def rule_list(
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    antecedents: Annotated[
        Literal["public", "dp_fim", "given"] | None,
        typer.Option(
            help="Conditions to choose from: all combinations over the schema, capped at random "
            "(free); frequent ones mined from the records (charged); or those of --given. "
            "Default: public, or given if --given is used."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A rule's conditions, as 'age > 60 and sex = male'. May be repeated.",
        ),
    ] = None,
    max_antecedent_length: Annotated[
        int, typer.Option(help="Most conditions in one rule.")
    ] = _DEFAULT.max_antecedent_length,
    max_antecedents: Annotated[
        int, typer.Option(help="How many combinations to choose from.")
    ] = _DEFAULT.max_antecedents,
    numeric_literals: Annotated[
        Literal["thresholds", "intervals"],
        typer.Option(help="Conditions on numbers: 'age > 60', or '60 < age <= 70'."),
    ] = _DEFAULT.numeric_literals,
    reserved_literals: Annotated[
        bool, typer.Option(help="Also conditions such as 'bmi = (missing)'.")
    ] = _DEFAULT.reserved_literals,
    min_support: Annotated[
        float, typer.Option(help="dp_fim: least noisy support, as a share of max_rows.")
    ] = _DEFAULT.min_support,
    sampler: Annotated[
        Literal["pool", "mcmc"],
        typer.Option(
            help="pool: unconditional guarantee. mcmc: the guarantee holds only if the chain "
            "has converged, which nobody can check."
        ),
    ] = _DEFAULT.sampler,
    pool_size: Annotated[
        int, typer.Option(help="pool: lists drawn from the prior.")
    ] = _DEFAULT.pool_size,
    mcmc_steps: Annotated[
        int, typer.Option(help="mcmc: steps, fixed in advance.")
    ] = _DEFAULT.mcmc_steps,
    tempered_prior: Annotated[
        bool, typer.Option(help="mcmc: flatten the prior together with the likelihood.")
    ] = _DEFAULT.tempered_prior,
    list_length: Annotated[
        float, typer.Option(help="Prior mean of the number of rules.")
    ] = _DEFAULT.list_length,
    rule_length: Annotated[
        float, typer.Option(help="Prior mean of the conditions in a rule.")
    ] = _DEFAULT.rule_length,
    max_rules: Annotated[int, typer.Option(help="Most rules in a list.")] = _DEFAULT.max_rules,
    alpha: Annotated[
        list[float] | None,
        typer.Option(help="Prior weight of a class; repeat it, once per class. Default: 1 each."),
    ] = None,
    selection_alpha: Annotated[
        Literal["house", "same"],
        typer.Option(help="Prior weights while choosing the list: fitted to the noise, or alpha."),
    ] = _DEFAULT.selection_alpha,
    share_antecedents: Annotated[
        float, typer.Option(help="Relative share of the budget for mining (dp_fim only).")
    ] = float(_SHARES.antecedents),
    share_list: Annotated[
        float, typer.Option(help="Relative share for choosing the list.")
    ] = float(_SHARES.list),
    share_estimates: Annotated[
        float,
        typer.Option(
            help="Relative share for the counts and probabilities. While all shares are equal, "
            "the engine gives the counts more where the budget is tiny."
        ),
    ] = float(_SHARES.estimates),
    evaluate: Evaluate = _DEFAULT.evaluate,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
) -> None:
    """Fit a differentially private rule list, print it, and write the release as JSON.

    This spends EPSILON of the data set's budget for good. Look first with --quote (cost) and
    --rehearse (what the result will look like); both are free.
    """
    parameters = {
        "antecedents": antecedents or ("given" if given else "public"),
        "given": given or [],
        "max_antecedent_length": max_antecedent_length,
        "max_antecedents": max_antecedents,
        "numeric_literals": numeric_literals,
        "reserved_literals": reserved_literals,
        "min_support": min_support,
        "sampler": sampler,
        "pool_size": pool_size,
        "mcmc_steps": mcmc_steps,
        "tempered_prior": tempered_prior,
        "list_length": list_length,
        "rule_length": rule_length,
        "max_rules": max_rules,
        "alpha": alpha or None,
        "selection_alpha": selection_alpha,
        "shares": _shares(share_antecedents, share_list, share_estimates),
        "evaluate": evaluate,
    }
    fit(
        FitRequest(
            "rule_list", dataset, target, epsilon, parameters, quote, rehearse, output, nonce
        )
    )


def _shares(antecedents: float, chosen: float, estimates: float) -> dict[str, str] | None:
    """Shares as the engine takes them; equal ones leave the division to its house rule."""
    if antecedents == chosen == estimates:
        return None
    return {"antecedents": str(antecedents), "list": str(chosen), "estimates": str(estimates)}
