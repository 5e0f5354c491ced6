"""Widgets that every family uses to set up a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schema import Schema
from pages.components.kit.texts import text

#: Widgets keep what was chosen when the visitor looks at another page and comes back.
KEEP: dict[str, Any] = {"persist_state": "session"}
T = TypeVar("T")


def target(schema: Schema, key: str = "", *, numbers: bool = False) -> str | None:
    """The column to be explained: those that the custodian marked come first.

    ``numbers`` also offers numeric columns that are not divided into groups.
    """
    names = [
        column.name
        for column in schema
        if len(column.classes) > 1 or (numbers and isinstance(column, NumericColumn))
    ]
    marked = [name for name in schema.targets if name in names]
    chosen = st.selectbox(
        "What should be predicted?",
        marked + [name for name in names if name not in marked],
        index=0 if marked else None,
        placeholder="Choose a column",
        format_func=lambda name: _described(schema, name),
        key=f"{key}target-{schema.hash[:8]}",
        **KEEP,
    )
    return None if chosen is None else str(chosen)


def _described(schema: Schema, name: str) -> str:
    description = schema.column(name).description
    return f"{name}: {description}" if description else name


def evaluate() -> dict[str, bool]:
    """Whether to keep people back for an honest check."""
    wanted = st.checkbox(
        "Check on people set aside", value=True, key="evaluate",
        help=text("evaluation"), **KEEP,
    )  # fmt: skip
    return {"evaluate": wanted}


def method(question: str, titles: Mapping[str, str], family: str, texts: str = "method") -> str:
    """One of the methods of a family, each explained by a help text ``<texts>_<name>``."""
    chosen = st.radio(
        question, list(titles), format_func=titles.__getitem__, key=f"{family}-method", **KEEP
    )
    st.markdown(text(f"{texts}_{chosen}"))
    return str(chosen)


def choice(label: str, options: Mapping[Any, str], key: str, **more: Any) -> Any:
    """One of a few named options."""
    return st.selectbox(
        label, list(options), format_func=options.__getitem__, key=f"set-{key}", **KEEP, **more
    )


def pick(label: str, options: Mapping[str, T], key: str, **more: Any) -> T:
    """One of a few values, by name."""
    name = st.selectbox(label, list(options), key=f"set-{key}", **KEEP, **more)
    return options[name]


def number(label: str, value: Any, low: Any, high: Any, step: Any, key: str, **more: Any) -> Any:
    """A number within fixed limits."""
    return st.number_input(label, low, high, value, step, key=f"set-{key}", **KEEP, **more)


def tick(label: str, key: str, *, value: bool, **more: Any) -> bool:
    """A yes or no."""
    return bool(st.checkbox(label, value=value, key=f"set-{key}", **KEEP, **more))
