"""One tree: diagram, budget, the way of a case. Also used for each of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_reading import budget_table, rows_in_order
from dpcore.plots.style import glyph, series
from dpcore.plots.trees.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.trees.tree_layout import NARROW, WIDE, readable_levels
from pages.components.families.shared import blocks
from pages.components.families.shared.truth import Truth
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text

_FIT, _BRANCHES, _OUTLINE = "To fit", "Branches", "Outline"
_SIDEWAYS = "Wider than the page: scroll it sideways, or press → with this line in focus."


def diagram(
    tree: Any,
    target: str,
    key: str,
    *,
    path: Sequence[int] = (),
    shown: int | None = None,
    truth: Truth | None = None,
) -> None:
    """The tree from left to right, or as an outline if the window is narrower than that.

    Which of the two, the browser decides: both are drawn, and a style sheet hides one of them. What is too wide
    even so scrolls inside its own frame.
    """
    unfold, styles, levels = _choices(tree, key)
    _key(tree, target, path=path, truth=truth, unfold=unfold)
    widths = []
    with st.container(key=f"{key}-fit"):
        for style in styles:
            drawn = tree_figure(
                tree,
                target,
                unfold=unfold,
                levels=levels,
                outline=style == _OUTLINE,
                path=path,
                shown=shown,
                truth=None if truth is None else truth.counts,
            )
            widths.append(drawn.layout.meta["width"])
            with st.container(key=f"{key}-{style.lower()}-diagram"):
                st.html(f'<p class="fg-sideways" tabindex="0">{_SIDEWAYS}</p>')  # The keys scroll what holds a focus.
                figure.render(drawn, key=f"{key}-{style.lower()}", alt=tree_alt(tree, target))
    st.html(f"<style>{_styles(key, styles, widths)}</style>")
    st.caption(text("tree_diagram"))


def _styles(key: str, styles: Sequence[str], widths: Sequence[int]) -> str:
    """Each way to draw the tree keeps the width that it needs, and says where that scrolls; of two, one is hidden."""
    places = [f".st-key-{key}-{style.lower()}-diagram" for style in styles]
    rules = [f".st-key-{key}-fit{{container-type:inline-size}}"]
    rules += [
        f"{place} [data-testid=stElementContainer]{{min-width:{width}px}}"
        f"@container (width < {width}px){{{place} .fg-sideways{{display:block}}}}"
        for place, width in zip(places, widths, strict=True)
    ]
    if len(styles) > 1:
        rules += [
            f"@container (width < {widths[0]}px){{{places[0]}{{display:none}}}}",
            f"@container (width >= {widths[0]}px){{{places[1]}{{display:none}}}}",
        ]
    return "".join(rules)


def _choices(tree: Any, key: str) -> tuple[bool, tuple[str, ...], int | None]:
    """Whether to unfold, in which ways the tree is drawn, and how many levels."""
    folded = any(node.collapsed for node in tree.nodes)
    with st.container(horizontal=True, vertical_alignment="center"):
        style = st.segmented_control(
            "Drawn as",
            (_FIT, _BRANCHES, _OUTLINE),
            default=_FIT,
            required=True,
            key=f"{key}-layout",
            label_visibility="collapsed",
            width="content",
        )
        unfold = folded and st.toggle("Show folded parts", key=f"{key}-unfold", help=text("folded"))
    with drawing.placeholder():
        levels = _levels(tree, key, unfold=unfold)
    if style != _FIT:
        return unfold, (style,), levels
    width = branches_width(tree, unfold=unfold, levels=levels)
    ways = (_OUTLINE,) if width > WIDE else (_BRANCHES, _OUTLINE) if width > NARROW else (_BRANCHES,)
    return unfold, ways, levels


def _levels(tree: Any, key: str, *, unfold: bool) -> int | None:
    """How far a large tree is drawn; asked only if it has more rows than can be taken in."""
    deepest = max(tree.depth(row) for row in rows_in_order(tree, unfold=unfold))
    readable = readable_levels(tree, unfold=unfold)
    if readable == deepest:
        return None
    return int(
        st.slider(
            "This tree is large. Questions in a row to draw",
            1,
            deepest,
            readable,
            key=f"{key}-levels-{unfold}",
            help="The table and the downloads hold the whole tree.",
        )
    )


def _key(tree: Any, target: str, *, path: Sequence[int], truth: Truth | None, unfold: bool) -> None:
    """What the colours and marks of the diagram mean."""
    marks = [
        f'<span><i class="fg-series-{series(code)}">{glyph(code)}</i> {escape(label)}</span>'
        for code, label in enumerate(tree.classes)
    ]
    others = {
        '<i class="fg-mark-band"></i> interval for the noise, 95%': True,
        '<i class="fg-mark-unclear">≈</i> too noisy to tell': True,
        '<i class="fg-mark-true"></i> true value': truth is not None,
        '<i class="fg-mark-path"></i> the case you typed in': bool(path),
        '<i class="fg-mark-folded"></i> folded part': unfold,
    }
    marks += [f"<span>{mark}</span>" for mark, wanted in others.items() if wanted]
    st.html(f'<div class="fg-key"><b>{escape(target)}:</b>{"".join(marks)}</div>')


def budget(tree: Any) -> None:
    """What each node cost, and what the way to it cost in all."""
    st.markdown(text("tree_budget"))
    blocks.render(budget_table(tree))


def path_in_words(tree: Any, ends: Sequence[int], values: dict[str, Any]) -> None:
    """The way of one case through the tree, one sentence per question, as far as it is certain."""
    path = _common([tree.path(end) for end in ends])
    for step, (above, here) in enumerate(pairwise(path), start=1):
        column = tree.nodes[above].split.column
        value = values.get(column)
        known = "not known, but all that is possible leads" if value is None else f"{value}, so go"
        st.markdown(
            f"{step}. {markup.plain(column)} is {markup.plain(known)} to "
            f"**{markup.plain(pretty(tree.nodes[here].text))}**."
        )
    if len(ends) > 1:
        column = markup.plain(tree.nodes[path[-1]].split.column)
        st.markdown(f"{len(path)}. {column} is not known, so go **every way**.")


def _common(paths: Sequence[Sequence[int]]) -> list[int]:
    """What paths from the root have in common."""
    return [steps[0] for steps in zip(*paths, strict=False) if len(set(steps)) == 1]
