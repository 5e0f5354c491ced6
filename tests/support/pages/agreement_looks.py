"""What every place tells of a first look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from dpcore.commands.text import release_text
from dpcore.models.summaries.released.association import associations
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_reading import association_frame, table_one_frame
from dpcore.models.summaries.released.summary_words import cell_words
from dpcore.models.summaries.released.table_one import table_one
from dpcore.plots.summaries.summaries import column_figure, everybody
from tests.support.pages import agreement
from tests.support.pages.agreement import Sheet, Told, exactly, joined, ranged, told
from tests.support.pages.agreement_groups import Shown


def of_look(found: Shown) -> Sheet:
    model, schema, sheet = found.model, found.release.domain, {}
    for reading in readings(model, schema):
        for place, cell in enumerate(cell_words(reading.axis, schema)):
            for what, own in (("share", reading.shares), ("count", reading.counts)):
                amount = own.amount(place)
                sheet |= exactly((reading.label, cell, what), amount.value, amount.low, amount.high)
        for share, amount in {**reading.quantiles, "mean": reading.mean}.items():
            if amount is not None:
                sheet |= exactly((reading.label, f"{share}"), amount.value, amount.low, amount.high)
    for one in associations(model):
        row = tuple(model.axes[axis].label(schema) for axis in one.axes)
        sheet |= exactly((*row, "V"), one.strength.value, one.strength.low, one.strength.high)
    groups_of = table_one(model, schema)
    for line in groups_of.lines:
        for group, amount in zip(groups_of.groups, line.groups, strict=False):
            row = in_table_one(line.column, line.label, line.kind)
            sheet |= exactly((*row, group), amount.value, amount.low, amount.high)
    return sheet


def in_table_one(column: str, label: str, kind: str) -> tuple[str, ...]:
    """A line of a table 1: of everybody, or a figure of a column."""
    return ("table 1", column, kind if kind == "mean" else label.lower())


def in_look_csv(found: Shown) -> Sheet:
    schema, sheets = found.release.domain, []
    names = {(own.axis.name, cell): (own.label, word) for own, cell, word in cells_of(found)}
    for line in found.csv.to_dict("records"):
        row = names[(line["column"], str(line["cell"]))]
        for what in ("share", "count"):
            ends = (line[f"{what}{end}"] for end in ("", " low", " high"))
            sheets.append(exactly((*row, what), *ends))
    for line in association_frame(found.model, schema).to_dict("records"):
        ends = (line[f"Cramér's V{end}"] for end in ("", " low", " high"))
        sheets.append(exactly((line["first"], line["second"], "V"), *ends))
    for line in table_one_frame(found.model, schema).to_dict("records"):
        for group in ("no", "yes"):
            if pd.notna(line.get(f"value of {group}")):
                ends = (line[f"{end} of {group}"] for end in agreement.ENDS)
                sheets.append(exactly((*in_table_one(line["column"], line["line"], line["figure"]), group), *ends))
    return joined(sheets)


def cells_of(found: Shown) -> Iterator[tuple[Any, str, str]]:
    schema = found.release.domain
    for reading in readings(found.model, schema):
        for cell, word in zip(reading.cells, cell_words(reading.axis, schema), strict=True):
            yield reading, cell, word


def in_look_tables(found: Shown) -> Sheet:
    columns, groups_of, pairs, *_ = found.content.tables
    sheets = []
    for label, said in columns.texts:
        sheets += [ranged((label, figure), part) for figure, part in in_words(said)]
        for word, share in re.findall(r"(?:: |; )([^,;:]+), ([\d.]+% \([^)]+\))", said):
            sheets.append(ranged((label, word, "share"), share))
    column = ""
    for label, *cells, _ in groups_of.texts:
        column = column if label.startswith("\u2003") or any(cells) else label
        row = in_table_one(column, label.strip(), "")
        sheets += [ranged((*row, group), cell) for group, cell in zip(("no", "yes"), cells, strict=True)]
    sheets += [ranged((first, second, "V"), said) for first, second, said in pairs.texts]
    return joined(sheets)


def in_words(said: str) -> list[tuple[str, str]]:
    """Figures of a sentence about a column of numbers."""
    found = ((figure, re.search(rf"{word} (.+?\))", said)) for figure, word in (("mean", "Mean"), ("0.5", "median")))
    return [(figure, own[1]) for figure, own in found if own is not None]


def in_look_charts(found: Shown) -> Sheet:
    schema, sheets = found.release.domain, []
    overview, pairs, *_ = found.content.pictures
    drawn = [trace.hovertext for trace in overview.figure.data]
    bars = [trace.y for trace in overview.figure.data]
    for reading, texts, values in zip(readings(found.model, schema), drawn, bars, strict=True):
        for text, value in zip(texts, values, strict=True):
            word, _, share = text.rpartition(": ")
            sheets += [
                ranged((reading.label, word, "share"), share),
                {(reading.label, word, "share", "value"): Told(value)},
            ]
        large = column_figure(everybody(schema, reading)).data
        for trace in (trace for trace in large if trace.hovertext is not None):
            for text in trace.hovertext:
                word, _, share = text.partition("<br>")[0].rpartition(": ")
                low, high = text.rpartition("noise alone: ")[2].split(" to ")
                sheets.append(ranged((reading.label, word, "share"), f"{share} ({low} to {high})"))
    for text in (text for row in pairs.figure.data[0].hovertext for text in row if text):
        both, _, strength = text.partition("<br>")
        sheets.append(ranged((*both.split(" and "), "V"), strength))
    return joined(either_way(found, sheet) for sheet in sheets)


def either_way(found: Shown, sheet: Sheet) -> Sheet:
    """The same with a pair of columns in the order of the result: a chart shows both."""
    order = [axis.label(found.release.domain) for axis in found.model.axes]
    return {
        (*sorted(key[:2], key=order.index), *key[2:]) if len(key) == 4 and key[2] == "V" else key: own
        for key, own in sheet.items()
    }


def in_look_cards(found: Shown) -> Sheet:
    """The cards of the page: ``name``, bar from 0 to 100 %, share."""
    sheets, labels = [], {reading.label: reading for reading, _, _ in cells_of(found)}
    for card in found.html.split('<div class="fg-look" role="listitem">')[1:]:
        label = agreement.plain(re.search(r"<h4>(.*?)</h4>", card)[1])  # type: ignore[index]
        assert label in labels
        lines = re.findall(r'class="name">(.*?)</span>.*?<i style="width:([\d.]+)%".*?<b>(.*?)</b>', card)
        for word, width, share in lines:
            key = (label, agreement.plain(word), "share", "value")
            sheets += [{key: told(f"{width}%")}, {key: told(share)}]
    return joined(sheets)


def in_look_text(found: Shown) -> Sheet:
    """Lines of the table of pairs in a terminal."""
    labels = {axis.label(found.release.domain) for axis in found.model.axes}
    lines = (re.split(r" {2,}", line) for line in release_text(found.release).splitlines())
    return joined(ranged((*line[:2], "V"), line[2]) for line in lines if len(line) == 3 and set(line[:2]) <= labels)
