"""Released redescriptions: all of them as points, one to read, and their other forms."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import how_many, redescriptions_table, sentences
from dpcore.released.release import Release
from pages.components.families.redescriptions import nearest, pair
from pages.components.families.redescriptions import redescription_table as table
from pages.components.families.redescriptions import redescription_view as view
from pages.components.families.redescriptions.redescription_state import Reading, remembered
from pages.components.families.shared import blocks, downloads, truth
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

CSV = "the redescriptions that are kept"
_TABS = ("Table", "In words", "Trees", "Certificate", "Download")
#: Those that say something even if nothing is found.
_OTHER_TABS = _TABS[2:]
_BEST = 10


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """All of them first, then the one that is read, then everything else."""
    tables = truth.wanted(release, key, _true_tables) if public else None
    if public:
        truth.chains(release, key)
    # Another rehearsal stands in the same place: what was moved there belongs to the last one.
    _body(release, model, tables, f"{key}-{release.id[:8]}")


def _true_tables(release: Release) -> Sequence[Any]:
    return access.service().true_tables(release)


@st.fragment
def _body(release: Release, model: Any, tables: Sequence[Any] | None, key: str) -> None:
    """Everything that moves with the threshold; no record and no budget is touched."""
    asked = view.constraints(key)
    found = remembered(release, model, asked)
    if not found.found:
        nearest.render(release, model, asked)
        _tabs(_OTHER_TABS, Reading.of(release, model, found, 0, None, key))
        return
    place = drawing.placeholder()
    threshold = view.threshold(found, key)
    reading = Reading.of(release, model, found, threshold, tables, key)
    view.ring(reading, place)
    view.points(reading)
    view.one(reading)
    with drawing.placeholder():
        if reading.exact is not None:
            view.against_truth(reading, reading.exact)
    _tabs(_TABS, reading)


def _tabs(names: Sequence[str], reading: Reading) -> None:
    drawing.tabs({name: partial(_SHOWN[name], reading) for name in names}, f"{reading.key}-tabs-{len(names)}")


def _files(reading: Reading) -> None:
    kept = dataclasses.replace(reading.found, found=reading.kept)
    downloads.render(reading.release, kept, reading.key, CSV)


def _in_words(reading: Reading) -> None:
    if not reading.kept:
        st.info(view.all_aside(reading))
        return
    blocks.render(sentences(reading.found, reading.kept, _BEST))
    st.markdown(text("reading_pairs"))
    st.markdown(text("noise"))


_SHOWN: dict[str, Callable[[Reading], None]] = {
    "Table": table.render,
    "In words": _in_words,
    "Trees": pair.render,
    "Certificate": lambda reading: downloads.certificate(reading.release),
    "Download": _files,
}


def side(release: Release, model: Any, key: str) -> None:
    """Points and the best few, as suggested, which fit into half the width."""
    found = remembered(release, model, Constraints())
    kept = found.pruned(found.suggested_support)
    st.markdown(f"**{markup.plain(how_many(found, len(kept)))}**")
    if found.found:
        view.picture(found, found.suggested_support, key)
        blocks.render(redescriptions_table(kept, _BEST))


def figures(model: Any) -> dict[str, str]:
    """How much there is to read from."""
    return {
        "Pairs of trees": str(len(model.pairs)),
        "Columns on the left": str(len(model.left_columns)),
        "Columns on the right": str(len(model.right_columns)),
    }
