"""First looks, as all who read them know the family; what follows from released tables, and what they reveal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.hierarchies import levels_above
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.estimates import Estimates, Measured, Pair
from dpcore.models.summaries.released.finer import CodeTree, FinerTable, finer_ends
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.models.summaries.released.summary_parameters import BETWEEN, MOST_PAIRS, Axis, SummaryParameters, axes_of
from dpcore.models.summaries.released.summary_reading import read_look
from dpcore.models.summaries.released.synthesis import Source, draw_codes, values_of
from dpcore.privacy.budgets import EPSILON_STEP, gaussian_tail
from dpcore.privacy.randomness import public_generator
from dpcore.released.derived import check_certificate, check_counts, demand, stated_mu
from dpcore.released.evaluation import Z95
from dpcore.released.evidence import Evidence, Groups, Records
from dpcore.released.family import ReleasedFamily
from dpcore.released.plan import gaussian_words
from dpcore.released.release import Release

_ROUNDS: Final = 20
_LEAST: Final = 1e-9


def outcomes(
    codes: Mapping[int, Ints], axis: int, tables: Mapping[Pair, Floats], generator: np.random.Generator
) -> Ints:
    """Cells of one axis for records whose other cells are known; those that they have, if no pair tells of it.

    Parameters
    ----------
    codes : mapping of int to array of shape (n_records,)
    tables : mapping of (int, int) to array
        Counts of two axes.
    """
    told = [
        (codes[pair[1] if pair[0] == axis else pair[0]], table.T if pair[0] == axis else table)
        for pair, table in tables.items()
        if axis in pair
    ]
    if not told:
        return codes[axis]
    classes = told[0][1].shape[1]
    even = np.full((classes, len(codes[axis])), 1 / classes)
    chances = _fitted(even, told)
    part = sure(chances)
    likeliest = np.eye(classes)[:, chances.argmax(axis=0)]
    chances = _fitted((1 - part) * chances + part * likeliest, told)
    limits = np.cumsum(chances, axis=0)[:-1]
    return np.asarray((generator.random(chances.shape[1]) > limits).sum(axis=0))


def sure(chances: Floats) -> float:
    """Share of the records that follow the most likely value: of guesses wrong without the pairs, that right with them.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)

    Returns
    -------
    float
        From 0, if the pairs tell nothing, to 1, if they leave nothing open.
    """
    least, most = chances.mean(axis=1).max(), chances.max(axis=0).mean()
    return float((most - least) / max(1 - least, _LEAST))


def _fitted(chances: Floats, told: list[tuple[Ints, Floats]]) -> Floats:
    """Chances with which the records have the pairs, by alternate scaling.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)
        One class after the other, as sums and counts are quickest.
    told : list of (array of shape (n_records,), array of shape (n_cells, n_classes))
        Cells of another axis, and the counts of both.
    """
    shares = [(cells, (table / np.maximum(table.sum(axis=1, keepdims=True), _LEAST)).T) for cells, table in told]
    for _ in range(_ROUNDS):
        for cells, wanted in shares:
            now = np.stack([np.bincount(cells, own, wanted.shape[1]) for own in chances])
            found = now / np.maximum(now.sum(axis=0), _LEAST)
            chances = chances * ((wanted + _LEAST) / (found + _LEAST))[:, cells]
            chances /= chances.sum(axis=0)
    return chances


@dataclass(frozen=True)
class CellBins:
    """Every cell of a column is a bin of its own."""

    column: str
    edges: tuple[float, ...] | None
    groups: tuple[int, ...]
    cells: int

    def __len__(self) -> int:
        """Cells."""
        return self.cells


class SummaryEvidence(Evidence):
    """How many records are in each cell of each column, and of each pair."""

    def groups(self) -> Iterator[Groups]:
        """Records by their cells, column by column, and by the pairs that tell more than noise would.

        Counts are the estimates: what noise adds to their structure stands in for what no pair tells.
        """
        own, source = self.model.estimates, self._source
        for place, axis in enumerate(self.model.axes):
            if not axis.rows:
                counts, error = source.columns[place], own.deviation((place,))
                yield Groups(partial(_cells, axis.name), counts, error, self._bins(axis, len(counts)), (axis.name,))
        for (first, second), table in source.pairs.items():
            one, other = self.model.axes[first], self.model.axes[second]
            if not (one.rows or other.rows):
                error, names = own.deviation((first, second)), (one.name, other.name)
                yield Groups(partial(_pairs, *names, self.model.sizes[second]), table.ravel(), error, columns=names)

    @cached_property
    def _source(self) -> Source:
        return Source(self.model, likely=False)

    def _bins(self, axis: Axis, cells: int) -> CellBins:
        return CellBins(axis.column, axis.edges, () if axis.edges is not None else tuple(range(cells)), cells)

    def invented(self, schema: Schema, target: str, rows: int, seed: int) -> dict[str, object]:
        """Values of all columns, if pairs were counted, the target among them."""
        counted = {self.model.axes[axis].name for pair in self.model.pairs for axis in pair}
        if not counted or (target and target not in counted):
            return {}
        generator = public_generator(seed)
        codes = draw_codes(self._source, rows, generator)
        if target:
            place = self.model.place(target)
            codes[place] = outcomes(codes, place, self._source.pairs, generator)
        return {
            axis.column: values_of(axis, schema, codes[place], generator)
            for place, axis in enumerate(self.model.axes)
            if not axis.rows
        }


def _cells(name: str, records: Records) -> Ints:
    return records.cells(name)


def _pairs(first: str, second: str, width: int, records: Records) -> Ints:
    return np.asarray(records.cells(first) * width + records.cells(second))


#: Numbers that are told by so many digits; sums that were made otherwise; noise that no count shows.
_DIGITS, _CLOSE, _NOTHING = 2e-3, 1e-6, 1e-6
#: Step of the budget that chooses pairs.
CHOICE: Final = "choice of pairs"


def own_delta_words(mu: float | str, *, chooses: bool) -> str:
    """How the parts of a run compose that has a delta of its own."""
    words = gaussian_words(mu, "person")
    if not chooses:
        return words
    return f"'{CHOICE}' is the sum of the epsilons of its selections (exponential mechanism); the rest is {words}"


def rebuilt_look(release: Release, model: SummaryModel) -> SummaryModel:
    """The first look with every text and number that follows from the rest."""
    chosen, domain = SummaryParameters.model_validate(release.parameters), release.domain
    card = release.certificate
    demand(not card.parallel_split and (chosen.delta is None or chosen.delta == card.delta))
    own = own_delta_words(stated_mu(card), chooses=CHOICE in card.budget_split) if chosen.delta else ""
    check_certificate(release, chosen.method, own)
    axes = axes_of(domain, chosen.columns)
    sizes = tuple(axis.size(domain) for axis in axes)
    demand(model.axes == axes and model.sizes == sizes)
    _check_tables(release, model)
    _check_noise(release, model)
    rebuilt = model.model_copy(
        update={
            "by": None if chosen.by is None else model.place(chosen.by),
            "crosstabs": tuple(_crosstab(model, text) for text in chosen.crosstabs),
            "trees": tuple(
                _tree(release, model, tree, name) for tree, name in zip(model.trees, chosen.codes, strict=True)
            ),
            "finer": tuple(
                _finer(release, model, table, name) for table, name in zip(model.finer, chosen.finer, strict=True)
            ),
            "gaussian": release.certificate.delta > 0,
            "count_margin": _margin(model),
        }
    )
    _check_pairs(rebuilt, chosen)
    return rebuilt


def _check_tables(release: Release, model: SummaryModel) -> None:
    for table in model.tables:
        demand(0 < len(table.axes) <= 2 and list(table.axes) == sorted(set(table.axes)))
        demand(all(0 <= axis < len(model.axes) for axis in table.axes))
        demand(len(table.counts) == math.prod(model.sizes[axis] for axis in table.axes))
        _check_counts(release, table)
    demand(len({table.axes for table in model.tables}) == len(model.tables))


def _check_noise(release: Release, model: SummaryModel) -> None:
    """Demand that the noise of all tables together is what the budget buys."""
    card, rows = release.certificate, release.domain.privacy_unit.max_rows_per_person
    choice = card.budget_split.get(CHOICE, Decimal(0))
    levels = [level for tree in model.trees for level in tree.levels]
    deviations = [own.deviation for own in model.tables]
    deviations += [level.deviation for level in levels] + [table.deviation for table in model.finer]
    demand(all(0 < own < math.inf for own in deviations))
    if not card.delta:
        spent = sum(2 * rows * math.asinh(1 / (math.sqrt(2) * own)) for own in deviations)
        # Each table's share was rounded down to a step; noise below any record is all alike.
        left, lost = float(card.epsilon - choice), rows * len(deviations) * float(EPSILON_STEP)
        demand(spent <= left * (1 + _CLOSE) and (left - lost <= spent * (1 + _CLOSE) or min(deviations) < _NOTHING))
        return
    spent = sum((rows / own) ** 2 for own in deviations) / 2
    stated = stated_mu(card)
    if stated:
        demand(math.isclose(spent, float(stated) ** 2 / 2, rel_tol=_DIGITS))
    else:
        demand(math.isclose(spent, float(card.rho or 0) * float(1 - choice / card.epsilon), rel_tol=_DIGITS))


def _check_counts(release: Release, table: NoisyTable | FinerTable) -> None:
    demand(0 < table.deviation < math.inf)
    check_counts(table.counts, Z95 * table.deviation, release.domain.max_rows)
    demand(all(count == round(count, 3 if release.certificate.delta else 0) for count in table.counts))


def _check_pairs(model: SummaryModel, chosen: SummaryParameters) -> None:
    """Demand that pairs that were found were counted, and as many as were asked for."""
    counted = {table.axes for table in model.tables}
    demand(set(model.found) <= counted and len(set(model.found)) == len(model.found))
    demand(len(model.found) == chosen.pairs if not chosen.records else len(model.found) <= MOST_PAIRS)
    demand(not set(model.found) & {*model.groups, *model.crosstabs})


def _crosstab(model: SummaryModel, text: str) -> tuple[int, int]:
    """The pair that a text names: names may hold the word between them too."""
    words = text.split(BETWEEN)
    for cut in range(1, len(words)):
        names = BETWEEN.join(words[:cut]).strip(), BETWEEN.join(words[cut:]).strip()
        if set(names) <= model.columns() and names[0] != names[1]:
            first, second = sorted(map(model.place, names))
            return first, second
    raise KeyError(text)


def _tree(release: Release, model: SummaryModel, tree: CodeTree, name: str) -> CodeTree:
    levels = []
    for given, known in zip(tree.levels, levels_above(release.domain.column(name)), strict=True):
        demand(len(given.counts) == len(known.cells) and 0 < given.deviation < math.inf)
        check_counts(given.counts, Z95 * given.deviation, release.domain.max_rows)
        own = {"name": known.name, "cells": known.cells, "groups": known.groups}
        levels.append(given.model_copy(update=own))
    return CodeTree(axis=model.place(name), levels=tuple(levels))


def _finer(release: Release, model: SummaryModel, table: FinerTable, name: str) -> FinerTable:
    column: Any = release.domain.column(name)
    ends, cells = finer_ends(column)
    demand(len(table.counts) == len(cells))
    _check_counts(release, table)
    return table.model_copy(update={"axis": model.place(name), "ends": ends, "cells": cells})


def _margin(model: SummaryModel) -> int:
    """Noise on an estimated count of the column in the middle, from the tables that were asked for at first."""
    found = set(model.found)
    first = [
        Measured(table.axes, np.zeros([model.sizes[axis] for axis in table.axes]), table.deviation)
        for table in model.tables
        if table.axes not in found
    ]
    estimates = Estimates(model.sizes, first, gaussian=model.gaussian)
    deviations = sorted(estimates.deviation((place,)) for place in range(len(model.axes)))
    return gaussian_tail(deviations[len(deviations) // 2], 0.95)


SUMMARIES: Final = ReleasedFamily(
    name="summaries",
    title="First look",
    lead="How many, how old, how much is missing, how do groups differ: the distribution of every column, "
    "counted privately.",
    parameters=SummaryParameters,
    model=SummaryModel,
    read=read_look,
    rebuilt=rebuilt_look,
    evidence=SummaryEvidence,
    methods={"weighted": "Noise where it disturbs least (recommended)", "equal": "The same for every table"},
    targeted=False,
    relational=True,
)
