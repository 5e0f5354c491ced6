"""One first look: all columns as pictures, one of them in large, and its other forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.summaries.released.reading import total_of
from dpcore.models.summaries.released.summary_reading import cell_frame, code_frame
from dpcore.models.summaries.released.summary_words import column_sentences, count_words
from dpcore.numerals import whole
from dpcore.released.release import Release
from dpcore.spreadsheets import frame_csv
from pages.components.families.registry import IntervalText
from pages.components.families.shared import downloads, truth
from pages.components.families.summaries import cards, questions, summary_columns, summary_files
from pages.components.families.summaries.summary_state import IN_ORDER, STANDING_OUT, Look, order_key
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

CSV = "noisy count and share of every value of every column, with intervals"
_COLUMNS, _TABLE_ONE, _PAIRS, _INVENTED = "Columns", "Table 1", "Pairs", "Invented records"
_CODES, _QUESTIONS = "Codes", "Ask"


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """How many there are, then all columns, then everything else."""
    true = truth.wanted(release, key, _true_cells) if public else None
    # Another rehearsal stands in the same place: what was chosen there belongs to the last one.
    _body(Look(release, model, true, f"{key}-{release.id[:8]}"))


def _true_cells(release: Release) -> Sequence[Any]:
    return access.service().true_cells(release)


@st.fragment
def _body(look: Look) -> None:
    """All that is read; no record and no budget is touched."""
    markup.facts(_headline(look))
    names = [_COLUMNS]
    names += [_TABLE_ONE] if look.model.by is not None else []
    names += [_PAIRS] if look.model.pairs else []
    names += [_CODES] if look.model.trees else []
    names += [_QUESTIONS, "In words", _INVENTED, "Certificate", "Download"]
    parts = {name: partial(_SHOWN[name], look) for name in names}
    drawing.tabs(parts, f"{look.key}-tabs-{len(names)}", stay=[_QUESTIONS, _INVENTED])


def _headline(look: Look) -> dict[str, str]:
    """How many people and columns there are, and what was compared."""
    by = look.model.by
    return {
        f"{counted(look.schema).several.capitalize()} (noisy)": count_words(total_of(look.model)),
        "Columns": whole(len(look.model.axes)),
        **({} if by is None else {"Groups": look.readings[by].label}),
        **({"Pairs": whole(len(look.model.pairs))} if look.model.pairs else {}),
    }


def _columns(look: Look) -> None:
    st.segmented_control(
        "Order of the columns",
        [IN_ORDER, STANDING_OUT],
        default=IN_ORDER,
        required=True,
        key=order_key(look.key),
        help=text("look_order"),
    )
    cards.render(look)
    st.caption(text("look_cards"))
    st.subheader("One column in large", anchor=False)
    summary_columns.column_in_large(look, summary_columns.choose_column(look))


def _in_words(look: Look) -> None:
    for reading in look.readings:
        st.markdown(f"**{markup.plain(reading.label)}**")
        markup.sentences(column_sentences(reading, look.schema))
    st.markdown(text("noise"))


def _files(look: Look) -> None:
    downloads.render(
        look.release, look.model, look.key, CSV, more=_more(look), twin=cell_frame(look.model, look.schema)
    )
    st.markdown(text("look_python"))


def _more(look: Look) -> list[downloads.File]:
    """Codes down their groups, if they were counted."""
    if not look.model.trees:
        return []
    return [downloads.File("codes (CSV)", "csv", frame_csv(code_frame(look.model, look.schema)), name="codes")]


_SHOWN: dict[str, Callable[[Look], None]] = {
    _COLUMNS: _columns,
    _TABLE_ONE: summary_files.table_one,
    _PAIRS: summary_columns.pairs,
    _CODES: summary_columns.codes,
    "In words": _in_words,
    _QUESTIONS: questions.render,
    _INVENTED: summary_files.invented_records,
    "Certificate": lambda look: downloads.certificate(look.release),
    "Download": _files,
}


def side(release: Release, model: Any, key: str) -> None:
    """All columns as pictures, which fit into half the width."""
    look = Look(release, model, None, f"{key}-{release.id[:8]}")
    markup.facts(_headline(look))
    cards.render(look)


def figures(model: Any) -> dict[str, str | IntervalText]:
    """How much was counted."""
    total = total_of(model)
    return {
        "Noisy number of all": IntervalText(count_words(total), total.low, total.high),
        "Columns": whole(len(model.axes)),
        "Groups": "no groups" if model.by is None else model.axes[model.by].name,
        "Pairs": whole(len(model.pairs)),
    }
