"""Chart, table, sentence, page, dossier and download of a result tell the same numbers, in every family."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import docx
import pandas as pd
import pytest

from dpcore.models.readable import readable
from dpcore.models.redescriptions.released import reading as pairs_words
from dpcore.models.released import family_of, parse_model
from dpcore.models.summaries.released.association import associations
from dpcore.models.summaries.released.frames import association_frame, table_one_frame
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.table_one import table_one
from dpcore.models.summaries.released.words import cell_words
from dpcore.models.trees.released.model import TreeModel
from dpcore.plots.summaries import column_figure, everybody
from dpcore.plots.tree_layout import group_numbers
from dpcore.released.release import Release
from dpcore.report.blocks import Grid
from dpcore.report.contents import Content, content
from dpcore.report.dossier import Dossier
from dpcore.report.forms import made
from dpcore.workspace.dossier import Application
from pages.components.families.shared import downloads
from pages.components.visitor import access
from tests.support import agreement
from tests.support.agreement import Sheet, Told, exactly, group_sheet, joined, ranged, told
from tests.support.family_pages import FAMILY_PAGES
from tests.support.page_tools import checked, words

MORE = {"summaries": {"by": "died", "crosstabs": ["age by sex"]}}


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


def shown(name: str, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A real run of a family, its page opened, and what its CSV holds."""
    written: list[str] = []
    csv_of = downloads.frame_csv
    monkeypatch.setattr(downloads, "frame_csv", lambda frame: written.append(csv_of(frame)) or written[-1])
    own = FAMILY_PAGES[name]
    app = own.at_run(own.submit(own.add(), "8", **MORE.get(name, {})))
    [stored] = access.service().releases()
    release = readable(Release.model_validate_json(stored.to_json()))
    csv = pd.read_csv(io.StringIO(written[-1]), keep_default_na=False)
    return Shown(release, parse_model(release), content(release), words(checked(app)), csv)


# What rules, clauses and groups tell


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


# What other families tell


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
    sheet = {(name, "importance"): told(amount) for name, amount, *_ in importances.rows}
    place: dict[str, int] = {}
    for name, _, added, count in scores.rows:
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
    return joined({(name, "told"): told(share), (name, "chance"): told(most)} for name, share, most in table.rows)


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
        for left, right, jaccard, support, *_ in table.rows
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
    for label, said in columns.rows:
        sheets += [ranged((label, figure), part) for figure, part in in_words(said)]
        for word, share in re.findall(r"(?:: |; )([^,;:]+), ([\d.]+% \([^)]+\))", said):
            sheets.append(ranged((label, word, "share"), share))
    column = ""
    for label, *cells, _ in groups_of.rows:
        column = column if label.startswith("\u2003") or any(cells) else label
        row = in_table_one(column, label.strip(), "")
        sheets += [ranged((*row, group), cell) for group, cell in zip(("no", "yes"), cells, strict=True)]
    sheets += [ranged((first, second, "V"), said) for first, second, said in pairs.rows]
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
    lines = family_of(found.release).text(found.release, found.model).splitlines()
    sheets = [
        ranged((*line.strip().partition(":")[0].split(" and "), "V"), line) for line in lines if is_pair(found, line)
    ]
    return joined(sheets)


def is_pair(found: Shown, line: str) -> bool:
    labels = {axis.label(found.release.domain) for axis in found.model.axes}
    return set(line.strip().partition(":")[0].split(" and ")) <= labels and " and " in line


@dataclass(frozen=True)
class Family:
    """The result of a family in numbers, and the places that show it."""

    exact: Callable[[Shown], Sheet]
    places: dict[str, Callable[[Shown], Sheet]]


def in_report_groups(found: Shown) -> Sheet:
    return joined(in_group_table(found, [list(row) for row in table.rows]) for table in found.content.tables)


def in_short_report(found: Shown) -> Sheet:
    short = content(found.release, short=True)
    return joined(in_group_table(found, [list(row) for row in table.rows]) for table in short.tables)


GROUPS = {
    "download": in_csv,
    "dossier": in_report_groups,
    "short dossier": in_short_report,
    "sentences": in_sentences,
    "page": in_page_table,
}
FAMILIES = {
    "rule_list": Family(of_groups, {**GROUPS, "chart": in_rule_chart}),
    "tree": Family(of_groups, {**GROUPS, "chart": in_tree_chart, "alternative text": in_tree_alt}),
    "ilp": Family(of_groups, {**GROUPS, "chart": in_clause_chart}),
    "forest": Family(
        lambda found: of_groups(found) | of_use(found),
        {"download": in_csv, "dossier": in_report_groups, "chart": in_use_chart, "table": in_use_table},
    ),
    "ebm": Family(of_shapes, {"download": in_shapes_csv, "dossier": in_shapes_tables, "chart": in_shapes_charts}),
    "redescriptions": Family(
        of_pairs,
        {
            "download": in_pairs_csv,
            "dossier": in_pairs_table,
            "chart": in_pairs_chart,
            "sentences": in_pairs_sentences,
        },
    ),
    "summaries": Family(
        of_look,
        {
            "download": in_look_csv,
            "dossier": in_look_tables,
            "chart": in_look_charts,
            "page": in_look_cards,
            "terminal": in_look_text,
        },
    ),
}


def test_every_family_is_walked() -> None:
    assert set(FAMILIES) == set(FAMILY_PAGES)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_place_tells_the_numbers_of_the_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, own = shown(name, monkeypatch), FAMILIES[name]
    exact = own.exact(found)
    places = {place: read(found) for place, read in own.places.items()}
    assert [place for place, sheet in places.items() if len(sheet) < 2] == []
    assert agreement.disagreements(exact, places) == []
    # A disagreement that is planted in each place is found there, and nowhere else.
    for place, sheet in places.items():
        key = max(sheet)
        planted = {**places, place: {**sheet, key: Told(sheet[key].value + 4 * sheet[key].half + 0.3, sheet[key].half)}}
        assert [line.partition(":")[0] for line in agreement.disagreements(exact, planted)] == [place]
    assert_forms(found)


def assert_forms(found: Shown) -> None:
    """Every form of a dossier has the same tables, and the row of everybody else."""
    service = access.service()
    [info] = service.datasets()
    dossier = Dossier(info, service.releases(), {}, service.total_balance(info.id), Application())
    whole, brief = (tables_of(document) for document in (dossier.whole, dossier.brief))
    assert rows_missing(whole, agreement.cells(made(dossier, "html").decode())) == []
    told_in_markdown = zipfile.ZipFile(io.BytesIO(made(dossier, "md"))).read("dossier.md").decode()
    assert rows_missing(brief, agreement.markdown_cells(told_in_markdown)) == []
    word = docx.Document(io.BytesIO(made(dossier, "docx")))
    lines = [[" ".join(cell.text.split()) for cell in row.cells] for table in word.tables for row in table.rows]
    assert rows_missing(brief, lines) == []
    assert set(brief) - set(whole) <= budget_rows(brief), "what is short is a part of what is whole"
    archive = zipfile.ZipFile(io.BytesIO(made(dossier, "zip")))
    assert json.loads(archive.read("result-1.json")) == json.loads(found.release.stored.to_json())
    if found.release.kind in ("rule_list", "ilp"):  # The last group is of everybody else, whatever is left out.
        last = content(found.release).tables[0].rows[-1]
        assert content(found.release, short=True).tables[0].rows[-1] == last


def tables_of(document: Any) -> list[tuple[str, ...]]:
    return [
        tuple(" ".join(cell.split()) for cell in row)
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Grid)
        for row in block.table.rows
    ]


def budget_rows(rows: list[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """What stands in the short form alone: what each result cost."""
    return {row for row in rows if row[0].startswith("1. ")}


def rows_missing(wanted: list[tuple[str, ...]], rows: list[list[str]]) -> list[tuple[str, ...]]:
    """Rows that a form leaves out, or tells otherwise."""
    there = {tuple(row) for row in rows}
    return [row for row in wanted if row not in there]


def test_a_number_that_is_rounded_agrees_with_itself_alone() -> None:
    exact = {("a",): Told(0.0944)}
    agreeing = ("9.4%", "9%", "0.09", "0.0944")
    assert agreement.disagreements(exact, {text: {("a",): told(text)} for text in agreeing}) == []
    assert len(agreement.disagreements(exact, {text: {("a",): told(text)} for text in ("9.3%", "10%", "0.1944")})) == 3
    assert agreement.disagreements(exact, {"other": {("b",): told("9.4%")}}) == ["other: ('b',) is not in the result"]
    assert told("−1,234").value == -1234
    assert told("below 0.1%").meets(Told(0.0001))
