"""One released tree."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from dpcore.domain.conditions import pretty
from dpcore.domain.counted import counted
from dpcore.models.trees.released.tree_reading import (
    MOST_GROUPS,
    budget_table,
    group_numbers,
    read_tree,
    rows_in_order,
    tree_groups,
)
from dpcore.plots.style import glyph, series
from dpcore.plots.trees.tree import branches_width, tree_alt, tree_figure
from dpcore.plots.trees.tree_layout import NARROW, WIDE, readable_levels
from dpcore.released.blocks import Bullets, only
from dpcore.released.release import Release
from pages.components.families.shared import blocks, downloads, evaluation, predict, truth
from pages.components.families.shared.truth import Truth
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Diagram first, then its other forms."""
    shown = blocks.choose_class(model, release.target, key)
    true = truth.ask(release, key) if public else None
    path = follow_case(release, model, shown, key)
    diagram(model, release.target, key, path=path, shown=shown, truth=true)
    drawing.tabs_apart(
        {
            "Table": lambda: blocks.groups(drawing.once(tree_groups, release, model, shown), true),
            "In words": lambda: _in_words(release, model),
            "Hold-out check": lambda: evaluation.render(model, release.target, counted(release.domain), key),
            "Budget": lambda: budget(model),
            "Certificate": lambda: downloads.certificate(release),
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
    used = drawing.once(type(tree).columns, tree)
    if not used:
        st.info(text("no_split"))
        return ()
    with st.expander(
        "Follow a case through the tree", icon=":material/route:", key=f"{key}-follow", on_change="rerun"
    ) as part:
        if not drawing.was_opened(part, f"{key}-follow"):
            return ()
        values = predict.ask(release, used, key, "Which way does it go?")
        if values is None:
            return ()
        ends = tree.possible_finals(values, release.domain)
        path_in_words(tree, ends, values)
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
    blocks.groups(drawing.once(tree_groups, release, model, shown), narrow=True)


def figures(model: Any) -> dict[str, str]:
    """How large the tree is."""
    return {
        "Groups at the end": str(len(model.finals)),
        "Depth": _questions(max(model.depth(position) for position in model.finals)),
    }


def _questions(depth: int) -> str:
    return f"{depth} question{'' if depth == 1 else 's'}"


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
            drawn = drawing.once(_drawn, tree, target, unfold, levels, style == _OUTLINE, tuple(path), shown, truth)
            widths.append(drawn.layout.meta["width"])
            with st.container(key=f"{key}-{style.lower()}-diagram"):
                st.html(f'<p class="fg-sideways" tabindex="0">{_SIDEWAYS}</p>')  # The keys scroll what holds a focus.
                figure.render(drawn, key=f"{key}-{style.lower()}", alt=drawing.once(tree_alt, tree, target))
    st.html(f"<style>{_styles(key, styles, widths)}</style>")
    st.caption(text("tree_diagram"))


def _drawn(
    tree: Any,
    target: str,
    unfold: bool,
    levels: int | None,
    outline: bool,
    path: tuple[int, ...],
    shown: int | None,
    truth: Truth | None,
) -> Any:
    true = None if truth is None else truth.counts
    return tree_figure(tree, target, unfold=unfold, levels=levels, outline=outline, path=path, shown=shown, truth=true)


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
    width = drawing.once(_width, tree, unfold, levels)
    ways = (_OUTLINE,) if width > WIDE else (_BRANCHES, _OUTLINE) if width > NARROW else (_BRANCHES,)
    return unfold, ways, levels


def _levels(tree: Any, key: str, *, unfold: bool) -> int | None:
    """How far a large tree is drawn; asked only if it has more rows than can be taken in."""
    deepest, readable = drawing.once(_depths, tree, unfold)
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


def _depths(tree: Any, unfold: bool) -> tuple[int, int]:
    """Most questions in a row, and how many of them can be taken in."""
    rows = rows_in_order(tree, unfold=unfold)
    return max(tree.depth(row) for row in rows), readable_levels(tree, unfold=unfold)


def _width(tree: Any, unfold: bool, levels: int | None) -> int:
    return branches_width(tree, unfold=unfold, levels=levels)


def _key(tree: Any, target: str, *, path: Sequence[int], truth: Truth | None, unfold: bool) -> None:
    """What the colours and marks of the diagram mean."""
    marks = drawing.once(_class_marks, tree)
    others = {
        '<i class="fg-mark-band"></i> interval for the noise, 95%': True,
        '<i class="fg-mark-unclear">≈</i> too noisy to tell': True,
        '<i class="fg-mark-true"></i> true value': truth is not None,
        '<i class="fg-mark-path"></i> the case you typed in': bool(path),
        '<i class="fg-mark-folded"></i> folded part': unfold,
    }
    marks += "".join(f"<span>{mark}</span>" for mark, wanted in others.items() if wanted)
    st.html(f'<div class="fg-key"><b>{escape(target)}:</b>{marks}</div>')


def _class_marks(tree: Any) -> str:
    return "".join(
        f'<span><i class="fg-series-{series(code)}">{glyph(code)}</i> {escape(label)}</span>'
        for code, label in enumerate(tree.classes)
    )


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
