"""Parameters of a run of relational rules: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from dpcore.frozen import FrozenParameters

Method = Literal["noisy_max", "relevance_aware", "naive"]
Criterion = Literal["best", "share"]


class ILPParameters(FrozenParameters):
    """What to look for and how.

    Attributes
    ----------
    positive : str or None
        Class of the target that clauses should describe. ``None``: the last one.
    method : {"noisy_max", "relevance_aware", "naive"}
        ``noisy_max`` chooses the clause with the best coverage by report noisy max over the
        whole lattice, with noise that does not grow with it. ``naive`` and
        ``relevance_aware`` count every clause with noise (Zeng et al. 2013, Algorithms 2 and 3).
    literals : tuple of str or None
        Atoms that a clause may use, such as ``age > 60`` or ``car: roof = flat``; ``None``: all
        that the schema declares.
    max_literals : int
        Most conditions of a clause (levels of Algorithm 3).
    max_variables : int
        Most child rows that a clause refers to.
    negation : bool
        Whether a clause may ask that no child row exists, or none with one condition (negation
        as failure).
    clauses : int
        Number of clauses of the theory (k of Algorithm 4).
    positive_weight : int
        How many people without the class one person with it outweighs in the coverage.
    negative_weight : int
        How many people with the class one person without it outweighs: more than 1 asks for
        clauses that cover few others, where several together should describe the class.
    count_share : Decimal
        Share of the budget for counting the clauses that were chosen.
    length_prior : bool
        For ``noisy_max``: whether each length has about the same chance before the data speak,
        rather than every clause, of which most are long. Without it, conditions that change
        next to nothing join a clause by chance.
    criterion : {"best", "share"}
        For ``relevance_aware``: a subtree is deleted if its root's noisy positives do not
        exceed the best noisy coverage so far (``best``), or are fewer than ``min_share`` of
        ``max_rows`` (``share``). The paper leaves the criterion open.
    reserved_literals : bool
        Whether clauses may ask for missing and other values.
    evaluate : bool
        Learn from the training part and evaluate on the hold-out part, at no extra cost.
    """

    positive: str | None = Field(default=None, max_length=128)
    method: Method = "noisy_max"
    literals: tuple[Annotated[str, Field(max_length=500)], ...] | None = Field(
        default=None, min_length=1, max_length=2000
    )
    max_literals: int = Field(default=3, ge=1, le=8)
    max_variables: int = Field(default=2, ge=0, le=3)
    negation: bool = False
    clauses: int = Field(default=2, ge=1, le=10)
    positive_weight: int = Field(default=1, ge=1, le=100)
    negative_weight: int = Field(default=1, ge=1, le=100)
    count_share: Decimal = Field(default=Decimal("0.2"), gt=0, lt=1)
    length_prior: bool = True
    criterion: Criterion = "best"
    min_share: float = Field(default=0.05, ge=0, le=1)
    reserved_literals: bool = False
    evaluate: bool = True

    @property
    def weights(self) -> tuple[int, int]:
        """Weight of a negative and of a positive."""
        return self.negative_weight, self.positive_weight


class ILPSettings(ILPParameters):
    """What the analyst asked for, with the class that is described."""

    positive: str
