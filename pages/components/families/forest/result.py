"""One released forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpcore.released.noisy_counts import percent
from dpcore.released.release import Release
from pages.components.families.shared import (
    cells,
    certificate,
    downloads,
    evaluation,
    predict,
    truth,
)
from pages.components.families.shared.truth import Truth
from pages.components.families.tree import view
from pages.components.kit import figure, markup, slot
from pages.components.kit.texts import text

_TABS = ("Columns used", "In words", "Hold-out check", "Single trees", "Certificate", "Download")
#: With more columns, the form would hide the rest of the page.
_FEW_COLUMNS = 6
_OPEN = "The vote depends on what is not known"
SHARING = {
    "split": "every tree sees all people, with its part of ε",
    "parts": "every tree sees other people, each with the whole ε",
}


def show(release: Release, model: Any, key: str, *, public: bool) -> None:
    """The vote first, then what the trees are made of."""
    from dpcore.plots.style import pretty

    trees = len(model.trees)
    st.markdown(f"**{trees} tree{'' if trees == 1 else 's'}**; {SHARING[model.sharing]}.")
    true = truth.ask(release, key) if public else None
    _vote(release, model, key)
    with slot.kept():
        if true is not None:
            _groups(release, model, true)
    use, words, check, single, card, files = st.tabs(_TABS, key=f"{key}-tabs")
    with use:
        attribute_use(model, key)
    with words:
        markup.sentences(map(pretty, model.reading(release.target)))
        st.markdown(text("reading_forest"))
        st.markdown(text("noise"))
    with check:
        evaluation.show(model, release.target, key, chances=False)
    with single:
        _single(release, model, key)
    with card:
        certificate.show(release)
    with files:
        downloads.show(release, model, key, "every node of every tree")


def side(release: Release, model: Any, key: str) -> None:
    """What the trees look at."""
    from dpcore.plots.style import pretty

    attribute_use(model, key)
    markup.sentences(map(pretty, model.reading(release.target)))


def figures(model: Any) -> dict[str, str]:
    """How large the forest is."""
    return {
        "Trees": str(len(model.trees)),
        "Groups at the end": str(sum(len(tree.finals) for tree in model.trees)),
        "How trees share": SHARING[model.sharing],
    }


def attribute_use(model: Any, key: str) -> None:
    """Bars: how much the trees look at each column, with a table twin."""
    from dpcore.plots.forest import attribute_use_alt, attribute_use_figure

    use = model.attribute_use()
    if not use:
        st.info(text("no_split"))
        return
    st.markdown(text("attribute_use"))
    shares = {column: percent(share) for column, share in use.items()}
    figure.show(
        attribute_use_figure(use),
        key=f"{key}-use",
        alt=attribute_use_alt(use),
    )
    with st.expander("The same as a table"):
        markup.pairs_table("Columns, most used first", ("Column", "Share of the splits"), shares)


@st.fragment
def _vote(release: Release, model: Any, key: str) -> None:
    used = model.columns()
    if not used:  # The tab of the columns says so.
        return
    title, few = "Let the trees vote on a case", len(used) <= _FEW_COLUMNS
    with st.expander(title, icon=":material/how_to_vote:", expanded=few):
        st.markdown(text("vote"))
        values = predict.ask(release, used, key, "How do they vote?")
        if values is not None:
            _ballots(release, model, values, key)


def _ballots(release: Release, model: Any, values: dict[str, Any], key: str) -> None:
    from dpcore.plots.forest import count_votes, votes_alt, votes_figure

    ballots = model.possible_ballots(values, release.domain)
    votes, undecided = count_votes(model.classes, ballots)
    winner = max(range(len(votes)), key=votes.__getitem__)
    rivals = [count for code, count in enumerate(votes) if code != winner]
    decided = votes[winner] > max(rivals) + undecided or not undecided
    show = st.success if decided else st.warning
    title = f"The prediction is {release.target} = {model.classes[winner]}" if decided else _OPEN
    show(
        _told(model, votes, undecided, winner) + " " + text("vote_is_no_chance"),
        title=markup.plain(title),
        icon=":material/how_to_vote:",
    )
    figure.show(
        votes_figure(model.classes, ballots),
        key=f"{key}-votes",
        alt=votes_alt(model.classes, ballots),
    )
    labels = (model.classes[ballot[0]] if len(ballot) == 1 else "open" for ballot in ballots)
    told = ", ".join(f"{n}: {label}" for n, label in enumerate(labels, start=1))
    st.caption(markup.plain(f"Tree by tree. {told}."))


def _told(model: Any, votes: Sequence[int], undecided: int, winner: int) -> str:
    """How many trees say so, at least and at most."""
    trees = sum(votes) + undecided
    if undecided:
        most = votes[winner] + undecided
        label = markup.plain(model.classes[winner])
        return f"{votes[winner]} to {most} of {trees} trees say {label}: what is not known decides the other votes."
    tie = " Others got as many votes; the first of them counts." if votes.count(votes[winner]) > 1 else ""
    return f"{votes[winner]} of {trees} trees say so.{tie}"


def _groups(release: Release, model: Any, true: Truth) -> None:
    """On public data: how records with the same vote are in truth."""
    _, labels = model.group_estimates()
    header = ["Vote", "Prediction", *(f"True {name}" for name in model.classes), "Right"]
    rows = [
        markup.row(
            [
                _vote_name(model, group),
                view.prediction(model, int(label)),
                *map(str, counts),
                _right(true, group, int(label)),
            ]
        )
        for group, (label, counts) in enumerate(zip(labels, true.counts, strict=True))
        if sum(counts)
    ]
    markup.table(f"True {release.target} of the public records, by the vote that they get", header, rows)


def _vote_name(model: Any, group: int) -> str:
    if len(model.classes) > 2:
        return view.prediction(model, group)
    return f"{group} of {len(model.trees)} for " + view.prediction(model, 1)


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
    shown = cells.choose_class(tree, release.target, place)
    view.diagram(tree, release.target, place, shown=shown)
    with st.expander("Table of its groups"):
        view.groups_table(release, tree, shown)
    with st.expander("Budget spent at each node"):
        view.budget_table(tree)


def _tree_name(tree: Any, number: int) -> str:
    groups = len(tree.finals)
    columns = ", ".join(tree.columns()[:3])
    return f"Tree {number}: {groups} group{'' if groups == 1 else 's'}" + (
        f", on {columns}" + (" …" if len(tree.columns()) > 3 else "") if columns else ""
    )
