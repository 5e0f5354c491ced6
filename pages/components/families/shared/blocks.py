"""What a result says, on a page: the one writer of blocks there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Any, Final

import streamlit as st

from dpcore.numerals import percent, whole
from dpcore.plots.figures import alt, drawn
from dpcore.plots.style import glyph, series
from dpcore.released.blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Doubt,
    Facts,
    Figure,
    Group,
    Groups,
    Heading,
    Headline,
    Inner,
    Noisy,
    Paragraph,
    Several,
    Table,
)
from dpcore.released.noisy_counts import TOO_NOISY, are_nobody, is_told, why_apart
from pages.components.families.shared.truth import Truth
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text

#: With more classes than this, only the chosen one's counts are open.
MANY_CLASSES: Final = 4
#: Ground of a verdict by its grade.
_STYLES: Final = {"good": "public", "fair": "plain", "none": "amber", "unknown": "plain"}
_BARS: Final = (
    "Bars run from 0% to 100%; the band is the 95% interval for the noise. Counts are of records (rows), ± is the "
    "noise on each, 95%."
)
#: What a chance rests on, said of the tables that tell where it is not the share of its counts.
_LEANS: Final = (
    "Where counts are few for their noise, the chance leans on more than them, such as what was expected before, "
    "or which rules or questions were drawn."
)


def render(block: Block, key: str = "") -> None:
    """A block as it is; a figure needs a ``key``."""
    match block:
        case Heading(words):
            st.subheader(markup.plain(words), anchor=False)
        case Headline(grade, headline, sentence):
            markup.notice(_STYLES[grade], f"{headline}.", sentence)
        case Paragraph(words):
            st.markdown(markup.plain(words))
        case Bullets():
            markup.sentences(block.sentences)
        case Facts(values):
            markup.facts(values)
        case Table():
            table(block)
        case Groups():
            groups(block)
        case Code(words):
            st.code(words, language="prolog")
        case Figure():
            draw(block, key)


def draw(block: Figure, key: str, *more: Any) -> None:
    """A figure; ``more`` are further arguments of its drawing."""
    figure.render(drawn(block, *more), key=key, alt=alt(block))


def table(block: Table) -> None:
    """A table; rows that others belong to stand out."""
    nested = any(isinstance(row[0], Inner) for row in block.rows)
    rows = []
    for first, *rest in block.rows:
        heads = nested and not isinstance(first, Inner)
        name = f"<b>{_cell(first)}</b>" if heads else _cell(first)
        rows.append(markup.row([name, *map(_cell, rest)], style="default" if heads else ""))
    markup.table(block.caption, block.head, rows)
    _below(block.remark, negative=any(_is_negative(cell) for row in block.rows for cell in row))


def _below(remark: str, *, negative: bool) -> None:
    if remark:
        st.caption(remark)
    if negative:
        st.caption(text("negative_counts"))


def _is_negative(cell: Cell) -> bool:
    return isinstance(cell, Noisy) and cell.interval[:1] in ("±", "") and cell.figure.startswith("−")


def _cell(cell: Cell) -> str:
    match cell:
        case Noisy(shown, interval) if interval.startswith("±") or not interval:
            return f'<div class="fg-counts">{_count(shown)} {escape(interval)}</div>'
        case Noisy(shown, interval):
            return f"{escape(shown)}<br><small>{escape(interval)}</small>"
        case Inner(words, depth):
            return f'<span class="fg-depth" style="--depth:{depth}">{escape(words)}</span>'
        case Several(figures):
            return "<br>".join(f"<b>{escape(own.figure)}</b> <small>{escape(own.interval)}</small>" for own in figures)
        case Doubt(words):
            return f'<div class="fg-unclear">{escape(words)}</div>'
        case _:
            return escape(cell)


def _count(shown: str) -> str:
    """One noisy count; marked if it is negative."""
    return f'<span class="neg">{shown}</span>' if shown.startswith("−") else f"<span>{shown}</span>"


# Groups


def choose_class(model: Any, target: str, key: str) -> int:
    """Which class the estimates are shown for; asked only if there are more than two."""
    if len(model.classes) == 2:
        return 1
    label = st.selectbox(
        f"Show the chance of this value of {target}",
        model.classes,
        index=len(model.classes) - 1,
        key=f"{key}-class",
    )
    return int(model.classes.index(label))


def groups(block: Groups, truth: Truth | None = None, *, fold: str = "", narrow: bool = False) -> None:
    """One row for each group, with the chance of the shown class as a bar.

    Parameters
    ----------
    truth : Truth or None
        True values, of public records.
    fold : str
        What groups are called, if those beside each other that the noise hides are folded.
    narrow : bool
        Two columns, for half the width.
    """
    markup.table(*drawing.once(_groups, block, truth, "" if truth else fold, narrow))
    shown, every = block.groups[: block.most], len(block.groups)
    remark = f"The first {len(shown)} of {every} groups; the downloads hold all." if every > len(shown) else ""
    _below(remark, negative=any(count < 0 for group in shown for count in group.numbers.noisy_counts))


def _groups(block: Groups, truth: Truth | None, fold: str, narrow: bool) -> tuple[str, list[str], list[str]]:
    """Caption, header and rows of the table."""
    shown = block.groups[: block.most]
    predicted = any(group.prediction is not None for group in shown)
    header = [block.who, *(["Prediction"] if predicted else []), f"Noisy chance of {block.outcome}", "Noisy counts"]
    header += ["True values"] if truth else []
    if narrow:
        header = [f"{block.who}{' and prediction' if predicted else ''}", f"{header[-2]}, and noisy counts"]
    rows = _rows(block, shown, truth, len(header), fold, narrow=narrow)
    return f"{block.caption}. {_BARS} {_LEANS}", header, list(rows)


def _rows(
    block: Groups, shown: tuple[Group, ...], truth: Truth | None, width: int, fold: str, *, narrow: bool
) -> Iterator[str]:
    last = shown[-1] if block.remainder else None

    def hidden(group: Group) -> bool:
        return bool(fold) and group is not last and not is_told(group.numbers, block.shown, group.margin)

    for folded, run in groupby(shown, key=hidden):
        items = list(run)
        rows = "".join(
            markup.row(_row(block, group, truth, narrow=narrow), style="default" if group is last else "")
            for group in items
        )
        if not folded:
            yield rows
            continue
        first, end = items[0].place + 1, items[-1].place + 1
        named = f"{fold} {first}" if first == end else f"{fold}s {first} to {end}"
        yield markup.folded(f"{named}: {TOO_NOISY}", rows, width)


def _row(block: Groups, group: Group, truth: Truth | None, *, narrow: bool) -> list[str]:
    name = _who(group, narrow=narrow)
    label = "" if group.prediction is None else prediction(block.classes, group.prediction)
    chance = estimate(group.numbers, block.shown, group.margin, truth, group.place)
    told = counts(group, block.classes, block.shown)
    if narrow:
        return [f"{name}{label}", f'{chance}<div class="narrow-counts">{told}</div>']
    row = [name, *([label] if label else []), chance, told]
    return [*row, _true_cell(truth, group.place, block.shown, block.classes)] if truth else row


def _who(group: Group, *, narrow: bool) -> str:
    """The conditions, and what is said of a clause in its own language."""
    sign = f'<span class="fg-if">{escape(group.sign)}</span>' if group.sign else ""
    words = ' <span class="fg-and">and</span> '.join(map(escape, group.conditions))
    if not group.code:
        return f'<div class="fg-group">{sign}{words}</div>'
    code = "" if narrow else f'<pre class="fg-prolog">{_prolog(group.code)}</pre>'
    predicts = group.mark.startswith("predicts")
    mark = f'<div class="fg-predicts{"" if predicts else " not"}">{"✓" if predicts else "✗"} {escape(group.mark)}</div>'
    return f'<div class="fg-clause{" narrow" if narrow else ""}"><div>{sign}{words}</div>{code}{mark}</div>'


def _prolog(code: str) -> str:
    """Prolog whose long lines break between goals."""
    lines = (re.sub(r"\w+\([^()]*\)", r"<i>\g<0></i>", escape(line)) for line in code.splitlines())
    return "".join(f"<span>{line}\n</span>" for line in lines)


def prediction(classes: tuple[str, ...], label: int) -> str:
    """A class with its symbol, as HTML."""
    mark = f'<span class="fg-series-{series(label)}" aria-hidden="true">{glyph(label)}</span>'
    return f'<span class="fg-class">{mark} {escape(classes[label])}</span>'


def estimate(numbers: Any, shown: int, margin: int, truth: Truth | None = None, place: int = 0) -> str:
    """The noisy chance of a class in a group, with its interval as a bar.

    It stands out in bold only if the noise leaves something to say of it.
    """
    if are_nobody(numbers.noisy_counts):
        return '<div class="fg-unclear">too few records to estimate</div>'
    value, (low, high) = numbers.estimates[shown], numbers.intervals[shown]
    told = is_told(numbers, shown, margin)
    chance = f"<b>{percent(value)}</b>" if told else percent(value)
    true = truth.share(place, shown) if truth else None
    words = f"noisy estimate {percent(value)}, interval {percent(low)} to {percent(high)}"
    mark = f'<span class="truth" style="left:{100 * true:.2f}%"></span>' if true is not None else ""
    if true is not None:
        words += f", true value {percent(true)}"
    return (
        f'<div class="fg-estimate">{chance} '
        f"<small>noise alone: {percent(low)} to {percent(high)}</small>"
        f'<div class="fg-interval" role="img" aria-label="{words}">'
        f'<span class="range" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></span>'
        f'<span class="point" style="left:{100 * value:.2f}%"></span>{mark}</div></div>'
    ) + ("" if told else f'<div class="fg-unclear">{TOO_NOISY}</div>')


def counts(group: Any, classes: tuple[str, ...], shown: int) -> str:
    """Counts of a group, and why its chance may not be their share."""
    why = why_apart(group.numbers, shown)
    own = _counts(group.numbers.noisy_counts, classes, shown, f" ±{whole(group.margin)}")
    return own + (f'<small class="fg-said">{why}</small>' if why else "")


def _counts(numbers: tuple[int, ...], classes: tuple[str, ...], shown: int, margin: str) -> str:
    """One count per class; ``margin`` stands behind each."""
    lines = [
        f"<div>{escape(label)}: {_count(whole(number))}{margin}</div>"
        for label, number in zip(classes, numbers, strict=True)
    ]
    if len(lines) <= MANY_CLASSES:
        return f'<div class="fg-counts">{"".join(lines)}</div>'
    return (
        f'<div class="fg-counts">{lines[shown]}'
        f"<details><summary>all {len(lines)} values</summary>{''.join(lines)}</details></div>"
    )


def _true_cell(truth: Truth, place: int, shown: int, classes: tuple[str, ...]) -> str:
    """True share and counts of a group. For public records only."""
    share = truth.share(place, shown)
    head = f"◇ {percent(share)} true" if share is not None else "no records"
    return f"<div><b>{head}</b></div>" + _counts(truth.counts[place], classes, shown, " true")
