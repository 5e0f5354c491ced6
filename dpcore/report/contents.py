"""What a file says about a release: its family's text, or sentences, figures and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dpcore.domain.labels import called
from dpcore.models.ebm.released.model import EBMModel
from dpcore.models.ebm.released.words import EBMWords
from dpcore.models.ilp.released.model import ILPModel
from dpcore.models.readable import readable
from dpcore.models.redescriptions.released.model import RedescriptionModel
from dpcore.models.redescriptions.released.reading import sentence
from dpcore.models.released import family_of, parse_model
from dpcore.models.rules.released.model import RuleListModel
from dpcore.models.summaries.released.association import associations
from dpcore.models.summaries.released.code_reading import branches
from dpcore.models.summaries.released.model import SummaryModel
from dpcore.models.summaries.released.reading import readings, total_of
from dpcore.models.summaries.released.table_one import table_one
from dpcore.models.summaries.released.table_one_words import printed
from dpcore.models.summaries.released.words import count_words, who
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.plots.ebm import importance_alt, importance_figure, shape_alt, shape_figure
from dpcore.plots.forest import attribute_use_figure
from dpcore.plots.ilp import clause_texts, ilp_alt, ilp_figure, prolog_program
from dpcore.plots.redescriptions import redescriptions_alt, redescriptions_figure
from dpcore.plots.rule_list import rule_list_alt, rule_list_figure
from dpcore.plots.style import pretty
from dpcore.plots.summaries_codes import codes_alt, codes_figure
from dpcore.plots.summaries_overview import MOST_COLUMNS, overview_alt, overview_figure
from dpcore.plots.summaries_pairs import pairs_alt, pairs_figure
from dpcore.plots.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.tree_layout import group_numbers, readable_levels
from dpcore.released.release import Release
from dpcore.released.verdict import verdict
from dpcore.report.summaries import codes_table, columns_table, pairs_table, table_one_table
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
_BEST = 20
#: Redescriptions that a picture in a dossier has.
_MOST_DRAWN = 1000
#: Sentences that are printed of one result.
_MOST_SENTENCES = 60


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


def content(release: Release) -> Content:
    """Everything that a file shows of a release, and its quality on people set aside."""
    release = readable(release)
    model = parse_model(release)
    found = _shortened(_CONTENTS.get(release.kind, _text)(release, model))
    checked = getattr(model, "evaluation", None)
    if checked is None:
        return found
    told = verdict(checked, called(release.domain, release.target), getattr(model, "classes", ()))
    return dataclasses.replace(
        found, sentences=[told.sentence, *found.sentences], tables=[*found.tables, quality_table(checked)]
    )


def _shortened(found: Content) -> Content:
    """The same with no more sentences than anybody reads."""
    rest = len(found.sentences) - _MOST_SENTENCES
    if rest <= 0:
        return found
    told = [*found.sentences[:_MOST_SENTENCES], f"{rest:,} more sentences are left out here."]
    return dataclasses.replace(found, sentences=told)


def _text(release: Release, model: Any) -> Content:
    """What a family says in a terminal."""
    return Content(family_of(release).text(release, model).splitlines(), [], [])


def _rule_list(release: Release, model: RuleListModel) -> Content:
    groups = []
    for place, rule in enumerate(model.rules):
        word = "IF" if place == 0 else "ELSE IF"
        who = f"{word} {pretty(rule.text)}" if rule.conditions else "ELSE everyone else"
        groups.append(Group.of(f"{place + 1}. {who}", rule, model.count_margin))
    caption = "Rules, from the top: the first that fits decides"
    return Content(
        model.reading(release.target),
        [Picture("Rule by rule", rule_list_figure(release), rule_list_alt(release))],
        [groups_table(caption, "Rule", groups, release.target, model.classes)],
    )


def _tree(release: Release, model: TreeModel) -> Content:
    levels = readable_levels(model)
    wide = branches_width(model, levels=levels) > WIDTH
    figure = tree_figure(model, release.target, levels=levels, outline=wide)
    caption = "Groups at the end of the tree, numbered as in the diagram"
    return Content(
        model.reading(release.target),
        [Picture("The tree", figure, tree_alt(model, release.target))],
        [groups_table(caption, "Group", _ends(model), release.target, model.classes)],
    )


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


def _forest(release: Release, model: ForestModel) -> Content:
    use = model.attribute_use()
    told = "; ".join(f"{column}: {share:.0%}" for column, share in use.items())
    alt = f"Share of the splits per column. {told}."
    groups = [group for number, tree in enumerate(model.trees, 1) for group in _ends(tree, f"Tree {number}, ")]
    caption = "Groups at the end of each tree"
    tables = [groups_table(caption, "Group", groups, release.target, model.classes, FEW_ROWS)]
    return Content(
        model.reading(release.target),
        [Picture("Columns that the trees look at", attribute_use_figure(use), alt)] if use else [],
        [use_table(use), *tables] if use else tables,
    )


def _ebm(release: Release, model: EBMModel) -> Content:
    words = EBMWords(model, release.domain, release.target)
    ranked = model.ranked()
    pictures = [
        Picture("What counts most", importance_figure(words), importance_alt(words)),
    ]
    outputs = range(min(len(model.outputs), _MOST_LINES))
    drawn = ([term for term in ranked if term.clear] or ranked)[:_MOST_SHAPES]
    for term in drawn:
        shown = shape_figure(words, term, outputs), shape_alt(words, term, outputs)
        pictures.append(Picture(f"Shape of {term.name}", *shown))
    return Content(words.reading(), pictures, [importances_table(words), scores_table(words, drawn)])


def _redescriptions(release: Release, model: RedescriptionModel) -> Content:
    found = model.extract(release.domain)
    kept = found.pruned(found.suggested_support)[:_BEST]
    if not kept:
        return Content(["No two conditions fulfil the usual constraints."], [], [])
    drawn = dataclasses.replace(found, found=found.found[:_MOST_DRAWN])
    figure = redescriptions_figure(drawn, found.suggested_support)
    alt = redescriptions_alt(drawn, found.suggested_support)
    return Content(
        [sentence(item) for item in kept],
        [Picture("Noisy support and noisy Jaccard index", figure, alt)],
        [redescriptions_table(kept)],
    )


def _summaries(release: Release, model: SummaryModel) -> Content:
    schema, told = release.domain, readings(model, release.domain)
    total = total_of(model)
    tables = [columns_table(told, schema)]
    sentences = [f"{count_words(total)} {who(schema)} in all."]
    pictures = [Picture("All columns", overview_figure(told, schema), overview_alt(told, schema))]
    if len(told) > MOST_COLUMNS:
        sentences.append(f"The picture shows the first {MOST_COLUMNS} of {len(told)} columns.")
    if model.by is not None:
        tables.append(table_one_table(printed(model, schema, table_one(model, schema))))
    if model.pairs:
        found, labels = associations(model), [reading.label for reading in told]
        pictures.append(Picture("Pairs of columns", pairs_figure(found, labels), pairs_alt(found, labels)))
        tables.append(pairs_table(found, labels))
    for place, tree in enumerate(model.trees):
        found_codes, label = branches(model, schema, place), told[tree.axis].label
        pictures.append(
            Picture(f"{label} by groups", codes_figure(found_codes, who(schema)), codes_alt(found_codes, label))
        )
        tables.append(codes_table(found_codes, label))
    return Content(sentences, pictures, tables)


def _ilp(release: Release, model: ILPModel) -> Content:
    texts = clause_texts(release)
    groups = [
        Group.of(f"{text.title}: {pretty(text.words)}", group, model.count_margin)
        for text, group in zip(texts, model.groups, strict=True)
    ]
    caption = f"Clauses: each {release.domain.entity} belongs to the first that covers it"
    return Content(
        model.reading(release.domain, release.target),
        [Picture("Clause by clause", ilp_figure(release), ilp_alt(release))],
        [groups_table(caption, "Clause", groups, release.target, model.classes)],
        prolog_program(release),
    )


#: Families that are told by figures and tables; the others by their text.
_CONTENTS: dict[str, Callable[[Release, Any], Content]] = {
    "rule_list": _rule_list,
    "tree": _tree,
    "forest": _forest,
    "ebm": _ebm,
    "redescriptions": _redescriptions,
    "ilp": _ilp,
    "summaries": _summaries,
}
