"""What a first look asks for: public, from the schema and the parameters alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Final

from dpcore.domain.columns import NumericColumn
from dpcore.domain.hierarchies import CodeLevel, levels_above
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.summaries.learning.design import asked as asked_for
from dpcore.models.summaries.learning.design import shares_of
from dpcore.models.summaries.released.estimates import Axes, Pair
from dpcore.models.summaries.released.finer import finer_ends
from dpcore.models.summaries.released.summary_parameters import BETWEEN, Axis, SummaryParameters, axes_of

COLUMNS, GROUPS, PAIRS = "columns", "columns by groups", "pairs"
FOUND, TREES, FINER = "pairs found", "groups of codes", "finer quantiles"
#: How important an error in a cell is, of a column being 1.
_IMPORTANCE: Final[Mapping[str, float]] = {COLUMNS: 1.0, GROUPS: 0.5, PAIRS: 0.25, FOUND: 0.25, TREES: 1.0, FINER: 0.25}
#: Least and largest share of the pairs that are to be found, of what is left beside their choice.
_FEWEST, _MOST = Fraction(1, 10), Fraction(6, 10)
#: Least share of coarser and finer counts, if there are any, of the same.
_LEAST_LEVELS: Final = Fraction(2, 100)
#: Most cells of a pair that may be found, of all tables together, and places that a run may visit.
_PAIR_CELLS, _CELLS, _PLACES = 10_000, 4_000_000, 2_000_000_000_000


@dataclass(frozen=True)
class Division:
    """What is asked for: public, from the schema and the parameters alone."""

    axes: tuple[Axis, ...]
    sizes: tuple[int, ...]
    """Cells of each."""
    by: int | None
    """Place of the axis whose groups are compared."""
    crosstabs: tuple[Pair, ...]
    candidates: tuple[Pair, ...]
    """Pairs that may be found."""
    pairs: int
    """How many of them."""
    steps: Mapping[Axes, str]
    """The tables that are wanted at first, with what each is for."""
    weighted: bool
    trees: Mapping[int, tuple[CodeLevel, ...]]
    """Places of the axes that are counted down their codes, with the levels above their cells."""
    finer: Mapping[int, tuple[tuple[float, ...], tuple[int, ...]]]
    """Places of the axes that are counted in finer cells, with the ends of these and the cells that they lie in."""

    @property
    def chooses(self) -> bool:
        """Whether pairs are chosen, rather than all taken that there are."""
        return 0 < self.pairs < len(self.candidates)

    @cached_property
    def found_share(self) -> Fraction:
        """Share of the pairs that are to be found, of what is left beside their choice."""
        if not self.pairs:
            return Fraction(0)
        usual = sum(map(self.cells, self.candidates)) / len(self.candidates)
        wanted = self.pairs * (_IMPORTANCE[FOUND] * usual) ** (2 / 3)
        return min(max(Fraction(round(100 * wanted / (wanted + self._first)), 100), _FEWEST), _MOST)

    @cached_property
    def levels_share(self) -> Fraction:
        """Share of coarser and finer counts of columns, of what is left beside pairs that are to be found."""
        wanted = sum(self.levels.values())
        if not wanted:
            return Fraction(0)
        return max(Fraction(round(100 * wanted / (wanted + self._first)), 100), _LEAST_LEVELS)

    @cached_property
    def levels(self) -> dict[tuple[int, int], float]:
        """Each level above a column of codes, by places of axis and level (of finer cells -1), and what it asks for."""
        trees = {
            (axis, place): float((_IMPORTANCE[TREES] * len(level.cells)) ** (2 / 3))
            for axis, levels in self.trees.items()
            for place, level in enumerate(levels)
        }
        below = {
            (axis, -1): float((_IMPORTANCE[FINER] * len(cells)) ** (2 / 3)) for axis, (_, cells) in self.finer.items()
        }
        return trees | below

    @cached_property
    def level_parts(self) -> dict[tuple[int, int], int]:
        """Shares of these levels, as whole numbers."""
        return {key: max(1, round(100 * wanted)) for key, wanted in self.levels.items()}

    @cached_property
    def _first(self) -> float:
        """What the first tables ask for."""
        return float(sum((_IMPORTANCE[step] * self.cells(axes)) ** (2 / 3) for axes, step in self.steps.items()))

    def cells(self, axes: Axes) -> int:
        """Cells of a table."""
        return math.prod(self.sizes[axis] for axis in axes)

    def parts(self, *, gaussian: bool) -> dict[Axes, int]:
        """Shares of the tables that are asked for at first, as whole numbers."""
        if not self.weighted:
            return dict.fromkeys(self.steps, 1)
        wanted = tuple((axes, _IMPORTANCE[step]) for axes, step in self.steps.items())
        shares = shares_of(self.sizes, wanted, gaussian=gaussian)
        return {axes: shares[axes] for axes in asked_for(shares)}


def division_of(schema: Schema, parameters: SummaryParameters) -> Division:
    """What a run is asked for.

    Raises
    ------
    RequestError
        If a column or pair is not in the schema, or there is too much to count.
    """
    _check_known(schema, [*(parameters.columns or ()), *([parameters.by] if parameters.by else [])])
    axes = axes_of(schema, parameters.columns)
    names = {axis.name: place for place, axis in enumerate(axes) if not axis.rows}
    by = _place(names, parameters.by) if parameters.by else None
    steps: dict[Axes, str] = {(place,): COLUMNS for place in range(len(axes))}
    if by is not None:
        steps |= {tuple(sorted((by, own))): GROUPS for own in range(len(axes)) if own != by}
    crosstabs = tuple(_pair(names, text) for text in parameters.crosstabs)
    if len(set(crosstabs)) < len(crosstabs):
        raise RequestError("A pair of columns is named twice.")
    steps |= {pair: PAIRS for pair in crosstabs if pair not in steps}
    sizes = tuple(axis.size(schema) for axis in axes)
    candidates = tuple(
        pair
        for pair in combinations(range(len(axes)), 2)
        if pair not in steps and sizes[pair[0]] * sizes[pair[1]] <= _PAIR_CELLS
    )
    if parameters.pairs > len(candidates):
        left = f"There are {len(candidates)} pairs of these columns left to be found"
        raise RequestError(f"{left}: choose so many at most.")
    candidates = candidates if parameters.pairs else ()
    trees = {_place(names, name): _levels(schema, name) for name in parameters.codes}
    finer = {_place(names, name): _finer(schema, name) for name in parameters.finer}
    weighted = parameters.method == "weighted"
    made = Division(axes, sizes, by, crosstabs, candidates, parameters.pairs, steps, weighted, trees, finer)
    _check_effort(schema, made)
    return made


def _check_known(schema: Schema, names: Sequence[str]) -> None:
    for name in names:
        schema.column(name)


def _place(names: Mapping[str, int], name: str) -> int:
    if name not in names:
        raise RequestError(f"'{name}' is not among the columns that are looked at.")
    return names[name]


def _levels(schema: Schema, name: str) -> tuple[CodeLevel, ...]:
    levels = levels_above(schema.column(name))
    if not levels:
        raise RequestError(f"'{name}' has no groups above its categories: it is no column of codes.")
    return levels


def _finer(schema: Schema, name: str) -> tuple[tuple[float, ...], tuple[int, ...]]:
    column = schema.column(name)
    if not isinstance(column, NumericColumn):
        raise RequestError(f"'{name}' is no column of numbers, so it has no quantiles.")
    return finer_ends(column)


def _pair(names: Mapping[str, int], text: str) -> Pair:
    """The two columns of a crosstab: names may hold the word between them too."""
    words = text.split(BETWEEN)
    for cut in range(1, len(words)):
        one, other = BETWEEN.join(words[:cut]).strip(), BETWEEN.join(words[cut:]).strip()
        if one in names and other in names and one != other:
            first, second = sorted((names[one], names[other]))
            return first, second
    raise RequestError(f"'{text}' does not name a pair: write two different columns as 'sex by died'.")


def _check_effort(schema: Schema, division: Division) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    cells = sum(map(division.cells, division.steps)) + division.pairs * _PAIR_CELLS * bool(division.pairs)
    if sum(map(division.cells, division.steps)) > _CELLS or cells > 2 * _CELLS:
        raise RequestError(f"These tables have more than {_CELLS} cells: choose fewer columns or pairs.")
    if (len(division.steps) + len(division.candidates)) * schema.max_rows > _PLACES:
        raise RequestError("So many tables of so many rows would take hours: choose fewer columns.")
