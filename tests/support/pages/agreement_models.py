"""What every place tells of shape functions, forests and redescriptions."""

from __future__ import annotations

import re
from typing import Any

from dpcore.models.redescriptions.released import reading as pairs_words
from tests.support.pages.agreement import Sheet, Told, exactly, joined, ranged, told
from tests.support.pages.agreement_groups import Shown


def of_shapes(found: Shown) -> Sheet:
    model = found.model
    sheet: Sheet = {}
    for term in model.terms:
        sheet[(term.name, "importance")] = Told(term.importance)
        for place, (score, count) in enumerate(zip(term.scores, term.noisy_counts, strict=True)):
            sheet[(term.name, f"{place}", "score")] = Told(score[0])
            sheet[(term.name, f"{place}", "count")] = Told(count, 0.5)
    return sheet


def in_shapes_csv(found: Shown) -> Sheet:
    sheet: Sheet = {}
    for name, lines in found.csv[found.csv["term"] != "intercept"].groupby("term", sort=False):
        for place, line in enumerate(lines.to_dict("records")):
            sheet[(str(name), f"{place}", "score")] = Told(float(line["score"]))
            sheet[(str(name), f"{place}", "count")] = Told(float(line["noisy count"]), 0.5)
    return sheet


def in_shapes_tables(found: Shown) -> Sheet:
    importances, scores, *_ = found.content.tables
    sheet = {(name, "importance"): told(amount) for name, amount, *_ in importances.texts}
    place: dict[str, int] = {}
    for name, _, added, count in scores.texts:
        row = (name, f"{place.setdefault(name, 0)}")
        sheet[(*row, "score")], sheet[(*row, "count")] = told(added.split(" ")[0]), told(count.split(" ")[0])
        place[name] += 1
    return sheet


def in_shapes_charts(found: Shown) -> Sheet:
    first, *shapes = found.content.pictures
    names = [term.name for term in found.model.ranked()]
    sheet = {(name, "importance"): Told(value) for name, value in zip(names, first.figure.data[0].x, strict=True)}
    for picture in shapes:
        texts = next(list(trace.hovertext) for trace in picture.figure.data if trace.hovertext is not None)
        for place, text in enumerate(texts):
            row = (picture.title.removeprefix("Shape of "), f"{place}")
            sheet[(*row, "score")] = told(re.search(r"adds ([+−]?[\d.]+)", text)[1])  # type: ignore[index]
            sheet[(*row, "count")] = told(re.search(r"noisy count ([−\d,]+)", text)[1])  # type: ignore[index]
    return sheet


def of_use(found: Shown) -> Sheet:
    used = found.model.columns_used()
    return joined({(use.column, "told"): Told(use.told), (use.column, "chance"): Told(use.by_chance)} for use in used)


def in_use_chart(found: Shown) -> Sheet:
    bars, marks, _ = found.content.pictures[0].figure.data
    return {
        (name, what): Told(value)
        for what, trace in (("told", bars), ("chance", marks))
        for name, value in zip(trace.y, trace.x, strict=True)
    }


def in_use_table(found: Shown) -> Sheet:
    table = found.content.tables[0]
    return joined({(name, "told"): told(share), (name, "chance"): told(most)} for name, share, most, _ in table.texts)


def pairs_of(found: Shown) -> Any:
    return found.model.extract(found.release.domain)


def of_pairs(found: Shown) -> Sheet:
    return joined(
        exactly((item.left, item.right, "jaccard"), item.jaccard, *item.interval)
        | {(item.left, item.right, "support"): Told(float(item.support))}
        for item in pairs_of(found).found
    )


def in_pairs_table(found: Shown) -> Sheet:
    table = found.content.tables[0]
    return joined(
        ranged((left, right, "jaccard"), jaccard) | {(left, right, "support"): told(support.split(" ")[0])}
        for left, right, jaccard, support, *_ in table.texts
    )


def in_pairs_csv(found: Shown) -> Sheet:
    known = {(item.left_query, item.right_query): (item.left, item.right) for item in pairs_of(found).found}
    sheets = []
    for line in found.csv.itertuples(index=False):
        row = known[(line[0], line[1])]
        sheets.append(exactly((*row, "jaccard"), *line[2:5]) | {(*row, "support"): Told(float(line[5]))})
    return joined(sheets)


def in_pairs_chart(found: Shown) -> Sheet:
    """Points of what is kept and of what is set aside."""
    items = pairs_of(found).found
    points = [trace for trace in found.content.pictures[0].figure.data if trace.customdata is not None]
    return joined(
        {
            (items[place].left, items[place].right, "jaccard", "value"): Told(float(jaccard), 1e-6),
            (items[place].left, items[place].right, "support"): Told(float(support), 0.5),
        }
        for trace in points
        for place, support, jaccard in zip(trace.customdata, trace.x, trace.y, strict=True)
    )


def in_pairs_sentences(found: Shown) -> Sheet:
    return joined(
        ranged((item.left, item.right, "jaccard"), re.search(r"index: (.*?) for the noise", said)[1] + ")")  # type: ignore[index]
        | {(item.left, item.right, "support"): told(re.search(r"both hold for about ([\d,]+)", said)[1])}  # type: ignore[index]
        for item in pairs_of(found).found
        for said in [pairs_words.sentence(item, pairs_of(found).counted)]
    )
