"""One column of a first look in sentences and figures."""

from __future__ import annotations

from dpcore.domain.amounts import amount
from dpcore.domain.columns import RESERVED
from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.reading import Amount, ColumnReading
from dpcore.models.summaries.released.summary_words import cell_words, figure_words, share_words, unit_of

#: Categories that are told one by one.
_TOLD = 5
_QUANTILES = {
    0.1: "a tenth below",
    0.25: "lower quartile",
    0.5: "median",
    0.75: "upper quartile",
    0.9: "nine tenths below",
}


def figures(reading: ColumnReading, schema: Schema) -> dict[str, str]:
    """Mean and quantiles by name, with their intervals; empty of categories."""
    unit = unit_of(reading.axis, schema)
    told = {} if reading.mean is None else {"mean": figure_words(reading.mean, unit)}
    return told | {
        name: figure_words(reading.quantiles[q], unit) for q, name in _QUANTILES.items() if reading.quantiles
    }


def column_sentences(reading: ColumnReading, schema: Schema) -> list[str]:
    """What a column tells, its interval for noise behind each number."""
    if reading.untold:
        lines = [_untold(reading, schema)]
    elif reading.quantiles:
        named = figures(reading, schema)
        middle = " and ".join(figure_words(reading.quantiles[q], unit_of(reading.axis, schema)) for q in (0.25, 0.75))
        lines = [f"Mean {named['mean']}, median {named['median']}.", f"Half of all values lie between {middle}."]
    else:
        lines = [_largest(reading, schema)]
    return lines + _without_value(reading, schema)


def _untold(reading: ColumnReading, schema: Schema) -> str:
    assert reading.ends is not None
    unit = unit_of(reading.axis, schema)
    bounds = f"{amount(reading.ends[0], unit, once=True)} to {amount(reading.ends[-1], unit)}"
    many = counted(schema).several
    return f"Too few {many} stand out from the noise to tell a mean or quantiles: these may be anything from {bounds}."


def _largest(reading: ColumnReading, schema: Schema) -> str:
    names = cell_words(reading.axis, schema)
    known = [cell for cell, name in enumerate(reading.cells) if name not in RESERVED]
    order = sorted(known, key=lambda cell: -reading.shares.values[cell])
    told = "; ".join(f"{names[cell]}, {share_words(reading.shares.amount(cell))}" for cell in order[:_TOLD])
    rest = len(order) - _TOLD
    more = f"; and {rest} more" if rest > 0 else ""
    return f"{'Most often' if len(order) > 2 else 'Shares'}: {told}{more}."


def _without_value(reading: ColumnReading, schema: Schema) -> list[str]:
    """Who has no value, and who has one that the schema does not list."""
    lines, people = [], counted(schema).several
    if reading.missing is not None:
        lines.append(_gone(reading.missing, f"of {people} have no value", "Missing values"))
    if reading.other is not None and reading.other.low > 0:
        lines.append(f"{share_words(reading.other)} of {people} have a value that the schema does not list.")
    return lines


def _gone(share: Amount, what: str, title: str) -> str:
    if share.low > 0:
        return f"{share_words(share)} {what}."
    return f"{title} do not stand out from the noise: at most {share_words(share).rpartition(' ')[2].strip(')')}."
