"""Tables of a first look, for reading and printing."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import Association
from dpcore.models.summaries.released.code_reading import Branch
from dpcore.models.summaries.released.reading import ColumnReading
from dpcore.models.summaries.released.summary_words import POOLED, column_sentences, count_words, strength_words
from dpcore.models.summaries.released.table_one_words import MIDDLES, PrintedCell, PrintedTable
from dpcore.report.tables import Table


def columns_table(told: Sequence[ColumnReading], schema: Schema) -> Table:
    """Every column in a few sentences."""
    rows = [(reading.label, " ".join(column_sentences(reading, schema))) for reading in told]
    means = _means(any(reading.mean is not None for reading in told))
    return Table.of(f"All columns; intervals are for the noise, 95%{means}", ("Column", "What it holds"), rows)


def table_one_table(table: PrintedTable) -> Table:
    """Columns by groups."""
    head = ("", *table.groups, "Standardised difference")
    rows = []
    for line in table.lines:
        label = f"\u2003{line.label}" if line.inner else line.label
        cells = line.cells or (None,) * len(table.groups)
        rows.append((label, *map(_told, cells), _told(line.difference)))
    return Table.of(f"Table 1: {table.caption}; intervals are for the noise, 95%{_means(table.means)}", head, rows)


def _means(told: bool) -> str:
    """What a caption says of means, if there are any."""
    return f"; a mean {MIDDLES}, its interval allows for numbers anywhere in their ranges" if told else ""


def _told(cell: PrintedCell | None) -> str:
    return "" if cell is None else f"{cell.figure} ({cell.interval})"


def codes_table(found: Sequence[Branch], label: str) -> Table:
    """Branches of one column of codes that stand out of the noise, from the coarsest groups down."""
    rows = [
        ("\u2003" * branch.depth + branch.name, count_words(branch.count), f"{branch.folded}" if branch.folded else "")
        for branch in found
    ]
    caption = f"{label} by groups, those that stand out of the noise; intervals are for the noise alone, 95%"
    return Table.of(caption, ("Group", "Noisy number", "Below it, hidden by the noise"), rows)


def pooled_table(pooled: Sequence[tuple[str, str, str]]) -> Table:
    """Which values Cramér's V pools or leaves out."""
    return Table.of(f"Rare values in Cramér's V. {POOLED}", ("Column", "Pooled", "Left out"), pooled)


def pairs_table(found: Sequence[Association], labels: Sequence[str]) -> Table:
    """How strongly pairs of columns are associated."""
    rows = [(labels[one.axes[0]], labels[one.axes[1]], strength_words(one.strength)) for one in found]
    head = ("Column", "and", "Cramér's V (interval for the noise)")
    return Table.of("Pairs of columns that were counted, the strongest first", head, rows)
