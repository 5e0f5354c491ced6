"""Parameters of a rule list run: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dpcore.frozen import FrozenModel, FrozenParameters


class BudgetShares(FrozenModel):
    """Relative shares of the budget. ``antecedents`` counts only if they are mined privately."""

    antecedents: Decimal = Field(default=Decimal(1), gt=0, le=1000)
    list: Decimal = Field(default=Decimal(1), gt=0, le=1000)
    estimates: Decimal = Field(default=Decimal(1), gt=0, le=1000)


class RuleListParameters(FrozenParameters):
    """What to fit and how.

    Attributes
    ----------
    antecedents : {"public", "dp_fim", "given"}
        Conditions to choose from: all conjunctions over the schema (free, capped at random),
        privately mined frequent ones (charged), or the texts in ``given``.
    sampler : {"pool", "mcmc"}
        ``pool`` draws lists from the prior and selects one by the exponential mechanism: the
        guarantee is unconditional. ``mcmc`` is the Metropolis-Hastings chain of the thesis:
        the guarantee holds if the chain has converged.
    tempered_prior : bool
        Thesis's target: likelihood and prior both raised to epsilon / (2 log(N + 1)).
        For ``mcmc`` only.
    list_length, rule_length : float
        Prior means: number of rules (lambda) and conditions per rule (eta).
    alpha : tuple of float or None
        Dirichlet prior per class; ``None`` is 1 for each.
    selection_alpha : {"house", "same"}
        Prior weight per class in the likelihood that selects the list. ``same`` takes
        ``alpha``, as in the thesis. ``house`` grows it with the noise, which lowers the
        sensitivity and keeps rules on a handful of records from deciding the choice.
    shares : BudgetShares or None
        ``None`` is the house rule: equal shares, but four times as much for the estimates as
        for each other step if the row-level epsilon times ``max_rows`` is below 50, where no
        list can be told from another.
    min_support : float
        Least noisy support of a mined antecedent, as a share of ``max_rows``.
    evaluate : bool
        Train on the training part and evaluate on the hold-out part, at no extra cost.
    """

    antecedents: Literal["public", "dp_fim", "given"] = "public"
    given: tuple[Annotated[str, Field(max_length=2000)], ...] = Field(default=(), max_length=2000)
    max_antecedent_length: int = Field(default=2, ge=1, le=4)
    max_antecedents: int = Field(default=300, ge=1, le=5000)
    numeric_literals: Literal["thresholds", "intervals"] = "thresholds"
    reserved_literals: bool = False
    min_support: float = Field(default=0.05, ge=0, le=1)
    sampler: Literal["pool", "mcmc"] = "pool"
    pool_size: int = Field(default=100_000, ge=1, le=5_000_000)
    mcmc_steps: int = Field(default=5_000, ge=1, le=1_000_000)
    tempered_prior: bool = False
    list_length: float = Field(default=5.0, ge=0.01, le=100)
    rule_length: float = Field(default=1.0, ge=0.01, le=10)
    max_rules: int = Field(default=30, ge=1, le=100)
    alpha: tuple[Annotated[float, Field(gt=0, le=1e6)], ...] | None = None
    selection_alpha: Literal["house", "same"] = "house"
    shares: BudgetShares | None = None
    evaluate: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tempered_prior and self.sampler != "mcmc":
            raise ValueError("the tempered prior needs the sampler 'mcmc'")
        if (self.antecedents == "given") != bool(self.given):
            raise ValueError("give antecedents exactly when antecedents is 'given'")
        return self
