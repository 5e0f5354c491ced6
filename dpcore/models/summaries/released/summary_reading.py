"""What a first look says, for people as blocks and for programs as frames: columns, groups, pairs, codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pandas as pd

from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import Association, associations, poolings
from dpcore.models.summaries.released.crosstab import Crosstab, crosstab
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import ColumnReading, readings, total_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import (
    POOLED,
    Branch,
    branches,
    cell_words,
    column_sentences,
    count_words,
    figures,
    pooled_words,
    range_of_counts,
    range_of_shares,
    rounded,
    share_alone,
    strength_words,
    unit_of,
)
from dpcore.models.summaries.released.table_one import Line, TableOne, table_one
from dpcore.numerals import percent, whole
from dpcore.released.blocks import Block, Bullets, Cell, Figure, Inner, Noisy, Table
from dpcore.released.release import Release

DIFFERENCE: Final = "Standardised difference"
MEAN: Final = "mean"
#: What a mean is, for a column of which ranges were counted.
MIDDLES: Final = "takes each number as the middle of its range, of those that were counted"


def table_one_table(model: SummaryModel, schema: Schema, table: TableOne) -> Table:
    """A table 1 in words: columns as rows, groups as columns."""
    assert model.by is not None
    by = model.axes[model.by]
    told = dict(zip(by.cells(schema), cell_words(by, schema), strict=True))
    shown = [by.cells(schema).index(group) for group in table.groups]
    writer = _Writer(model, schema, table, shown)
    rows = [row for own in table.lines for row in writer.rows(own)]
    means = means_words(any(line.kind == "mean" for line in table.lines))
    caption = f"Table 1: Columns by {table.by}{_left_out(table)}; intervals are for the noise, 95%{means}"
    return Table.of(caption, ["", *(told[group] for group in table.groups), DIFFERENCE], rows)


def means_words(told: bool) -> str:
    """What a caption says of means, if there are any."""
    return f"; a mean {MIDDLES}, its interval allows for numbers anywhere in their ranges" if told else ""


def _left_out(table: TableOne) -> str:
    """Why columns have no standardised difference that might have one."""
    if not table.uncompared:
        return ""
    return f". Too many groups and categories for a standardised difference: {', '.join(table.uncompared)}"


class _Writer:
    """What is needed to write the lines of one table."""

    def __init__(self, model: SummaryModel, schema: Schema, table: TableOne, shown: list[int]) -> None:
        assert model.by is not None
        self.model, self.schema, self.by, self.shown = model, schema, model.by, shown
        self.sizes = [amount.value for amount in table.lines[0].groups]
        self._tables: dict[int, Crosstab] = {}

    def rows(self, line: Line) -> list[list[Cell]]:
        """The rows of one line: a column may need one for its name."""
        gap: Cell = "" if line.difference is None else Noisy(*_apart(strength_words(line.difference)))
        if line.kind == "count":
            counts = [Noisy(whole(own.value), range_of_counts(own)) for own in line.groups]
            return [[_upper(counted(self.schema).several), *counts, ""]]
        none = [""] * len(self.shown)
        if line.kind == "":
            return [[line.label, *none, gap]]
        place = self.model.place(line.column) if not self._of_rows(line) else self._rows_place(line)
        if line.kind == "share":
            return [[Inner(self._cell(place, line)), *self._shares(place, line), gap]]
        figures = map(_figure, line.groups)
        if line.kind == "mean":
            unit = unit_of(self.model.axes[place], self.schema)
            heading = f"{line.label} ({unit})" if unit and not line.label.endswith(f"({unit})") else line.label
            return [[heading, *none, gap], [Inner(MEAN), *figures, ""]]
        return [[Inner(line.kind), *figures, ""]]

    def _of_rows(self, line: Line) -> bool:
        return line.column not in self.model.columns()

    def _rows_place(self, line: Line) -> int:
        return next(n for n, axis in enumerate(self.model.axes) if axis.rows and axis.name == line.column)

    def _cell(self, place: int, line: Line) -> str:
        axis = self.model.axes[place]
        return cell_words(axis, self.schema)[axis.cells(self.schema).index(line.label)]

    def _shares(self, place: int, line: Line) -> tuple[Noisy, ...]:
        if place not in self._tables:
            self._tables[place] = crosstab(self.model, self.schema, self.by, place)
        table = self._tables[place]
        cell = self.model.axes[place].cells(self.schema).index(line.label)
        return tuple(
            _share(own, size * own.value, table.count(group, cell))
            for own, size, group in zip(line.groups, self.sizes, self.shown, strict=True)
        )


def _share(share: Amount, people: float, counted: Amount) -> Noisy:
    """Count and share, with both intervals; the count is what the share makes of its group."""
    own = Amount(people, min(counted.low, people), max(counted.high, people))
    return Noisy(f"{whole(people)} ({share_alone(share)})", f"{range_of_counts(own)}; {range_of_shares(share)}")


def _figure(amount: Amount) -> Noisy:
    value, low, high = rounded(amount)
    return Noisy(value, f"{low} to {high}")


def _apart(words: str) -> tuple[str, str]:
    value, _, rest = words.partition(" ")
    return value, rest.strip("()")


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


#: Columns that the figure of all has, in full and on one page.
MOST_COLUMNS: Final = 24
_FEW_COLUMNS: Final = 6


def read_look(release: Release, model: SummaryModel, short: bool) -> Iterator[Block]:
    """How many there are, every column, and what was counted beyond that."""
    schema, told = release.domain, readings(model, release.domain)
    people, most = counted(schema).several, _FEW_COLUMNS if short else MOST_COLUMNS
    said = [f"{count_words(total_of(model))} {people} in all."]
    if len(told) > most:
        said.append(f"The picture shows the first {most} of {len(told)} columns.")
    yield Bullets.of(*said)
    yield Figure("overview", "All columns", (told[:most], schema))
    yield columns_table(told, schema)
    if model.by is not None:
        yield table_one_table(model, schema, table_one(model, schema))
    if model.pairs:
        found, labels = associations(model), [reading.label for reading in told]
        yield Figure("pairs", "Pairs of columns", (found, labels))
        yield pairs_table(found, labels)
        yield from pooled_tables(model, schema)
    for place, tree in enumerate(model.trees):
        shown, label = branches(model, schema, place), told[tree.axis].label
        yield Figure("codes", f"{label} by groups", (shown, people, label))
        yield codes_table(shown, people, label)


def columns_table(readings: Sequence[ColumnReading], schema: Schema) -> Table:
    """Every column in a few sentences."""
    rows = [(reading.label, " ".join(column_sentences(reading, schema))) for reading in readings]
    means = means_words(any(reading.mean is not None for reading in readings))
    return Table.of(f"All columns; intervals are for the noise, 95%{means}", ("Column", "What it holds"), rows)


def pairs_table(found: Sequence[Association], labels: Sequence[str]) -> Table:
    """How strongly pairs of columns are associated."""
    rows = [(labels[one.axes[0]], labels[one.axes[1]], strength_words(one.strength)) for one in found]
    head = ("Column", "and", "Cramér's V (interval for the noise)")
    return Table.of("Pairs of columns that were counted, the strongest first", head, rows)


def pooled_tables(model: SummaryModel, schema: Schema) -> list[Table]:
    """Which values Cramér's V pools or leaves out, if there are any."""
    pooled = pooled_words(model, schema)
    caption = f"Rare values in Cramér's V. {POOLED}"
    return [Table.of(caption, ("Column", "Pooled", "Left out"), pooled)] if pooled else []


def codes_table(found: Sequence[Branch], people: str, label: str) -> Table:
    """Branches of one column of codes that stand out of the noise, from the coarsest groups down."""
    rows = [
        (
            Inner(branch.name, branch.depth),
            Noisy(whole(branch.count.value), range_of_counts(branch.count)),
            percent(branch.share),
            f"{branch.folded}" if branch.folded else "",
        )
        for branch in found
    ]
    caption = f"{label} by groups, those that stand out of the noise; intervals are for the noise alone, 95%"
    head = ("Group", f"Noisy number of {people}", "Share of all", "Below it, hidden by the noise")
    return Table.of(caption, head, rows)


def values_table(reading: ColumnReading, schema: Schema, truth: Sequence[int] | None = None) -> Table:
    """Count and share of every value of a column; ``truth``: true counts, of public records."""
    people, counts, shares = counted(schema).several, reading.counts, reading.shares
    true = [] if truth is None else [[whole(int(count))] for count in truth]
    rows: list[list[Cell]] = []
    for cell, name in enumerate(cell_words(reading.axis, schema)):
        count, share = counts.amount(cell), shares.amount(cell)
        told = Noisy(whole(count.value), range_of_counts(count)), Noisy(share_alone(share), range_of_shares(share))
        rows.append([name, *told, *(true[cell] if true else [])])
    head = ["Value", f"{people.capitalize()} (noisy)", "Share (noisy)", *([f"◇ True {people}"] if true else [])]
    return Table.of(f"{reading.label}: every value; intervals are for the noise, 95%", head, rows, len(rows))


def figures_table(reading: ColumnReading, schema: Schema) -> Table:
    """Mean and quantiles of a number."""
    of_what = "for the noise and numbers anywhere in their range"
    caption = f"{reading.label} among those with a value; 95% intervals, {of_what}"
    return Table.pairs(caption, figures(reading, schema), "Figure", "Noisy value")


_ASSOCIATIONS: Final = [
    *("first", "second", "Cramér's V", "Cramér's V low", "Cramér's V high"),
    *("pooled of first", "left out of first", "pooled of second", "left out of second"),
]


def cell_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Count and share of every cell of every column."""
    return pd.DataFrame(
        [
            {
                "column": reading.axis.name,
                "cell": cell,
                **_named("count", reading.counts.amount(place)),
                **_named("share", reading.shares.amount(place)),
            }
            for reading in readings(model, schema)
            for place, cell in enumerate(reading.cells)
        ]
    )


def number_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Mean and quantiles of every column of numbers."""
    rows: list[dict[str, object]] = []
    for reading in readings(model, schema):
        told = {f"quantile {share:g}": amount for share, amount in reading.quantiles.items()}
        if reading.mean is not None:
            told = {"mean": reading.mean, **told}
        rows += [{"column": reading.axis.name, "figure": name, **_named("value", own)} for name, own in told.items()]
    return pd.DataFrame(rows, columns=["column", "figure", "value", "value low", "value high"])


def table_one_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """One row for each line of a table 1, with three columns for each group: ``value of``, ``low of``, ``high of`` it.

    These words stand first, so that no group, whatever it is called, has a column of another one or of the table.
    """
    table = table_one(model, schema)
    rows = []
    for line in table.lines:
        row: dict[str, object] = {"column": line.column, "line": line.label, "figure": line.kind}
        for name, amount in zip(table.groups, line.groups, strict=False):
            row |= {f"value of {name}": amount.value, f"low of {name}": amount.low, f"high of {name}": amount.high}
        if line.difference is not None:
            row |= _named("standardised difference", line.difference)
        rows.append(row)
    return pd.DataFrame(rows)


def association_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Cramér's V of every pair that was counted, the strongest first, and the values that it pools or leaves out."""
    names = [axis.label(schema) if axis.rows else axis.name for axis in model.axes]
    pools, rows = poolings(model), []
    for one in associations(model):
        row: dict[str, object] = {"first": names[one.axes[0]], "second": names[one.axes[1]]}
        row |= _named("Cramér's V", one.strength)
        for which, axis in zip(("first", "second"), one.axes, strict=True):
            cells = model.axes[axis].cells(schema)
            row[f"pooled of {which}"] = "; ".join(cells[cell] for cell in pools[axis].pooled)
            row[f"left out of {which}"] = "; ".join(cells[cell] for cell in pools[axis].left_out)
        rows.append(row)
    return pd.DataFrame(rows, columns=_ASSOCIATIONS)


def code_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Count of every branch of every tree of codes that stands out of the noise, from the coarsest groups down."""
    rows = [
        {
            "column": model.axes[tree.axis].name,
            "depth": branch.depth,
            "group": branch.name,
            **_named("count", branch.count),
            "share": branch.share,
            "hidden by the noise": branch.folded,
        }
        for place, tree in enumerate(model.trees)
        for branch in branches(model, schema, place)
    ]
    names = ["column", "depth", "group", "count", "count low", "count high", "share", "hidden by the noise"]
    return pd.DataFrame(rows, columns=names)


def _named(name: str, amount: Amount) -> dict[str, float]:
    return {name: amount.value, f"{name} low": amount.low, f"{name} high": amount.high}
