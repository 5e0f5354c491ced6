"""A page with so many made-up redescriptions, to be moved and clicked: ``streamlit run`` it with their number.

It is made of the pieces that show those of a release, with the style sheet of the application.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import streamlit as st

from dpcore.domain.counted import PEOPLE
from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from pages.components.families.redescriptions import redescription_view as view
from pages.components.families.redescriptions.redescription_state import Reading
from pages.components.kit import drawing
from pages.components.kit.markup import ASSETS

_PEOPLE, _SUGGESTED, _KEY = 100_000, 1_000, "many"


def made_up(count: int) -> RedescriptionSet:
    """As many, of few people or of many, with a fixed seed."""
    draw = np.random.default_rng(1)
    supports = np.exp(draw.uniform(np.log(100), np.log(_PEOPLE), count))
    indices = draw.uniform(0.3, 0.98, count)
    items = (_one(place, float(supports[place]), float(indices[place])) for place in range(count))
    return RedescriptionSet(tuple(sorted(items, key=lambda item: -item.jaccard)), _SUGGESTED, _PEOPLE, PEOPLE)


def _one(place: int, support: float, jaccard: float) -> Redescription:
    others = support * (1 / jaccard - 1) / 2
    return Redescription(
        pair=0,
        left_leaves=(place,),
        right_leaves=(place,),
        left=f"left sign {place}",
        right=f"right sign {place}",
        left_query=f"left_{place} = yes",
        right_query=f"right_{place} = yes",
        support=support,
        left_only=others,
        right_only=others,
        jaccard=jaccard,
        interval=(jaccard - 0.03, jaccard + 0.02),
        support_margin=120,
        chance=0.1,
        p_value=0.001,
        conditions=2,
        similar=0,
        columns=frozenset(),
    )


@st.fragment
def _body(found: RedescriptionSet) -> None:
    """As the page of redescriptions, as far as nothing but them is needed."""
    place = drawing.placeholder()
    threshold = view.threshold(found, _KEY)
    nothing: Any = None
    reading = Reading.of(nothing, nothing, found, threshold, None, _KEY)
    view.ring(reading, place)
    view.points(reading)


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    st.html(f"<style>{(ASSETS / 'style.css').read_text(encoding='utf-8')}</style>")
    _body(made_up(int(sys.argv[1])))
