"""How files are read that do not say it themselves: asked beside the upload, said back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import streamlit as st

from dpcore.intake.sources.choices import Choices
from dpcore.intake.sources.encodings import ENCODINGS, OF_STATISTICS
from dpcore.intake.sources.parts import Part
from dpcore.workspace.files.staging import StagedFile

_STATISTICS = ("SPSS", "Stata", "SAS")
#: Answers outlive their page.
_KEEP: dict[str, Any] = {"persist_state": "session"}
_ENCODING, _DECIMAL, _SHEET = "intake-encoding", "intake-decimal", "intake-sheet"


def render(file: StagedFile, *, busy: bool) -> None:
    """Ask what only a person can know about files of this kind."""
    kind = Part(file.path, file.name).kind
    if kind == "Excel":
        st.session_state.setdefault(_SHEET, "")
        st.text_input("Sheet", key=_SHEET, placeholder="the first", disabled=busy, **_KEEP)
    if kind in _STATISTICS:
        _ask_encoding(list(OF_STATISTICS), "As the file says", busy=busy)
    if kind != "CSV":
        return
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        _ask_encoding(list(ENCODINGS), "As the file shows (UTF-8 or UTF-16)", busy=busy)
    st.session_state.setdefault(_DECIMAL, False)
    right.checkbox(
        "Decimal comma",
        key=_DECIMAL,
        disabled=busy,
        help="Numbers are written like 1,75 or 12.500,5.",
        **_KEEP,
    )


def _ask_encoding(offered: list[str], otherwise: str, *, busy: bool) -> None:
    if st.session_state.get(_ENCODING) not in offered:
        st.session_state[_ENCODING] = None
    st.selectbox(
        "Encoding",
        offered,
        format_func=ENCODINGS.__getitem__,
        placeholder=otherwise,
        key=_ENCODING,
        disabled=busy,
        help="How letters are written. Look at names with accents: they show whether it is right.",
        **_KEEP,
    )


def current() -> Choices:
    """What was answered."""
    state = st.session_state
    sheet = str(state.get(_SHEET) or "").strip()
    return Choices(state.get(_ENCODING), "," if state.get(_DECIMAL) else ".", sheet or None)


def marks() -> list[str]:
    """What tells a draft apart that was read otherwise; nothing where nothing was chosen."""
    choices = current()
    return [] if choices == Choices() else [json.dumps(asdict(choices))]
