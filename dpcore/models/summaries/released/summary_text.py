"""A first look as plain text, for a terminal."""

from __future__ import annotations

from dpcore.domain.counted import counted
from dpcore.models.summaries.released.association import associations
from dpcore.models.summaries.released.code_reading import branches
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import ColumnReading, readings, total_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import (
    POOLED,
    count_words,
    figure_words,
    pooled_words,
    share_words,
    strength_words,
)
from dpcore.models.summaries.released.table_one import Line, table_one
from dpcore.numerals import whole
from dpcore.released.release import Release

#: Categories of a column that are told one by one.
_TOLD = 6


def summary_text(release: Release, model: SummaryModel) -> str:
    """Everything that a first look tells."""
    schema = release.domain
    total = total_of(model)
    noise = f"({whole(total.low)} to {whole(total.high)} for the noise)"
    lines = [f"About {counted(schema).number(total.value)} {noise}.", ""]
    for reading in readings(model, schema):
        lines += column_lines(reading)
    if model.by is not None:
        lines += ["", *_groups(model, release)]
    for place, tree in enumerate(model.trees):
        lines += ["", f"{model.axes[tree.axis].label(schema)}, from the coarsest groups down:"]
        told = branches(model, schema, place)
        lines += [f"{'  ' * (own.depth + 1)}{own.name}: {count_words(own.count)}" for own in told]
    if model.pairs:
        lines += ["", "Association of columns (Cramér's V, 0 to 1):"]
        labels = [axis.label(schema) for axis in model.axes]
        for one in associations(model):
            first, second = (labels[axis] for axis in one.axes)
            lines.append(f"  {first} and {second}: {strength_words(one.strength)}")
        if pooled := pooled_words(model, schema):
            lines += ["", f"Rare values in Cramér's V. {POOLED}"]
            lines += [f"  {column}: {_pooled(together, left_out)}" for column, together, left_out in pooled]
    return "\n".join(lines)


def column_lines(reading: ColumnReading) -> list[str]:
    """What is told of one column."""
    shares = reading.shares
    if reading.mean is not None:
        quantiles = ", ".join(
            f"{name} {figure_words(reading.quantiles[share])}"
            for name, share in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))
        )
        missing = "" if reading.missing is None else f"; missing {share_words(reading.missing)}"
        return [f"{reading.label}: mean {figure_words(reading.mean)}, {quantiles}{missing}"]
    order = sorted(range(len(reading.cells)), key=lambda place: -shares.values[place])
    told = ", ".join(f"{reading.cells[place]} {share_words(shares.amount(place))}" for place in order[:_TOLD])
    more = f", and {len(order) - _TOLD} more" if len(order) > _TOLD else ""
    return [f"{reading.label}: {told}{more}"]


def _groups(model: SummaryModel, release: Release) -> list[str]:
    table = table_one(model, release.domain)
    lines = [f"By {table.by}: {', '.join(table.groups)}"]
    return lines + [_group_line(line) for line in table.lines]


def _group_line(line: Line) -> str:
    told = " | ".join(_shown(line.kind, own) for own in line.groups)
    gap = "" if line.difference is None else f"  [standardised difference {figure_words(line.difference)}]"
    kind = f" ({line.kind})" if line.kind == "mean" else ""
    indent = "  " if line.kind in {"mean", "count", ""} else "    "
    return f"{indent}{line.label}{kind}: {told}{gap}".rstrip(": ")


def _shown(kind: str, amount: Amount) -> str:
    if kind == "count":
        return whole(amount.value)
    return share_words(amount) if kind == "share" else figure_words(amount)


def _pooled(pooled: str, left_out: str) -> str:
    told = (("pooled", pooled), ("left out", left_out))
    return "; ".join(f"{what}: {values}" for what, values in told if values)
