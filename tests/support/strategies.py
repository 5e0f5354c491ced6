"""Hypothesis strategies for schemas and raw values, shared by several tests."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from dpcore.domain.schemas.schema import Schema
from tests.support.tables.small_tables import ward

#: Signs, quotes and spaces that conditions and file formats must survive.
LETTERS = st.sampled_from([*"abxyz019 <>=.'\"#:-_éß", " and ", "\u2028"])


def _clean(text: str) -> bool:
    # Conditions are printed with single spaces around their parts.
    return bool(text) and text == text.strip() and text not in {"(other)", "(missing)"}


def plain_names(size: int = 8) -> st.SearchStrategy[str]:
    return st.lists(LETTERS, min_size=1, max_size=size).map("".join).map(str.strip).filter(_clean)


def simple_names() -> st.SearchStrategy[str]:
    return st.from_regex(r"[a-z][a-z_0-9]{0,6}( [a-z]{1,3})?", fullmatch=True)


@st.composite
def columns(draw, name: str, categories=None) -> dict:
    kind = draw(st.sampled_from(["boolean", "categorical", "ordinal", "integer", "real"]))
    fields = {"name": name, "type": kind}
    if kind in {"categorical", "ordinal"}:
        values = st.lists(plain_names() if categories is None else categories, min_size=1, max_size=5, unique=True)
        return {**fields, "categories": draw(values)}
    if kind == "boolean":
        return fields
    if kind == "integer":
        lower = draw(st.integers(-1000, 1000))
        upper = lower + draw(st.integers(1, 500))
    else:
        lower = draw(st.floats(-1e6, 1e6))
        upper = lower + draw(st.floats(0.5, 1e6))
    fields |= {"lower": lower, "upper": upper}
    if draw(st.booleans()):
        return {**fields, "bins": draw(st.integers(1, 12))}
    edge = st.floats(lower, math.nextafter(upper, -math.inf))
    edges = draw(st.lists(edge.map(lambda e: e + 0.0), max_size=6, unique=True))
    return {**fields, "edges": sorted(edges)}


@st.composite
def schemas(draw, names=None, categories=None, max_columns: int = 4) -> Schema:
    chosen = draw(
        st.lists(
            plain_names() if names is None else names,
            min_size=1,
            max_size=max_columns,
            unique=True,
        )
    )
    return ward(
        *[draw(columns(name, categories)) for name in chosen],
        name="made up",
        max_rows=draw(st.integers(1, 300)),
        holdout_percent=draw(st.integers(0, 50)),
    )
