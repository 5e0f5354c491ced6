"""All results as a table to sort and choose from: what each is, how good, what it cost, when and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import ReleaseNote
from pages.components.families import registry
from pages.components.releases import release_names

_KEY, _BEFORE = "library", "library-before"
_ROW, _HIGHEST = 35, 400
_MOST_FURTHER = 4
#: What a dataframe is called by tests and by the styles.
AUC, ERROR = "AUC", "Typical error"


def render(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], by: Mapping[str, str]) -> None:
    """The table; one row chosen opens it below, two are compared."""
    st.dataframe(
        frame(releases, notes, by),
        key=f"{_KEY}-{len(releases)}-{releases[0].id[:6]}",
        hide_index=True,
        height=min(_HIGHEST, 2 + _ROW * (1 + len(releases))),
        column_config={
            AUC: st.column_config.NumberColumn(format="%.2f", help="Noisy, on people set aside"),
            ERROR: st.column_config.NumberColumn(format="%.3g", help="Noisy, on people set aside"),
            "ε": st.column_config.NumberColumn(format=f"%.{_decimals(releases)}f"),
            "Made (UTC)": st.column_config.DatetimeColumn(format="YYYY-MM-DD"),
        },
        on_select=lambda: chosen(releases),
        selection_mode="multi-row",
        placeholder="",
        alt=f"Table of {len(releases)} results, the newest first.",
    )
    st.caption("Choose a row to read it below, or two and more to compare them. A click on a heading sorts.")


def chosen(releases: Sequence[Release]) -> None:
    """Carry a choice of rows over to what is read and compared below. For use in callbacks."""
    state = st.session_state.get(f"{_KEY}-{len(releases)}-{releases[0].id[:6]}")
    rows = [releases[row].id for row in state.selection.rows if row < len(releases)] if state else []
    before = st.session_state.get(_BEFORE, [])
    added = [release_id for release_id in rows if release_id not in before]
    st.session_state[_BEFORE] = rows
    if rows:
        st.session_state[release_names.OPEN] = (added or rows)[-1]
    if len(rows) > 1:
        for box, release_id in zip(release_names.SIDES, rows, strict=False):
            st.session_state[box] = release_id
        st.session_state[release_names.FURTHER] = rows[len(release_names.SIDES) :][:_MOST_FURTHER]


def frame(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], by: Mapping[str, str]) -> pd.DataFrame:
    """One row for each result; columns that none fills are left out, and a data set that all are of."""
    table = pd.DataFrame([_row(release, notes.get(release.id), by.get(release.id, "")) for release in releases])
    empty = [name for name in ("Name", AUC, ERROR, "By") if table[name].isna().all() or (table[name] == "").all()]
    return table.drop(columns=[*empty, *(["Data set"] if table["Data set"].nunique() == 1 else [])])


def _decimals(releases: Sequence[Release]) -> int:
    """As many as the longest ε needs, so that all are written alike."""
    return max(len(plain_epsilon(release.certificate.epsilon).partition(".")[2]) for release in releases)


def _row(release: Release, note: ReleaseNote | None, by: str) -> dict[str, Any]:
    card, family = release.certificate, registry.of_release(release)
    return {
        "Name": note.name if note is not None else "",
        "Kind": family.title,
        "Data set": release.dataset_name,
        "Predicts": called(release.domain, release.target),
        AUC: figure(release, "auc"),
        ERROR: figure(release, "rmse"),
        "ε": float(card.epsilon),
        "Made (UTC)": card.created.replace(tzinfo=None),
        "By": by,
    }


def figure(release: Release, name: str) -> float | None:
    """A figure of quality, read without the rest of the model; ``None`` if there is none."""
    found = (release.model.get("evaluation") or {}).get(name)
    return None if found is None else float(found["value"])
