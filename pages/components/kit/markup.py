"""Words on a page: help texts (Markdown files of ``assets/help``), times, small pieces of HTML.

Every text that goes into HTML is escaped here.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from functools import cache
from html import escape
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

K = TypeVar("K", bound=Hashable)
ASSETS = Path(__file__).resolve().parents[3] / "assets"


@cache
def texts() -> Mapping[str, str]:
    """Every help text by name: that of a file, or ``topic_part`` for a part of a file about a topic."""
    found = {}
    for path in (ASSETS / "help").glob("*.md"):
        whole, *parts = f"\n{path.read_text(encoding='utf-8')}".split("\n## ")
        found[path.stem] = whole.strip()
        for part in parts:
            name, _, words = part.partition("\n")
            found[f"{path.stem}_{name}"] = words.strip()
    return {name: words for name, words in found.items() if words}


def text(name: str) -> str:
    """The help text called ``name``."""
    return texts()[name]


def distinct_labels(words: Mapping[K, str]) -> dict[K, str]:
    """The same words; where several options read alike, all but the first are numbered."""
    seen: Counter[str] = Counter()
    told = {}
    for key, label in words.items():
        seen[label] += 1
        told[key] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return told


def local_time(time: datetime) -> datetime:
    """The same moment in the visitor's time zone."""
    return time.astimezone(_zone())


def _zone() -> tzinfo:
    """The visitor's time zone, as the browser tells it."""
    with suppress(ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(st.context.timezone or "UTC")
    return UTC


#: Between these characters Streamlit would make a link, a picture or an arrow of a text, also of
#: one whose marks are escaped.
_TOGETHER = re.compile(r"(?<=:)(?=//|[^\s:]+:)|(?<=@)|(?=@)|(?<=www)(?=\.)|(?<=[-<>=])(?=[-<>=])", re.IGNORECASE)
#: Something that is not seen, so that what stands before and after it are two texts.
_APART = ":small[]"
_MARK = re.compile(r"[\\`*_\[\]$~<&]|:(?=\S|$)")
#: What makes a heading, a list, a quotation or a line of a text that begins with it.
_FIRST = re.compile(r"^(\d*)([-+#>=|.)])")


def plain(sentence: str) -> str:
    """Markdown that shows a text as it is, on one line, whatever it holds.

    No links, addresses, pictures, signs, lists or headings result from it.
    """
    pieces = _TOGETHER.split(" ".join(sentence.split()))
    marked = _APART.join(_MARK.sub(r"\\\g<0>", piece) for piece in pieces)
    return _FIRST.sub(r"\1\\\2", marked)


def person(name: str) -> str:
    """Somebody's name in Markdown; as code, so that an address is not made a link."""
    return f"`{name.replace('`', '')}`"


def lead(sentence: str) -> None:
    """The sentence below a page title."""
    st.html(f'<p class="fg-lead">{escape(sentence)}</p>')


def tags(labels: Mapping[str, str]) -> None:
    """A row of short labels; the mapping gives the style of each."""
    marks = "".join(f'<span class="fg-tag {escape(style)}">{escape(label)}</span>' for label, style in labels.items())
    st.html(f'<div class="fg-tags">{marks}</div>')


def facts(pairs: Mapping[str, str]) -> None:
    """Named values side by side."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs.items())
    st.html(f'<dl class="fg-facts">{items}</dl>')


def banner(style: str, help_name: str) -> None:
    """A banner with a fixed help text, which may hold markup."""
    st.html(f'<div class="fg-banner {escape(style)}" role="note">{text(help_name)}</div>')


def notice(style: str, title: str, sentence: str) -> None:
    """A banner whose words are made at run time."""
    body = f"<strong>{escape(title)}</strong> {escape(sentence)}"
    st.html(f'<div class="fg-banner {escape(style)}" role="note">{body}</div>')


def empty(title: str, sentence: str) -> None:
    """What a page shows when there is nothing to show."""
    icon = b64encode((ASSETS / "icon.svg").read_bytes()).decode()
    image = f'<img src="data:image/svg+xml;base64,{icon}" alt="">'
    st.html(f'<div class="fg-empty">{image}<b>{escape(title)}</b>{escape(sentence)}</div>')


def row(cells: Iterable[str], *, style: str = "", head: bool = False) -> str:
    """One table row from cells that are HTML already; the first is the row's heading."""
    first, *rest = cells
    scope = "col" if head else "row"
    tag = "th scope='col'" if head else "td"
    tail = "".join(f"<{tag}>{cell}</{tag.split()[0]}>" for cell in rest)
    return f'<tr class="{escape(style)}"><th scope="{scope}">{first}</th>{tail}</tr>'


def folded(summary: str, rows: str, width: int) -> str:
    """A table row over ``width`` columns that opens to further rows, from :func:`row`."""
    opened = f'<summary>{escape(summary)}</summary><table class="fg-table">{rows}</table>'
    return f'<tr class="folded"><td colspan="{width}"><details>{opened}</details></td></tr>'


def unbroken(words: str) -> str:
    """A text as HTML that stays on one line, for a cell of a table."""
    return f'<span class="fg-counts">{escape(words)}</span>'


def roomy(words: str) -> str:
    """A text of any length as HTML, for a cell that keeps a readable width."""
    return f'<span class="fg-said">{escape(words)}</span>'


def table(caption: str, header: Sequence[str], rows: Iterable[str]) -> None:
    """A table with a caption; ``rows`` come from :func:`row`. Without names there is no header."""
    names = row((escape(name) for name in header), head=True) if any(header) else ""
    st.html(  # It can be reached by keyboard, since a wide table scrolls.
        '<div class="fg-scroll" tabindex="0"><table class="fg-table">'
        f"<caption>{escape(caption)}</caption>"
        f"<thead>{names}</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def pairs_table(caption: str, header: tuple[str, str], pairs: Mapping[str, str]) -> None:
    """A table of names and values, both plain text."""
    table(caption, header, (row((escape(k), escape(v))) for k, v in pairs.items()))


def sentences(lines: Iterable[str]) -> None:
    """A bullet per sentence, shown as it is."""
    st.markdown("\n".join(f"- {plain(line)}" for line in lines))


#: A sign, perhaps what compares it, and a number; digits and the power of ten behind them.
_SIGN_AND_NUMBER = re.compile(r"([εδρ]) (?:([=≤≥]) )?(?=[\d∞])|[≈×] (?=\d)|(?<=\d) · (?=10⁻)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def unparted(words: str) -> str:
    """The same words with spaces at which no browser breaks a line, wherever a sign and a number stand together."""
    return _SIGN_AND_NUMBER.sub(lambda found: found[0].replace(" ", _NO_BREAK), words)
