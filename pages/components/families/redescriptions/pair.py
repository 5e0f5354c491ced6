"""The trees that redescriptions are read off: outlines, noisy counts."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.conditions import pretty
from dpcore.domain.counted import Noun
from dpcore.plots.redescriptions.redescriptions_pair import leaf_name, outline, pair_alt, pair_figure
from dpcore.released.blocks import Cell, Table, count_cell
from pages.components.families.redescriptions.redescription_state import Reading
from pages.components.families.shared import blocks
from pages.components.kit import figure
from pages.components.kit.markup import text


def render(reading: Reading) -> None:
    """One pair of trees, that of the redescription which is read unless another is chosen."""
    model, chosen, counted, key = reading.model, reading.chosen, reading.found.counted, reading.key
    own = 0 if chosen is None else chosen.pair
    place = st.selectbox(
        "Pair of trees",
        range(len(model.pairs)),
        own,
        format_func=lambda number: _name(model, number),
        key=f"{key}-pair-{own}",
        persist_state="session",
    )
    pair = model.pairs[place]
    framed = chosen if chosen is not None and chosen.pair == place else None
    for column, tree, leaves in zip(st.columns(2), (pair.left, pair.right), _leaves(framed), strict=True):
        with column:
            _outline(tree, reading.release.domain, leaves)
    figure.render(pair_figure(pair, counted, framed), key=f"{key}-map", alt=pair_alt(pair, counted))
    st.caption(text("pair_map"))
    with st.expander("The same as a table"):
        _counts(pair, counted, model.count_margin)


def _name(model: Any, number: int) -> str:
    pair = model.pairs[number]
    return f"{number + 1} of {len(model.pairs)}, grown for {pair.target}"


def _leaves(chosen: Any | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return ((), ()) if chosen is None else (chosen.left_leaves, chosen.right_leaves)


def _outline(tree: Any, schema: Any, leaves: tuple[int, ...]) -> None:
    """Conditions from top to bottom, set in; groups of the chosen redescription are marked."""
    marked = {leaf_name(tree, leaf) for leaf in leaves}
    lines = []
    for line in outline(tree, schema):
        group = f' <span class="fg-if">{line.leaf}</span>' if line.leaf else ""
        if line.leaf in marked:
            group += ' <span class="fg-joined">✔ in the one you read</span>'
        if not line.reached:
            group += " <small>(nobody can be here)</small>"
        words = escape(pretty(line.text))
        lines.append(f'<div class="fg-depth" role="listitem" style="--depth:{line.depth}">{words}{group}</div>')
    title = f"{tree.view.capitalize()} tree"
    st.html(f'<div class="fg-outline"><b>{title}</b><div role="list" aria-label="{title}">{"".join(lines)}</div></div>')


def _counts(pair: Any, counted: Noun, margin: int) -> None:
    head = ["Group", *(leaf_name(pair.right, leaf) for leaf in range(pair.right.leaf_count))]
    rows: list[list[Cell]] = [
        [leaf_name(pair.left, leaf), *(count_cell(count, margin) for count in counts)]
        for leaf, counts in enumerate(pair.noisy_counts)
    ]
    blocks.render(Table.of(f"Noisy {counted.several} in each pair of groups; ± is the noise, 95%", head, rows))
