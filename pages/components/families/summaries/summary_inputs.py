"""What a first look counts: columns, groups to compare, pairs and, if wanted, the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.domain.hierarchies import levels_above
from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.summary_parameters import BETWEEN, SummaryParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import KEEP, FormContext, explained, label, method, number, tick
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access

OWN = parameters_of(SummaryParameters)
#: Pairs that a list offers; of more, columns have to be chosen first.
_MOST_OFFERED = 3_000


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it; delta follows from that of the data set's budget."""
    schema = context.schema
    left, right = st.columns(2, gap="large")
    with left:
        columns = _columns(schema)
    with right:
        chosen: dict[str, Any] = {"columns": columns or None, "by": _by(schema)}
    left, right = st.columns(2, gap="large")
    with left:
        chosen["crosstabs"] = _crosstabs(schema, columns)
    with right:
        chosen["pairs"] = number(OWN["pairs"], 1, "look-pairs")
    chosen["codes"] = _further(schema, columns, "codes", _has_groups)
    with st.expander("Advanced settings"):
        chosen["finer"] = _further(schema, columns, "finer", _is_number)
        chosen["records"] = tick(OWN["records"], "look-for-records")
        place = drawing.placeholder()
        chosen["method"] = method(OWN, METHODS["summaries"], "summaries", place)
    return chosen


def preset(schema: Schema, columns: Sequence[str], by: str | None = None) -> None:
    """Fill in the form, and open it, for a run that counts these columns, and the first two together."""
    own = schema.hash[:8]
    order = [column.name for column in schema if column.name in columns]
    st.session_state[f"set-look-columns-{own}"] = order
    st.session_state[f"set-look-by-{own}"] = by
    st.session_state[f"set-look-crosstabs-{own}"] = [BETWEEN.join(order)] if len(order) > 1 else []
    for name in ("codes", "finer"):
        st.session_state[f"set-look-{name}-{own}"] = []
    for key in ("set-look-pairs", "look-for-records"):
        st.session_state.pop(key, None)
    st.session_state["set-up-summaries"] = True


def _columns(schema: Schema) -> list[str]:
    chosen = st.multiselect(
        label(OWN["columns"]),
        [column.name for column in schema],
        format_func=lambda name: called(schema, name),
        placeholder=f"All {len(schema.columns)} columns",
        wrap=True,
        help=explained(OWN["columns"]),
        key=f"set-look-columns-{schema.hash[:8]}",
        **KEEP,
    )
    return [str(name) for name in chosen]


def _by(schema: Schema) -> str | None:
    """Outcomes come first; then what has categories, then numbers."""
    names = [column.name for column in schema]
    marked = set(schema.targets)
    order = sorted(names, key=lambda name: (name not in marked, len(schema.column(name).classes) < 2))
    chosen = st.selectbox(
        label(OWN["by"]),
        order,
        index=None,
        format_func=lambda name: called(schema, name),
        placeholder="No groups",
        help=explained(OWN["by"]),
        key=f"set-look-by-{schema.hash[:8]}",
        **KEEP,
    )
    return None if chosen is None else str(chosen)


def _crosstabs(schema: Schema, columns: list[str]) -> list[str]:
    names = [column.name for column in schema if not columns or column.name in columns]
    pairs = [] if len(names) ** 2 > 2 * _MOST_OFFERED else list(combinations(names, 2))
    told = {BETWEEN.join(pair): " by ".join(called(schema, name) for name in pair) for pair in pairs}
    chosen = st.multiselect(
        label(OWN["crosstabs"]),
        list(told),
        format_func=lambda pair: told.get(pair, pair),
        placeholder="None" if told else "Choose fewer columns above first",
        disabled=not told,
        wrap=True,
        help=text("look_crosstabs"),
        key=f"set-look-crosstabs-{schema.hash[:8]}",
        **KEEP,
    )
    return [str(pair) for pair in chosen if pair in told]


def _further(schema: Schema, columns: list[str], name: str, fits: Callable[[Any], bool]) -> list[str]:
    """Columns for one more way to count, where there are any that fit."""
    names = [column.name for column in schema if fits(column) and (not columns or column.name in columns)]
    with drawing.placeholder():
        if not names:
            return []
        chosen = st.multiselect(
            label(OWN[name]),
            names,
            format_func=lambda column: called(schema, column),
            placeholder="None",
            wrap=True,
            help=explained(OWN[name]),
            key=f"set-look-{name}-{schema.hash[:8]}",
            **KEEP,
        )
    return [str(column) for column in chosen if column in names]


def _has_groups(column: Any) -> bool:
    return bool(levels_above(column))


def _is_number(column: Any) -> bool:
    return isinstance(column, NumericColumn)


def asked(parameters: Mapping[str, Any]) -> dict[str, str]:
    """What a run counts, for its review."""
    dataset = access.chosen_dataset()
    assert dataset is not None
    columns, by = parameters.get("columns") or (), parameters.get("by")
    named, found = len(parameters.get("crosstabs") or ()), parameters.get("pairs") or 0
    pairs = [f"{named} as named"] * bool(named) + [f"{found} to be found"] * bool(found)
    return {
        "To count": f"{len(columns)} columns" if columns else f"all {len(dataset.schema.columns)} columns",
        **({"In the groups of": called(dataset.schema, by)} if by else {}),
        **({"Pairs of columns": ", ".join(pairs)} if pairs else {}),
        **{
            OWN[further].title: ", ".join(called(dataset.schema, name) for name in names)
            for further in ("codes", "finer")
            if (names := parameters.get(further) or ())
        },
    }
