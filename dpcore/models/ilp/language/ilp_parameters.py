"""Parameters of a run of relational rules: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import Field

from dpcore.models.ilp.language.forms import Quantifier
from dpcore.released.parameters import Evaluate, Parameters

Method = Literal["noisy_max", "relevance_aware", "naive"]
Criterion = Literal["best", "share"]

#: How many times as much as was asked a negative weighs when the first and the last clause are chosen.
_STRICTEST: Final = 3.0
_MILDEST: Final = 0.8
_TENTHS: Final = 10
#: Where both sides weigh alike, one of those described is expected to weigh as much as so many others.
_EXPECTED: Final = 10


class ILPParameters(Parameters):
    """What to look for and how."""

    positive: str | None = Field(default=None, max_length=128, title="Value that the clauses describe")
    """Each clause says who has this value of the target. Whoever no clause covers is predicted to have another.
    Default: the last one."""
    method: Method = Field(default="noisy_max", title="How clauses are chosen")
    """noisy_max chooses the best clause of all by report noisy max, with noise that does not grow with their number.
    relevance_aware and naive count every clause with noise (Zeng et al. 2013, Algorithms 3 and 2)."""
    literals: tuple[Annotated[str, Field(max_length=500)], ...] | None = Field(
        default=None, min_length=1, max_length=2000, title="Conditions"
    )
    """Those that a clause may use, as 'age > 60' or 'car: roof = flat'. Default: all that the schema declares."""
    max_literals: int = Field(default=3, ge=1, le=8, title="Most conditions in a clause")
    """How many conditions a clause may join by 'and'."""
    max_variables: int = Field(default=2, ge=0, le=3, title="Most rows in a clause")
    """How many rows of the other tables a clause may ask for, such as one prescription and one diagnosis. With 0 it
    refers to the main table alone."""
    negation: bool = Field(default=False, title="May say that a row does not exist")
    """Then a clause may also ask that there is no such row, such as no prescription with route = oral. This makes many
    more clauses possible."""
    quantifiers: tuple[Quantifier, ...] | None = Field(
        default=None, min_length=1, max_length=5, title="What may be said of rows"
    )
    """exists: that there is such a row. counts: that there are at least two, three or more. order: what the first or
    last row is like, and what comes later, in tables that keep the first or last rows of each person. alike: that two
    rows have the same value. within: which rows of another table belong to a row, as laboratory values to an admission.
    Default: as much as the number of records and epsilon leave room for."""
    most_counted: int = Field(default=3, ge=2, le=5, title="Count rows up to", json_schema_extra={"only": "counts"})
    """With 3, a clause may say 'at least 2' and 'at least 3'."""
    clauses: int = Field(default=2, ge=1, le=10, title="Number of clauses")
    """A clause is one rule: conditions that must hold together. Clauses are chosen one after another, each for those
    whom the earlier ones do not cover; the first one that covers somebody decides. epsilon is divided among them, so
    more clauses are each chosen with more noise."""
    weigh_alike: bool | None = Field(
        default=None, title="Both sides weigh alike if the value is rare", json_schema_extra={"only": "noisy_max"}
    )
    """Those described weigh the more the fewer they are, by noisy counts of both sides that take a twentieth of the
    budget for the clauses: where a value is rare, equal weights find hardly any clause. The weights of either side
    multiply these. Default: if these counts say that surely fewer than one in four have the value, and no weight was
    given."""
    positive_weight: int = Field(default=1, ge=1, le=100, title="Weight of those described")
    """How many records without the value one record with it makes up for. Choose more than 1 if the value is rare. The
    noise grows with it."""
    negative_weight: int = Field(default=1, ge=1, le=100, title="Weight of all others")
    """How many records with the value one record without it makes up for. Choose 2 or more if several clauses together
    should describe the value: each then covers fewer others. The noise grows with it."""
    strict_first: bool | None = Field(default=None, title="Strict clauses first")
    """Where those described weigh more than others, the others weigh up to three times as much when the first clause is
    chosen, and less with each later one. So the first clauses cover few people, of whom many have the value, and not
    half of all. Default: if the number of records and epsilon leave room for it."""
    count_share: Decimal = Field(default=Decimal("0.2"), gt=0, lt=1, title="Share of epsilon for the noisy counts")
    """The rest of epsilon chooses the clauses. A larger share makes the printed counts less noisy; a smaller one finds
    better clauses."""
    length_prior: bool = Field(
        default=True, title="Same chance for each length", json_schema_extra={"only": "noisy_max"}
    )
    """Most possible clauses are long. With this, each length has about the same chance before the records speak, and so
    has what is said of rows, so that a condition joins a clause only if it clearly makes it better."""
    criterion: Criterion = Field(default="best", title="Leave out", json_schema_extra={"only": "relevance_aware"})
    """When a clause and everything that extends it is left out, judged by noisy counts: if what it covers of the value
    cannot beat the best clause so far (best), or if that is less than a share of the public row limit (share). The
    paper leaves it open."""
    min_share: float = Field(
        default=0.05, ge=0, le=1, title="Least share that is enough", json_schema_extra={"only": "share"}
    )
    """As a share of the public row limit. Clauses whose noisy count is lower are left out."""
    reserved_literals: bool = Field(default=False, title="Ask for 'missing', 'other'")
    """Clauses may also ask for missing and other values."""
    evaluate: Evaluate = True

    @property
    def weights(self) -> tuple[int, int]:
        """Weight of a negative and of a positive."""
        return self.negative_weight, self.positive_weight

    @property
    def alike(self) -> bool:
        """Whether noisy counts of both sides tell their weights, or that none is needed."""
        asked = self.weights == (1, 1) if self.weigh_alike is None else self.weigh_alike
        return asked and self.method == "noisy_max"

    @property
    def heaviest(self) -> int:
        """Largest weight; expected, where noisy counts are asked to tell it."""
        return max(self.weights) * (_EXPECTED if self.alike and self.weigh_alike else 1)

    def weights_of(self, place: int) -> tuple[int, int]:
        """Weight of a negative and of a positive when one clause is chosen, for its place among all.

        Those of stricter first clauses are in tenths. No negative comes to weigh more than a positive by
        it: noise, in units of a positive, is as without.
        """
        negative, positive = self.weights
        if not self.strict_first or self.clauses == 1 or positive <= negative:
            return self.weights
        first, last = min(_STRICTEST, positive / negative), _MILDEST
        factor = first + (last - first) * place / (self.clauses - 1)
        return round(_TENTHS * factor * negative), _TENTHS * positive


class ILPSettings(ILPParameters):
    """What the analyst asked for, with the class that is described."""

    positive: str
    #: What was released before there was a choice was learned without.
    weigh_alike: bool | None = False
    strict_first: bool = False
