"""What a first look says: every column in sentences, all of them in one figure, groups, pairs and codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import Association, associations
from dpcore.models.summaries.released.code_reading import Branch, branches
from dpcore.models.summaries.released.reading import ColumnReading, readings, total_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import (
    POOLED,
    cell_words,
    column_sentences,
    count_words,
    figures,
    pooled_words,
    range_of_counts,
    range_of_shares,
    share_alone,
    strength_words,
)
from dpcore.models.summaries.released.table_one import table_one
from dpcore.models.summaries.released.table_one_words import means_words, table_one_table
from dpcore.numerals import percent, whole
from dpcore.released.blocks import Block, Bullets, Cell, Figure, Inner, Noisy, Table
from dpcore.released.release import Release

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


def columns_table(told: Sequence[ColumnReading], schema: Schema) -> Table:
    """Every column in a few sentences."""
    rows = [(reading.label, " ".join(column_sentences(reading, schema))) for reading in told]
    means = means_words(any(reading.mean is not None for reading in told))
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
