"""Parameters of a rule list run: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.released.parameters import LEAST_STEPS, CutPoints, CutsFrom, Evaluate, Parameters

#: Rules of a list, at most, unless told otherwise.
_MOST_RULES: Final = 30
#: Of what counts for conditions that are made, not given.
_OF_THE_SCHEMA: Final = Field(json_schema_extra={"only": "public, dp_fim"})
#: Parameters of the prior of whole lists.
_OF_WHOLE_LISTS: Final = ("list_length", "rule_length", "max_rules")


class BudgetShares(Parameters):
    """Relative shares of the budget."""

    antecedents: Decimal = Field(
        default=Decimal(1), gt=0, le=1000, title="Finding conditions", json_schema_extra={"only": "dp_fim"}
    )
    """Relative share of epsilon."""
    list: Decimal = Field(default=Decimal(1), gt=0, le=1000, title="Choosing the list")
    """Relative share of epsilon."""
    estimates: Decimal = Field(default=Decimal(1), gt=0, le=1000, title="Noisy counts")
    """Relative share of epsilon. While all shares are equal, the counts get more where epsilon is tiny."""


class RuleListParameters(Parameters):
    """What list to fit and how.

    Without ``shares`` the house rule divides the budget: equally, and one part in five for the counts if the list
    is drawn by ``lookahead``, but four times as much for the estimates as for each other step if the row-level
    epsilon times ``max_rows`` is below 50, where no list can be told from another.
    Conditions that are ``given`` are those to choose from, unless ``antecedents`` says otherwise.
    """

    antecedents: Literal["public", "dp_fim", "given"] = Field(default="public", title="Conditions to choose from")
    """All combinations of conditions that the schema allows, a random selection if there are too many, free of charge
    (public); frequent ones, found privately, which takes a share of epsilon (dp_fim); or those that are given."""
    given: tuple[Annotated[str, Field(max_length=2000)], ...] = Field(
        default=(), max_length=2000, title="Your conditions", json_schema_extra={"only": "given"}
    )
    """Each text is the conditions of a rule, as 'age > 60 and hypertension = yes'. Write 'column = value', 'column <=
    cut point' or 'column > cut point'; join with 'and'."""
    max_antecedent_length: int | None = Field(
        default=None, ge=1, le=4, title="Most conditions per rule", json_schema_extra={"only": "public, dp_fim"}
    )
    """How many conditions a rule may join by 'and'. Default: two; one, if rules are chosen two at a time and epsilon is
    so small for so few people that more could not be told apart."""
    max_antecedents: int | None = Field(
        default=None, ge=1, le=5000, title="Most candidates", json_schema_extra={"only": "public, dp_fim"}
    )
    """How many combinations of conditions rules are made of, at most. Default: 300; 1,000, or as many as take some
    seconds, if rules are chosen two at a time."""
    numeric_literals: Literal["thresholds", "intervals"] = Field(
        default="thresholds", title="How numbers are compared", json_schema_extra={"only": "public"}
    )
    """With one cut point, as in 'age > 60' (thresholds), or with two, as in '60 < age <= 70' (intervals)."""
    reserved_literals: bool = Field(
        default=False, title="Also use 'missing', 'other'", json_schema_extra={"only": "public, dp_fim"}
    )
    """Also conditions such as 'bmi = (missing)'."""
    min_support: float = Field(
        default=0.05,
        ge=0,
        le=1,
        title="Least count of records, as a share of the row limit",
        json_schema_extra={"only": "dp_fim"},
    )
    """Conditions with a lower noisy count are left out."""
    sampler: Literal["lookahead", "pool", "mcmc"] = Field(default="lookahead", title="How the list is chosen")
    """Two rules at a time, among all pairs of conditions, with an unconditional guarantee (lookahead), which is
    recommended; from a pool of lists that are drawn without looking at any record, with an unconditional guarantee too
    (pool); or by the random walk of the thesis, whose guarantee holds only if it has run long enough, which nobody can
    check (mcmc)."""
    rules: int | None = Field(
        default=None, ge=1, le=30, title="Number of rules", json_schema_extra={"only": "lookahead"}
    )
    """The list has this number of rules, or one fewer, and then everyone else. It is shorter only where no condition is
    left that divides anybody. Default: chosen from epsilon and the row limit."""
    pool_size: int = Field(
        default=100_000, ge=1, le=5_000_000, title="Lists in the pool", json_schema_extra={"only": "pool"}
    )
    """Candidate lists drawn from the prior."""
    mcmc_steps: int = Field(
        default=5_000,
        ge=1,
        le=1_000_000,
        title="Steps of the walk",
        json_schema_extra={"only": "mcmc", "least": LEAST_STEPS},
    )
    """How many steps the random walk has; fixed in advance."""
    tempered_prior: bool = Field(
        default=False, title="Temper the prior too (as published)", json_schema_extra={"only": "mcmc"}
    )
    """Flatten the prior together with the likelihood: both are raised to epsilon / (2 log(N + 1)), as in the thesis."""
    list_length: float = Field(
        default=5.0, ge=0.01, le=100, title="Expected number of rules", json_schema_extra={"only": "pool, mcmc"}
    )
    """Mean of the prior (lambda of the thesis)."""
    rule_length: float = Field(
        default=1.0, ge=0.01, le=10, title="Expected conditions per rule", json_schema_extra={"only": "pool, mcmc"}
    )
    """Mean of the prior (eta of the thesis)."""
    max_rules: int = Field(
        default=_MOST_RULES, ge=1, le=100, title="Most rules in a list", json_schema_extra={"only": "pool, mcmc"}
    )
    """The prior on the number of rules ends here."""
    alpha: tuple[Annotated[float, Field(gt=0, le=1e6)], ...] | None = Field(
        default=None, title="Prior weight of each class"
    )
    """Number of people of each class that every group is assumed to have before anybody is counted (Dirichlet prior):
    one number for each class. Default: 1 each."""
    selection_alpha: Literal["house", "same"] = Field(
        default="house", title="Prior weights while choosing", json_schema_extra={"only": "pool, mcmc"}
    )
    """Weight of each class in the likelihood that chooses the list: that of alpha, as in the thesis (same), or one that
    grows with the noise (house), which lowers the sensitivity and keeps rules on a handful of records from deciding the
    choice."""
    shares: BudgetShares | None = Field(default=None, title="How epsilon is divided")
    """Relative shares. While they are equal, the counts get more where epsilon is tiny."""
    cut_points: Annotated[CutPoints, _OF_THE_SCHEMA] = ()
    cuts_from: Annotated[CutsFrom, _OF_THE_SCHEMA] = ""
    evaluate: Evaluate = True

    @property
    def longest(self) -> int:
        """Most conditions of a rule."""
        return 2 if self.max_antecedent_length is None else self.max_antecedent_length

    @property
    def most(self) -> int:
        """Most conjunctions to be made or found."""
        return 300 if self.max_antecedents is None else self.max_antecedents

    @property
    def conditions(self) -> int:
        """How many conjunctions a list may be made of, at most."""
        return len(self.given) or self.most

    @property
    def most_rules(self) -> int:
        """How many rules a list may have, at most: no condition is used twice."""
        return min(self.rules or self.max_rules, self.conditions)

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_versions(cls, content: object) -> object:
        """Earlier versions counted pairs of rules; the prior ended the list, which hardly changed it."""
        if not isinstance(content, dict) or not isinstance(content.get("blocks", ""), int | None):
            return content
        now = {name: value for name, value in content.items() if name != "blocks"}
        if now.get("sampler", "lookahead") != "lookahead":
            return now
        pairs, most = content["blocks"], now.get("max_rules", _MOST_RULES)
        for name in _OF_WHOLE_LISTS:
            now.pop(name, None)
        if pairs and isinstance(most, int) and "rules" not in now:
            now["rules"] = min(2 * pairs, most)
        return now

    @model_validator(mode="before")
    @classmethod
    def _given(cls, content: object) -> object:
        if isinstance(content, dict) and content.get("given") and "antecedents" not in content:
            return {**content, "antecedents": "given"}
        return content

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tempered_prior and self.sampler != "mcmc":
            raise ValueError("the tempered prior needs the sampler 'mcmc'")
        if self.sampler == "lookahead" and any(
            getattr(self, name) != type(self).model_fields[name].default for name in _OF_WHOLE_LISTS
        ):
            raise ValueError(
                "list_length, rule_length and max_rules need the sampler 'pool' or 'mcmc': leave them out, and say "
                "with rules how many there should be"
            )
        if self.sampler != "lookahead" and self.rules is not None:
            raise ValueError("a number of rules needs the sampler 'lookahead': others have list_length and max_rules")
        if self.antecedents == "given" and (self.cut_points or self.cuts_from):
            raise ValueError("conditions that are given name their own cut points: leave cut points out")
        if (self.antecedents == "given") != bool(self.given):
            raise ValueError("give antecedents exactly when antecedents is 'given'")
        return self
