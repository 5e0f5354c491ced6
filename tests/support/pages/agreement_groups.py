"""What every place tells of rules, clauses and groups of trees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_reading import group_numbers
from dpcore.released.release import Release
from tests.support.pages import agreement
from tests.support.pages.agreement import Sheet, Told, exactly, group_sheet, joined, ranged, told
from tests.support.results.content import Content, content


@dataclass(frozen=True)
class Shown:
    """A result and everything that shows it."""

    release: Release
    model: Any
    content: Content
    html: str
    csv: pd.DataFrame

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.model.classes)


def groups(found: Shown) -> list[tuple[str, Any]]:
    """Numbers of every group, by what it is called."""
    model = found.model
    if found.release.kind == "rule_list":
        return [(f"{place}", rule) for place, rule in enumerate(model.rules, 1)]
    if found.release.kind == "ilp":
        names = [*(f"Clause {place}" for place in range(1, len(model.clauses) + 1)), "No clause"]
        return list(zip(names, model.groups, strict=True))
    trees = (
        [("", model)] if isinstance(model, TreeModel) else [(f"Tree {n}, ", t) for n, t in enumerate(model.trees, 1)]
    )
    return [(f"{before}{number}", tree.nodes[place]) for before, tree in trees for place, number in numbers(tree)]


def numbers(tree: TreeModel) -> list[tuple[int, int]]:
    return list(group_numbers(tree).items())


def shown_class(found: Shown) -> int:
    return int(getattr(found.model, "positive", len(found.classes) - 1))


def of_groups(found: Shown) -> Sheet:
    code = shown_class(found)
    return joined(group_sheet(row, found.classes, code, group) for row, group in groups(found))


def in_group_table(found: Shown, rows: list[list[str]]) -> Sheet:
    """Rows such as ``1. IF ... | 9.4% (6% to 13%) | 309 ±10 | 33 ±10``."""
    name = found.classes[shown_class(found)]
    sheets = []
    for first, *rest in rows:
        if row := re.match(r"(Tree \d+, \d+|Clause \d+|No clause|\d+)[.:] ", first):
            sheets.append(ranged((row[1], name), rest[0]))
            counts = zip(found.classes, rest[1:], strict=True)
            sheets.append({(row[1], "count", label): told(own.split(" ±")[0]) for label, own in counts})
    return joined(sheets)


def in_csv(found: Shown) -> Sheet:
    name, sheets = found.classes[shown_class(found)], []
    for line in found.csv.to_dict("records"):
        if (row := csv_row(found, line)) is not None:
            sheets.append(exactly((row, name), *(line[f"{what}: {name}"] for what in ("noisy estimate", "from", "to"))))
            sheets.append({(row, "count", c): Told(float(line[f"noisy count: {c}"])) for c in found.classes})
    return joined(sheets)


def csv_row(found: Shown, line: dict[str, Any]) -> str | None:
    """What the group of a line of a CSV is called; ``None`` of a node with a split."""
    if "rule" in line:
        return f"{line['rule']}"
    if "clause" in line:
        return "No clause" if line["clause"] == "none" else f"Clause {line['clause']}"
    tree = found.model.trees[line["tree"] - 1] if "tree" in line else found.model
    number = dict(numbers(tree)).get(line["node"])
    before = f"Tree {line['tree']}, " if "tree" in line else ""
    return None if number is None else f"{before}{number}"


def in_sentences(found: Shown) -> Sheet:
    """One sentence for each group, in order; the first may be on the quality of the whole."""
    name, rows = found.classes[shown_class(found)], [row for row, _ in groups(found)]
    model, target = found.model, found.release.target
    if isinstance(model, TreeModel):  # Its diagram numbers the groups from the top.
        rows = [f"{dict(numbers(model))[place]}" for place in model.finals]
    said = model.reading(found.release.domain, target) if found.release.kind == "ilp" else model.reading(target)
    return joined(ranged((row, name), sentence) for row, sentence in zip(rows, said, strict=False))


def in_page_table(found: Shown) -> Sheet:
    """Rows with a bar for the chance, in order."""
    name, named = found.classes[shown_class(found)], [row for row, _ in groups(found)]
    lines = [line for line in re.findall(r"<tr[^>]*>(.*?)</tr>", found.html, re.DOTALL) if "fg-estimate" in line]
    lines = [line for line in lines if "<details" not in line.partition("fg-estimate")[0]]
    sheets = []
    for place, line in zip(named, lines, strict=False):
        own = re.search(r'fg-if">(Clause \d+|No clause|\d+)<', line)
        row = own[1] if own is not None else place
        label = re.search(r'noisy estimate ([^,]+), interval (.+?) to (.+?)[",]', line)
        if label is not None:
            sheets.append(
                {(row, name, end): told(own) for end, own in zip(agreement.ENDS, label.groups(), strict=True)}
            )
        sheets.append(agreement.counted(row, agreement.plain(line), found.classes))
    return joined(sheets)


def in_rule_chart(found: Shown) -> Sheet:
    [picture], sheets = found.content.pictures, []
    for trace in picture.figure.data:
        for label, own in zip(trace.y, agreement.bars(trace), strict=True):
            sheets.append(exactly((label.partition(".")[0], found.classes[1]), *own))
    return joined(sheets)


def in_tree_chart(found: Shown) -> Sheet:
    [details] = [trace for trace in found.content.pictures[0].figure.data if trace.name == "details"]
    places, sheets = dict(numbers(found.model)), []
    for position, text in set(zip(details.customdata, details.hovertext, strict=True)):
        row = f"{places.get(position)}"
        for label in found.classes if position in places else ():
            line = next(part for part in text.split("<br>") if f" {label}: noisy count" in part)
            sheets.append({(row, "count", label): told(re.search(r"noisy count ([−\d,]+)", line)[1])})  # type: ignore[index]
            if label == found.classes[-1]:
                sheets.append(ranged((row, label), line))
    return joined(sheets)


def in_tree_alt(found: Shown) -> Sheet:
    """The chart in words: ``Group 1: If ...``."""
    parts = re.split(r"Group (\d+): ", found.content.pictures[0].alt)[1:]
    return joined(ranged((row, found.classes[-1]), said) for row, said in zip(parts[::2], parts[1::2], strict=True))


def in_clause_chart(found: Shown) -> Sheet:
    return joined(
        {(row, "count", label): Told(float(count))}
        for trace in found.content.pictures[0].figure.data
        for label in found.classes
        if trace.name and trace.name.endswith(f"= {label}")
        for row, count in zip(trace.y, trace.x, strict=True)
    )


def in_report_groups(found: Shown) -> Sheet:
    return joined(in_group_table(found, [list(row) for row in table.texts]) for table in found.content.tables)


def in_short_report(found: Shown) -> Sheet:
    short = content(found.release, short=True)
    return joined(in_group_table(found, [list(row) for row in table.texts]) for table in short.tables)
