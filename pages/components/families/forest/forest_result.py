"""One released forest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.conditions import pretty
from dpcore.domain.counted import counted
from dpcore.models.trees.released.tree_reading import read_forest, tree_groups, use_table
from dpcore.numerals import percent
from dpcore.plots.trees.forest import votes_alt, votes_figure
from dpcore.released.blocks import Bullets, Figure, only
from dpcore.released.release import Release
from pages.components.families.shared import blocks, downloads, evaluation, predict, truth
from pages.components.families.shared.truth import Truth
from pages.components.families.tree import tree_result
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text

#: With more columns, the form would hide the rest of the page.
_FEW_COLUMNS = 6
_OPEN = "The prediction depends on what is not known"
SHARING = {
    "split": "every tree sees all people, with its part of ε",
    "parts": "every tree sees other people, each with the whole ε",
}


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """A case first, then how good the forest is, and what it is made of."""
    trees = len(model.trees)
    st.markdown(f"**{trees} tree{'' if trees == 1 else 's'}**; {SHARING[model.sharing]}.")
    true = truth.ask(release, key) if public else None
    _vote(release, model, key)
    with drawing.placeholder():
        if true is not None:
            _groups(release, model, true)
    drawing.tabs_apart(
        {
            "Hold-out check": lambda: _check(release, model, key),
            "Columns used": lambda: columns_used(model, key),
            "In words": lambda: _in_words(release, model),
            "Single trees": lambda: _single(release, model, key),
            "Certificate": lambda: downloads.certificate(release),
            "Download": lambda: downloads.render(release, model, key, "every node of every tree"),
        },
        f"{key}-tabs",
        stay=["Hold-out check", "Single trees"],
    )


def _check(release: Release, model: Any, key: str) -> None:
    chances = bool(model.cuts)
    evaluation.render(model, release.target, counted(release.domain), key, chances=chances, typical=chances)


def _in_words(release: Release, model: Any) -> None:
    markup.sentences(map(pretty, model.reading(release.target)))
    st.markdown(text("reading_forest"))
    st.markdown(text("noise"))


def _sentences(release: Release, model: Any) -> None:
    blocks.render(only(read_forest(release, model, True), Bullets)[0])


def side(release: Release, model: Any, key: str) -> None:
    """What the trees look at."""
    columns_used(model, key)
    _sentences(release, model)


def figures(model: Any) -> dict[str, str]:
    """How large the forest is."""
    return {
        "Trees": str(len(model.trees)),
        "Groups at the end": str(sum(len(tree.finals) for tree in model.trees)),
        "How trees share": SHARING[model.sharing],
    }


def columns_used(model: Any, key: str) -> None:
    """Bars: how much questions about each column tell, beside chance, with a table twin."""
    used = model.columns_used()
    if not used:
        st.info(text("no_split"))
        return
    st.markdown(text("columns_used"))
    blocks.render(Figure("columns_used", "What the columns tell", (used,)), f"{key}-use")
    with st.expander("The same as a table"):
        blocks.render(use_table(used))


@st.fragment
def _vote(release: Release, model: Any, key: str) -> None:
    used = model.columns()
    if not used:  # The tab of the columns says so.
        return
    few = len(used) <= _FEW_COLUMNS
    with st.expander("What the trees tell of a case", icon=":material/how_to_vote:", expanded=few):
        values = predict.ask(release, used, key, "What do they tell?")
        if values is not None:
            _case(release, model, values, key)


def _case(release: Release, model: Any, values: dict[str, Any], key: str) -> None:
    low, high = model.possible_chances(values, release.domain)
    winner = int((low + high).argmax())
    decided = all(low[winner] >= end for code, end in enumerate(high) if code != winner)
    show = st.success if decided else st.warning
    title = f"The prediction is {release.target} = {model.classes[winner]}" if decided else _OPEN
    shown = 1 if len(model.classes) == 2 else winner
    show(
        _told(release.target, model, low[shown], high[shown], shown) + " " + text("case_is_a_group"),
        title=markup.plain(title),
        icon=":material/how_to_vote:",
    )
    ballots = model.possible_ballots(values, release.domain)
    figure.render(
        votes_figure(model.classes, ballots),
        key=f"{key}-votes",
        alt=votes_alt(model.classes, ballots),
    )
    labels = (model.classes[ballot[0]] if len(ballot) == 1 else "open" for ballot in ballots)
    told = ", ".join(f"{n}: {label}" for n, label in enumerate(labels, start=1))
    st.caption(markup.plain(f"Tree by tree. {told}."))


def _told(target: str, model: Any, low: float, high: float, shown: int) -> str:
    """The mean chance of a class, or its range."""
    who = f"On average the {len(model.trees)} trees tell a noisy chance of {target} = {model.classes[shown]} of"
    if percent(low) == percent(high):
        return markup.plain(f"{who} {percent(high)}.")
    return markup.plain(f"{who} {percent(low)} to {percent(high)}, as what is not known decides.")


def _groups(release: Release, model: Any, true: Truth) -> None:
    """On public data: how records with about the same chance are in truth."""
    _, labels = model.group_estimates()
    header = ["Noisy chance", "Prediction", *(f"True {name}" for name in model.classes), "Right"]
    rows = [
        markup.row(
            [
                _group_name(model, group),
                blocks.prediction(model.classes, int(label)),
                *map(str, counts),
                _right(true, group, int(label)),
            ]
        )
        for group, (label, counts) in enumerate(zip(labels, true.counts, strict=True))
        if sum(counts)
    ]
    markup.table(f"True {release.target} of the public records, by the chance that they are told", header, rows)


def _group_name(model: Any, group: int) -> str:
    """The chances that a group is told: of the second of two classes, of more of the one that is predicted."""
    place = group % (len(model.cuts) + 1)
    shown = 1 if len(model.classes) == 2 else group // (len(model.cuts) + 1)
    ends = [0.0, *model.cuts, 1.0]
    return f"{percent(ends[place])} to {percent(ends[place + 1])} for " + blocks.prediction(model.classes, shown)


def _right(true: Truth, group: int, label: int) -> str:
    share = true.share(group, label)
    return "" if share is None else percent(share)


def _single(release: Release, model: Any, key: str) -> None:
    st.markdown(text("single_trees"))
    number = st.selectbox(
        "Tree",
        range(1, len(model.trees) + 1),
        format_func=lambda n: _tree_name(model.trees[n - 1], n),
        key=f"{key}-tree-number",
    )
    tree, place = model.trees[number - 1], f"{key}-single-{number}"
    shown = blocks.choose_class(tree, release.target, place)
    tree_result.diagram(tree, release.target, place, shown=shown)
    with st.expander("Table of its groups"):
        blocks.groups(drawing.once(tree_groups, release, tree, shown))
    with st.expander("Budget spent at each node"):
        tree_result.budget(tree)


def _tree_name(tree: Any, number: int) -> str:
    groups = len(tree.finals)
    columns = ", ".join(tree.columns()[:3])
    return f"Tree {number}: {groups} group{'' if groups == 1 else 's'}" + (
        f", on {columns}" + (" …" if len(tree.columns()) > 3 else "") if columns else ""
    )
