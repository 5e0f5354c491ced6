"""Parameters of a first look: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.domain.schemas.names import Name
from dpcore.released.parameters import Parameters

SummaryMethod = Literal["weighted", "equal"]
Columns = Annotated[tuple[Name, ...], Field(min_length=1, max_length=1000)]
#: Pairs that one run may find.
MOST_PAIRS: Final = 200
#: Between the two columns of a crosstab, as text.
BETWEEN: Final = " by "


class SummaryParameters(Parameters):
    """Which tables of counts are asked for."""

    method: SummaryMethod = Field(
        default="weighted",
        title="How noise is shared",
        description="weighted divides the budget so that the error over all cells that are shown is smallest. "
        "equal gives every table the same part, for comparison.",
    )
    columns: Columns | None = Field(
        default=None,
        title="Columns",
        description="Columns that are looked at. Fewer of them have less noise each. Default: all.",
    )
    by: Name | None = Field(
        default=None,
        title="Groups to compare",
        description="Every column is also counted in each group of this one: an outcome, a treatment, a site. "
        "Default: none.",
    )
    crosstabs: tuple[Name, ...] = Field(
        default=(),
        max_length=200,
        title="Pairs of columns",
        description="Each written as 'sex by died': how many have each value of one with each value of the other.",
    )
    codes: tuple[Name, ...] = Field(
        default=(),
        max_length=100,
        title="Codes by their groups",
        description="Columns of codes that are also counted by the groups above their categories: chapters above "
        "blocks of ICD-10, levels of ATC, or the groups that the schema makes of categories. A group then has less "
        "noise than the sum of its codes.",
    )
    finer: tuple[Name, ...] = Field(
        default=(),
        max_length=100,
        title="Finer quantiles",
        description="Columns of numbers that are also counted in finer cells: medians and other quantiles are told "
        "more closely than the column's own cut points allow. Takes a part of the budget from the other counts.",
    )
    pairs: int = Field(
        default=0,
        ge=0,
        le=MOST_PAIRS,
        title="Pairs to be found",
        description="So many pairs of columns that go together most are found privately, and counted. They "
        "take a part of epsilon from the columns.",
    )
    records: bool = Field(
        default=False,
        title="Pairs for invented records",
        description="As many pairs are found as pay for invented records, by the sizes of columns, the declared most "
        "rows and epsilon alone: none where noise would hide them. In place of a number of pairs.",
    )
    delta: Decimal | None = Field(
        default=None,
        gt=0,
        le=Decimal("0.01"),
        title="delta (allowance beyond epsilon)",
        description="With it the noise is Gaussian, which is less for many tables. It must be far smaller than 1 "
        "divided by the number of people. Default: that of the data set's budget; without one, none.",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if self.records and self.pairs:
            raise ValueError("pairs are found for invented records, or so many as are named: not both")
        columns = (("column", self.columns or ()), ("column of codes", self.codes), ("column", self.finer))
        for what, names in (*columns, ("pair", self.crosstabs)):
            twice = [name for place, name in enumerate(names) if name in names[:place]]
            if twice:
                raise ValueError(f"the {what} '{twice[0]}' is named twice")
        return self
