"""Results compared by what they say: which columns, in which direction, and where they disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from dpcore.models.findings import Finding, agreement, findings, outcome
from dpcore.released.release import Release
from pages.components.families import registry
from pages.components.kit import markup
from pages.components.kit.markup import text

#: Rows of the table that are open; the others open on a click.
_OPEN = 12
_WORDS = {
    "opposite": "≠ they disagree",
    "unclear": "partly",
    "alike": "✓ the same",
    "different": "some only",
    "one only": "one only",
}
_MEMORY, _MOST = "findings-read", 40


def render(releases: Sequence[Release]) -> None:
    """Sentences first, then column by column."""
    told = [_read(release) for release in releases]
    goals = [outcome(release) for release in releases]
    st.markdown("#### What they say")
    rows = _rows(told)
    if not rows:
        st.info("None of them says anything of a column that the noise does not hide.")
        return
    same = len(set(goals)) == 1
    markup.sentences(_sentences(rows, goals, same=same))
    titles = [
        registry.of_release(release).heading("" if same else goal)
        for release, goal in zip(releases, goals, strict=True)
    ]
    names = [f"{number}. {title}" for number, title in enumerate(titles, 1)]
    about = f"What each says of {goals[0]}" if same and goals[0] else "What each says"
    drawn = [_row(label, items, same=same) for label, items in rows]
    if len(drawn) > _OPEN:
        rest = markup.folded(f"{len(drawn) - _OPEN} more columns", "".join(drawn[_OPEN:]), len(names) + 2)
        drawn = [*drawn[:_OPEN], rest]
    markup.table(f"{about}, column by column; where they disagree first", ["Column", *names, "Together"], drawn)
    st.caption(text("compare_findings"))


def _read(release: Release) -> Mapping[str, Finding]:
    """Findings of a release, worked out once in a session."""
    memory: dict[str, Mapping[str, Finding]] = st.session_state.setdefault(_MEMORY, {})
    if release.id not in memory:
        while len(memory) >= _MOST:
            del memory[next(iter(memory))]
        memory[release.id] = findings(release)
    return memory[release.id]


_Row = tuple[str, list[Finding | None]]


def _rows(told: Sequence[Mapping[str, Finding]]) -> list[_Row]:
    """Every column that any of them speaks of: contradictions first, then what most and the strongest say."""
    columns = list(dict.fromkeys(name for own in told for name in own))
    rows = []
    for name in columns:
        items = [own.get(name) for own in told]
        rows.append((next(item.label for item in items if item is not None), items))

    def order(row: _Row) -> tuple[bool, int, float]:
        known = [item for item in row[1] if item is not None]
        return agreement(row[1]) != "opposite", -len(known), -max(item.strength for item in known)

    return sorted(rows, key=order)


def _sentences(rows: Sequence[_Row], goals: Sequence[str], *, same: bool) -> list[str]:
    said = []
    if not same:
        said.append("They are about different outcomes, so directions cannot be compared: only which columns count.")
    opposite = [label for label, items in rows if same and agreement(items) == "opposite"]
    shared = [label for label, items in rows if None not in items and label not in opposite]
    if opposite:
        said.append(f"They disagree on {_listed(opposite)}.")
    if shared:
        said.append(f"{'Both' if len(goals) == 2 else 'All'} speak of {_listed(shared)}.")
    elif not opposite:
        said.append("No column stands out in all of them.")
    for place in range(len(goals)):
        alone = [label for label, items in rows if [n for n, item in enumerate(items) if item is not None] == [place]]
        if alone:
            said.append(f"Only result {place + 1} speaks of {_listed(alone)}.")
    return said


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _row(label: str, items: Sequence[Finding | None], *, same: bool) -> str:
    how = agreement(items)
    named = f"{'both' if len(items) == 2 else 'all'} name it"
    together = _WORDS.get(how, named) if same else ("both" if None not in items else "one only")
    cells = ["–" if item is None else escape(item.words) for item in items]
    return markup.row([escape(label), *cells, together], style="diff" if same and how == "opposite" else "")
