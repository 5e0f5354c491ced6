"""One released tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.trees.released.tree_reading import MOST_GROUPS, group_numbers, read_tree, tree_groups
from dpcore.released.blocks import Bullets, only
from dpcore.released.release import Release
from pages.components.families.shared import (
    blocks,
    certificate,
    downloads,
    evaluation,
    predict,
    truth,
)
from pages.components.families.tree import tree_view as view
from pages.components.kit import drawing
from pages.components.kit.markup import text


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Diagram first, then its other forms."""
    shown = blocks.choose_class(model, release.target, key)
    true = truth.ask(release, key) if public else None
    path = follow_case(release, model, shown, key)
    view.diagram(model, release.target, key, path=path, shown=shown, truth=true)
    drawing.tabs_apart(
        {
            "Table": lambda: blocks.groups(tree_groups(release, model, shown), true),
            "In words": lambda: _in_words(release, model),
            "Hold-out check": lambda: evaluation.render(model, release.target, counted(release.domain), key),
            "Budget": lambda: view.budget(model),
            "Certificate": lambda: certificate.certificate(release),
            "Download": lambda: downloads.render(release, model, key, "every node of the tree"),
        },
        f"{key}-tabs",
        stay=["Hold-out check"],
    )


def _in_words(release: Release, model: Any) -> None:
    blocks.render(only(read_tree(release, model, False), Bullets)[0].cut(MOST_GROUPS))
    st.markdown(text("reading_tree"))
    st.markdown(text("noise"))


def follow_case(release: Release, tree: Any, shown: int, key: str) -> tuple[int, ...]:
    """A form for one case, its way through the tree in words, and the nodes that it passes."""
    used = tree.columns()
    if not used:
        st.info(text("no_split"))
        return ()
    with st.expander("Follow a case through the tree", icon=":material/route:"):
        st.markdown(text("follow"))
        values = predict.ask(release, used, key, "Which way does it go?")
        if values is None:
            return ()
        ends = tree.possible_finals(values, release.domain)
        view.path_in_words(tree, ends, values)
        _arrival(release, tree, shown, ends)
        st.button("Forget this case", key=f"{key}-forget", on_click=predict.forget, args=(key,))
    return tuple(sorted({step for end in ends for step in tree.path(end)}))


def _arrival(release: Release, tree: Any, shown: int, ends: Sequence[int]) -> None:
    numbers, nodes = group_numbers(tree), [tree.nodes[end] for end in ends]
    labels = dict.fromkeys(tree.classes[node.label] for node in nodes)
    decided = f"the prediction is {release.target} = {next(iter(labels))}"
    title = f"Group {numbers[ends[0]]}: {decided}"
    if len(ends) > 1:
        told = decided if len(labels) == 1 else "the prediction depends on what is not known"
        title = f"{len(ends)} groups are possible: {told}"
    places = [
        predict.Place(f"Group {numbers[end]}: {tree.condition(end)}", node, node.count_margin)
        for end, node in zip(ends, nodes, strict=True)
    ]
    predict.answer(title, f"{release.target} = {tree.classes[shown]}", places, shown)


def side(release: Release, model: Any, key: str) -> None:
    """A short table of the groups, which fits into half the width."""
    shown = blocks.choose_class(model, release.target, key)
    blocks.groups(tree_groups(release, model, shown), narrow=True)


def figures(model: Any) -> dict[str, str]:
    """How large the tree is."""
    return {
        "Groups at the end": str(len(model.finals)),
        "Depth": _questions(max(model.depth(position) for position in model.finals)),
    }


def _questions(depth: int) -> str:
    return f"{depth} question{'' if depth == 1 else 's'}"
