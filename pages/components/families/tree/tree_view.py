"""One tree: diagram, table of its groups, sentences and budget. Also used for each of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice, pairwise
from typing import Any

import streamlit as st

from dpcore.numerals import whole
from dpcore.privacy.budgets import alike, format_epsilon, format_parts
from dpcore.released.release import Release
from pages.components.families.shared import cells
from pages.components.families.shared.truth import Truth
from pages.components.kit import figure, markup, slot
from pages.components.kit.texts import text

#: Rows of a table on a page; the CSV file has them all.
_MOST_ROWS = 200
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
    from dpcore.plots.trees.tree import tree_alt, tree_figure

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
                figure.show(drawn, key=f"{key}-{style.lower()}", alt=tree_alt(tree, target))
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
    from dpcore.plots.trees.tree import branches_width
    from dpcore.plots.trees.tree_layout import NARROW, WIDE

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
    with slot.kept():
        levels = _levels(tree, key, unfold=unfold)
    if style != _FIT:
        return unfold, (style,), levels
    width = branches_width(tree, unfold=unfold, levels=levels)
    ways = (_OUTLINE,) if width > WIDE else (_BRANCHES, _OUTLINE) if width > NARROW else (_BRANCHES,)
    return unfold, ways, levels


def _levels(tree: Any, key: str, *, unfold: bool) -> int | None:
    """How far a large tree is drawn; asked only if it has more rows than can be taken in."""
    from dpcore.plots.trees.tree_layout import readable_levels, rows_in_order

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
    from dpcore.plots.style import glyph, series

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


def groups_table(release: Release, tree: Any, shown: int, truth: Truth | None = None, *, narrow: bool = False) -> None:
    """One row per group at the end of the tree, in the order of the diagram.

    ``narrow`` leaves out the counts and puts the prediction below the conditions.
    """
    from dpcore.plots.trees.tree_layout import group_numbers

    label = f"{release.target} = {tree.classes[shown]}"
    header = ["Group", "Prediction", f"Noisy chance of {label}", "Noisy counts"]
    header += ["True values"] if truth else []
    if narrow:
        header = ["Group and prediction", f"Noisy chance of {label}"]
    numbers = group_numbers(tree)
    rows = [
        markup.row(_group(tree, position, number, shown, truth, narrow=narrow))
        for position, number in islice(numbers.items(), _MOST_ROWS)
    ]
    caption = (
        "Each record belongs to exactly one group, numbered as in the diagram. Bars run from 0% "
        f"to 100%; the band is the 95% interval for the noise. Counts are of records (rows). {cells.LEANS}"
    )
    markup.table(caption, header, rows)
    _rest(len(numbers), "groups")
    if any(count < 0 for position in tree.finals for count in tree.nodes[position].noisy_counts):
        st.caption(text("negative_counts"))


def _group(tree: Any, position: int, number: int, shown: int, truth: Truth | None, *, narrow: bool) -> list[str]:
    node, label = tree.nodes[position], prediction(tree, tree.nodes[position].label)
    name = f'<span class="fg-if">{number}</span>{conditions(tree, position)}'
    chance = cells.estimate(node, shown, node.count_margin, truth, position)
    if narrow:
        return [f"{name}<br>{label}", chance]
    counts = cells.counts_of(node, tree.classes, shown, node.count_margin)
    row = [f'<div class="fg-group">{name}</div>', label, chance, counts]
    return [*row, cells.true_cell(truth, position, shown, tree.classes)] if truth else row


def conditions(tree: Any, position: int) -> str:
    """All conditions of a node, as HTML."""
    from dpcore.plots.style import pretty

    told = [escape(pretty(each)) for each in tree.bracketed(position)]
    return ' <span class="fg-and">and</span> '.join(told) or "everyone"


def prediction(tree: Any, label: int) -> str:
    """A class with its symbol, as HTML."""
    from dpcore.plots.style import glyph, series

    mark = f'<span class="fg-series-{series(label)}" aria-hidden="true">{glyph(label)}</span>'
    return f'<span class="fg-class">{mark} {escape(tree.classes[label])}</span>'


def in_words(tree: Any, target: str) -> None:
    """Every group as a sentence, numbered as in the diagram."""
    from dpcore.plots.style import pretty
    from dpcore.plots.trees.tree_layout import group_numbers

    told = dict(zip(tree.finals, map(pretty, tree.reading(target)), strict=True))
    numbers = group_numbers(tree)
    markup.sentences(f"Group {number}. {told[position]}" for position, number in islice(numbers.items(), _MOST_ROWS))
    _rest(len(numbers), "groups")
    st.markdown(text("reading_tree"))


def budget_table(tree: Any) -> None:
    """What each node cost, and what the way to it cost in all."""
    st.markdown(text("tree_budget"))
    header = ["Node", "Spent here", "Spent on the way here, in all", "Noise on a count"]
    order = _preorder(tree)
    shown = order[:_MOST_ROWS]
    here = alike(_spent_here(tree, position) for position in shown)
    ways = alike(f"ε {format_epsilon(tree.path_spent(position))}" for position in shown)
    rows = (_node(tree, *node) for node in zip(shown, here, ways, strict=True))
    whole = f"No path through the tree spends more than ε {format_epsilon(tree.budget)}."
    markup.table(whole, header, rows)
    _rest(len(order), "nodes")


def _rest(number: int, what: str) -> None:
    """Say what a table leaves out."""
    if number > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS} of {number} {what}. The download as CSV holds all of them.")


def _preorder(tree: Any) -> list[int]:
    order, stack = [], [0]
    while stack:
        position = stack.pop()
        order.append(position)
        stack.extend(reversed(tree.nodes[position].children))
    return order


def _spent_here(tree: Any, position: int) -> str:
    """What a node cost, so that the nodes of a way add up to what is shown for it in all."""
    here = tree.nodes[position].spent
    return f"ε {format_parts([tree.path_spent(position) - here, here])[-1]}" if here else "nothing"


def _node(tree: Any, position: int, here: str, way: str) -> str:
    from dpcore.plots.style import pretty

    node, depth = tree.nodes[position], tree.depth(position)
    end = " <small>(records stop here)</small>" if node.final else ""
    name = f'<span class="fg-depth" style="--depth:{depth}">{escape(pretty(node.text))}{end}</span>'
    return markup.row([name, here, way, f"±{whole(node.count_margin)}, 95%"])


def path_in_words(tree: Any, ends: Sequence[int], values: dict[str, Any]) -> None:
    """The way of one case through the tree, one sentence per question, as far as it is certain."""
    from dpcore.plots.style import pretty

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
