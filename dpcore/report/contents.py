"""What a file says about a release: its family's text, or sentences, figures and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dpcore.domain.counted import counted
from dpcore.domain.schemas.labels import called
from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_words import one_row
from dpcore.models.readable import readable
from dpcore.models.redescriptions.released import reading as pairs
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.released import family_of, parse_model
from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.models.summaries.released.association import associations
from dpcore.models.summaries.released.code_reading import branches
from dpcore.models.summaries.released.reading import readings, total_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import count_words, pooled_words
from dpcore.models.summaries.released.table_one import table_one
from dpcore.models.summaries.released.table_one_words import printed
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.numerals import whole
from dpcore.plots.ebm.ebm import MOST_TERMS, importance_alt, importance_figure, shape_alt, shape_figure
from dpcore.plots.ilp.ilp import clause_texts, ilp_alt, ilp_figure, prolog_program
from dpcore.plots.redescriptions.redescription_points import redescriptions_alt, redescriptions_figure
from dpcore.plots.rule_list import rule_list_alt, rule_list_figure
from dpcore.plots.style import pretty
from dpcore.plots.summaries.summaries_codes import codes_alt, codes_figure
from dpcore.plots.summaries.summaries_overview import MOST_COLUMNS, overview_alt, overview_figure
from dpcore.plots.summaries.summaries_pairs import pairs_alt, pairs_figure
from dpcore.plots.trees.forest import columns_used_alt, columns_used_figure
from dpcore.plots.trees.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.trees.tree_layout import TreeLayout, group_numbers, readable_levels
from dpcore.released.release import Release
from dpcore.released.verdict import verdict
from dpcore.report.summaries import codes_table, columns_table, pairs_table, pooled_table, table_one_table
from dpcore.report.tables import (
    FEW_ROWS,
    Group,
    Table,
    groups_table,
    importances_table,
    quality_table,
    redescriptions_table,
    scores_table,
    use_table,
)

#: Pixels between the margins of a sheet of A4.
WIDTH = 680
_MOST_SHAPES, _MOST_LINES = 4, 3
_BEST, _FEW_REDESCRIPTIONS = 20, 3
#: Redescriptions that a picture in a dossier has.
_MOST_DRAWN = 1000
#: Sentences that are printed of one result.
_MOST_SENTENCES = 60
#: What is told of a result on one page: sentences beside the verdict, rows of a table, pixels of a figure, columns.
_FEW_SENTENCES, _SHORT_ROWS, _SHORT_HEIGHT, _SHORT_COLUMNS = 4, 10, 560, 6


@dataclass(frozen=True)
class Picture:
    """A figure with its title, and in words."""

    title: str
    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Content:
    """What a release says.

    Attributes
    ----------
    sentences : list of str
        The result in words.
    code : str
        The same as a program, if its family has one.
    """

    sentences: list[str]
    pictures: list[Picture]
    tables: list[Table]
    code: str = ""


def heading(release: Release) -> str:
    """What a result is called if nobody has named it."""
    title, target = family_of(release).title, called(release.domain, release.target)
    return f"{title} for {target}" if target else title


def content(release: Release, *, short: bool = False) -> Content:
    """Everything that a file shows of a release, and its quality on people set aside.

    Parameters
    ----------
    short : bool
        What fits on a page: the verdict, a few sentences, the main figure and the most important tables.
    """
    release = readable(release)
    model = parse_model(release)
    found = _CONTENTS.get(release.kind, _text)(release, model, short)
    found = _shortened(found, _FEW_SENTENCES if short else _MOST_SENTENCES, short)
    checked = getattr(model, "evaluation", None)
    if checked is None:
        return found
    told = verdict(checked, called(release.domain, release.target), getattr(model, "classes", ()))
    return dataclasses.replace(
        found, sentences=[told.sentence, *found.sentences], tables=[*found.tables, quality_table(checked)]
    )


def _shortened(found: Content, most: int, short: bool) -> Content:
    """The same with no more sentences than anybody reads; ``short``: with no more rows, and without the program."""
    rest = len(found.sentences) - most
    if rest > 0:
        more = "1 more sentence is" if rest == 1 else f"{whole(rest)} more sentences are"
        found = dataclasses.replace(found, sentences=[*found.sentences[:most], f"{more} left out here."])
    if not short:
        return found
    return dataclasses.replace(found, tables=[table.cut(_SHORT_ROWS) for table in found.tables], code="")


def _text(release: Release, model: Any, _short: bool) -> Content:
    """What a family says in a terminal."""
    return Content(family_of(release).text(release, model).splitlines(), [], [])


def _rule_list(release: Release, model: RuleListModel, _short: bool) -> Content:
    groups = []
    for place, rule in enumerate(model.rules):
        word = "IF" if place == 0 else "ELSE IF"
        who = f"{word} {pretty(rule.text)}" if rule.conditions else ("Everyone else" if place else "Everyone")
        groups.append(Group.of(f"{place + 1}. {who}", rule, model.count_margin))
    caption = "Rules, from the top: the first that fits decides"
    return Content(
        [pretty(sentence) for sentence in model.reading(release.target)],
        [Picture("Rule by rule", rule_list_figure(release), rule_list_alt(release))],
        [groups_table(caption, "Rule", groups, release.target, model.classes, remainder=True)],
    )


def _tree(release: Release, model: TreeModel, short: bool) -> Content:
    levels = _levels(model) if short else readable_levels(model)
    wide = branches_width(model, levels=levels, sheet=WIDTH) > WIDTH
    figure = tree_figure(model, release.target, levels=levels, outline=wide, sheet=WIDTH)
    caption = "Groups at the end of the tree, the largest first, numbered as in the diagram"
    groups = sorted(_ends(model), key=lambda group: -sum(group.noisy_counts))
    return Content(
        [pretty(sentence) for sentence in model.reading(release.target)],
        [Picture("The tree", figure, tree_alt(model, release.target))],
        [groups_table(caption, "Group", groups, release.target, model.classes)],
    )


def _levels(model: TreeModel) -> int:
    """Most levels of splits whose diagram is short; at least 1."""
    levels = readable_levels(model)
    while levels > 1:
        outline = branches_width(model, levels=levels, sheet=WIDTH) > WIDTH
        if TreeLayout(model, deepest=levels, outline=outline, sheet=WIDTH).height <= _SHORT_HEIGHT:
            break
        levels -= 1
    return levels


def _ends(model: TreeModel, before: str = "") -> list[Group]:
    """Groups where the records of a tree stop."""
    return [
        Group.of(
            f"{before}{number}. {pretty(model.condition(place))} → {model.classes[model.nodes[place].label]}",
            model.nodes[place],
            model.nodes[place].count_margin,
        )
        for place, number in group_numbers(model).items()
    ]


def _forest(release: Release, model: ForestModel, short: bool) -> Content:
    used = model.columns_used()
    groups = [group for number, tree in enumerate(model.trees, 1) for group in _ends(tree, f"Tree {number}, ")]
    caption = "Groups at the end of each tree"
    tables = [groups_table(caption, "Group", groups, release.target, model.classes, FEW_ROWS)]
    pictures = [Picture("What the columns tell", columns_used_figure(used), columns_used_alt(used))] if used else []
    if short:  # The figure tells it; no group of a single tree is a finding.
        return Content(model.reading(release.target), pictures, [])
    return Content(model.reading(release.target), pictures, [use_table(used), *tables] if used else tables)


def _ebm(release: Release, model: EBMModel, short: bool) -> Content:
    words = EBMWords(model, release.domain, release.target)
    ranked = model.ranked()
    most = _SHORT_ROWS if short else MOST_TERMS
    pictures = [Picture("What counts most", importance_figure(words, most), importance_alt(words))]
    outputs = range(min(len(model.outputs), _MOST_LINES))
    drawn = ([term for term in ranked if term.clear] or ranked)[: 1 if short else _MOST_SHAPES]
    for term in drawn:
        shown = shape_figure(words, term, outputs), shape_alt(words, term, outputs)
        pictures.append(Picture(f"Shape of {term.name}", *shown))
    tables = [importances_table(words)] if short else [importances_table(words), scores_table(words, drawn)]
    return Content(words.reading(), pictures, tables)


def _redescriptions(release: Release, model: RedescriptionModel, short: bool) -> Content:
    found = model.extract(release.domain)
    if not found.found:
        return Content(["No two conditions fulfil the usual constraints."], [], [])
    kept = found.pruned(found.suggested_support)
    most = _FEW_REDESCRIPTIONS if short else _BEST
    told = [pairs.sentence(item, found.counted) for item in kept[:most]]
    if len(kept) > most:
        told.append(f"These are the first {most} of {whole(len(kept))} that are kept.")
    drawn = dataclasses.replace(found, found=found.found[:_MOST_DRAWN])
    figure = redescriptions_figure(drawn, found.suggested_support)
    alt = redescriptions_alt(drawn, found.suggested_support)
    title = "Noisy support and noisy Jaccard index"
    if len(found.found) > _MOST_DRAWN:
        first = f"first {whole(_MOST_DRAWN)} of {whole(len(found.found))}"
        title, alt = f"{title}, {first}", f"Only the {first} are drawn and counted here. {alt}"
    return Content(
        told or [pairs.all_aside(found, found.suggested_support)],
        [Picture(title, figure, alt)],
        [redescriptions_table(kept, _BEST)] if kept else [],
    )


def _summaries(release: Release, model: SummaryModel, short: bool) -> Content:
    schema, told = release.domain, readings(model, release.domain)
    total = total_of(model)
    tables = [columns_table(told, schema)]
    people = counted(schema).several
    sentences = [f"{count_words(total)} {people} in all."]
    most = _SHORT_COLUMNS if short else MOST_COLUMNS
    pictures = [Picture("All columns", overview_figure(told[:most], schema), overview_alt(told[:most], schema))]
    if len(told) > most:
        sentences.append(f"The picture shows the first {most} of {len(told)} columns.")
    if model.by is not None:
        tables.append(table_one_table(printed(model, schema, table_one(model, schema))))
    if model.pairs:
        found, labels = associations(model), [reading.label for reading in told]
        pictures.append(Picture("Pairs of columns", pairs_figure(found, labels), pairs_alt(found, labels)))
        tables.append(pairs_table(found, labels))
        if pooled := pooled_words(model, schema):
            tables.append(pooled_table(pooled))
    for place, tree in enumerate(model.trees):
        found_codes, label = branches(model, schema, place), told[tree.axis].label
        pictures.append(Picture(f"{label} by groups", codes_figure(found_codes, people), codes_alt(found_codes, label)))
        tables.append(codes_table(found_codes, label))
    return Content(sentences, pictures, tables)


def _ilp(release: Release, model: ILPModel, _short: bool) -> Content:
    texts = clause_texts(release)
    groups = [
        Group.of(f"{text.title}: {pretty(text.words)}", group, model.count_margin)
        for text, group in zip(texts, model.groups, strict=True)
    ]
    caption = f"Clauses: each {one_row(release.domain)} belongs to the first that covers it"
    return Content(
        model.reading(release.domain, release.target),
        [Picture("Clause by clause", ilp_figure(release), ilp_alt(release))],
        [groups_table(caption, "Clause", groups, release.target, model.classes, remainder=True)],
        prolog_program(release),
    )


#: Families that are told by figures and tables; the others by their text.
_CONTENTS: dict[str, Callable[[Release, Any, bool], Content]] = {
    "rule_list": _rule_list,
    "tree": _tree,
    "forest": _forest,
    "ebm": _ebm,
    "redescriptions": _redescriptions,
    "ilp": _ilp,
    "summaries": _summaries,
}
