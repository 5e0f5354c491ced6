"""Widgets that every family uses to set up a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.reading import cut_points
from dpcore.models.summaries.released.summary_parameters import Axis
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.parameters import Parameter
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text


@dataclass(frozen=True)
class FormContext:
    """A data set, and its results that the visitor may read.

    Attributes
    ----------
    dataset : DatasetInfo
    releases : sequence of Release
        Newest first.
    """

    dataset: DatasetInfo
    releases: Sequence[Release]

    @property
    def schema(self) -> Schema:
        """That of the data set."""
        return self.dataset.schema


#: Widgets keep what was chosen when the visitor looks at another page and comes back.
KEEP: dict[str, Any] = {"persist_state": "session"}
#: Parameters of a family, by name.
Own = Mapping[str, Parameter]
T = TypeVar("T")


def target(schema: Schema, key: str = "", *, numbers: bool = False) -> str | None:
    """The column to be explained: those that the custodian marked come first.

    ``numbers`` also offers numeric columns that are not divided into groups.
    """
    options, first = drawing.once(_targets, schema, numbers)
    chosen = st.selectbox(
        "What should be predicted?",
        list(options),
        index=first,
        placeholder="Choose a column",
        format_func=options.__getitem__,
        key=f"{key}target-{schema.hash[:8]}",
        **KEEP,
    )
    return None if chosen is None else str(chosen)


def _targets(schema: Schema, numbers: bool) -> tuple[dict[str, str], int | None]:
    """What each column that may be predicted is called, marked ones first; the first if it is marked."""
    names = [
        column.name for column in schema if len(column.classes) > 1 or (numbers and isinstance(column, NumericColumn))
    ]
    marked = [name for name in schema.targets if name in names]
    return {name: _described(schema, name) for name in dict.fromkeys([*marked, *names])}, 0 if marked else None


def choose_target(schema: Schema, name: str) -> None:
    """Let the form of every method ask for this column. For other pages, where the form is not."""
    st.session_state[f"target-{schema.hash[:8]}"] = name


def _described(schema: Schema, name: str) -> str:
    title, description = called(schema, name), schema.column(name).description
    return f"{title}: {description}" if description else title


def label(parameter: Parameter) -> str:
    """What a parameter is called above its widget."""
    return _greek(parameter.title)


def explained(parameter: Parameter) -> str:
    """What a parameter does, as the help of its widget."""
    return _greek(parameter.description)


def _greek(words: str) -> str:
    """Pages write as letters what the engine writes as words."""
    return words.replace("epsilon", "ε").replace("delta", "δ")


def evaluate(own: Own) -> dict[str, bool]:
    """Whether to keep people back for an honest check."""
    return {"evaluate": tick(own["evaluate"], "evaluate")}


def method(own: Own, titles: Mapping[str, str], family: str, place: Any, texts: str = "method") -> str:
    """One of the methods of a family, each explained by a help text ``<texts>_<name>`` in a place of its own.

    The recommended one stands first; published variants are for those who look for them.
    """
    chosen = radio(own["method"], titles, f"{family}-method")
    place.markdown(text(f"{texts}_{chosen}"))
    return chosen


def radio(parameter: Parameter, options: Mapping[str, str], key: str, **more: Any) -> str:
    """One of a few named options, all of them in sight."""
    return str(
        st.radio(
            label(parameter),
            list(options),
            list(options).index(parameter.default),
            format_func=options.__getitem__,
            key=key,
            **KEEP,
            **more,
        )
    )


def choice(parameter: Parameter, options: Mapping[str, str], key: str) -> str:
    """One of a few named options, at first the default or, if that is none of them, the first."""
    names = list(options)
    return str(
        st.selectbox(
            label(parameter),
            names,
            names.index(parameter.default) if parameter.default in names else 0,
            format_func=options.__getitem__,
            key=f"set-{key}",
            help=explained(parameter),
            **KEEP,
        )
    )


def pick(parameter: Parameter, options: Mapping[str, T], key: str) -> T:
    """One of a few values, by name."""
    names = [name for name, value in options.items() if value == parameter.default]
    chosen = st.selectbox(
        label(parameter),
        list(options),
        list(options).index(names[0]),
        key=f"set-{key}",
        help=explained(parameter),
        **KEEP,
    )
    return options[chosen]


def number(parameter: Parameter, step: Any, key: str, digits: int = 2) -> Any:
    """A number within the limits of a parameter, or nothing: then the engine chooses.

    A limit that may not be reached is moved in by one unit of the last of the ``digits`` after the
    point. An exact parameter is given as text, as steps of a float are not exact.
    """
    kind: Any = int if parameter.kind is int else float
    default, limits, unit = parameter.default, parameter.limits, 10**-digits
    low = limits["ge"] if "ge" in limits else limits["gt"] + unit
    high = limits["le"] if "le" in limits else limits["lt"] - unit
    chosen = st.number_input(
        label(parameter),
        kind(low),
        kind(high),
        None if default is None else kind(default),
        step,
        key=f"set-{key}",
        format=None if kind is int else f"%.{digits}f",
        placeholder="automatic" if default is None else None,
        help=explained(parameter),
        **KEEP,
    )
    return f"{chosen:.6g}" if parameter.kind is Decimal and chosen is not None else chosen


def numbers(parameter: Parameter, key: str, placeholder: str) -> list[float] | None:
    """Several numbers, or nothing: then the engine chooses.

    Raises
    ------
    RequestError
        If something else is typed.
    """
    typed = st.text_input(
        label(parameter), key=f"set-{key}", placeholder=placeholder, help=explained(parameter), max_chars=1000, **KEEP
    )
    try:
        return [float(part) for part in typed.replace(";", ",").split(",")] if typed.strip() else None
    except ValueError:
        raise RequestError(f"'{parameter.title}' takes numbers, separated by commas: 1, 2.5") from None


def as_recommended(parameter: Parameter, key: str) -> bool | None:
    """A yes or no that is left to the default as long as it is ticked."""
    return None if st.checkbox(label(parameter), value=True, key=key, help=explained(parameter), **KEEP) else False


def tick(parameter: Parameter, key: str) -> bool:
    """A yes or no."""
    return bool(st.checkbox(label(parameter), parameter.default, key=key, help=explained(parameter), **KEEP))


_ALL = ""


def cuts_from(context: FormContext, own: Own, family: str) -> dict[str, Any]:
    """Which first look tells the cut points of numbers; asked only if there is one that tells any."""
    looks = {
        release.id: release for release in context.releases if release.kind == "summaries" and _look_tells(release)
    }
    if not looks:
        return {}
    chosen = st.selectbox(
        label(own["cuts_from"]),
        [_ALL, *looks],
        format_func=lambda key: _look_named(looks[key]) if key else "None: all cut points of the schema",
        key=f"{family}-cuts-{context.dataset.id}",
        help=explained(own["cuts_from"]),
        **KEEP,
    )
    if not chosen:
        return {}
    points = cut_points(parse_model(looks[chosen]), looks[chosen].domain)
    st.caption(markup.plain(f"Cut points: {_listed(points, context.schema)}."))
    return {"cuts_from": chosen}


def cuts_asked(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Where a run may cut numbers, for its review, if that is not everywhere."""
    look = parameters.get("cuts_from")
    return {"Cut points of numbers": f"those of the first look {look[:6]}"} if look else {}


def _look_tells(look: Release) -> bool:
    """Whether it looked at a column of numbers that has cut points. Its tables, which may be large, are not read."""
    return any(Axis.model_validate(axis).edges for axis in look.model["axes"])


def _look_named(look: Release) -> str:
    card = look.certificate
    return f"First look of {card.created:%Y-%m-%d %H:%M} UTC · ε {plain_epsilon(card.epsilon)} · {look.id[:6]}"


def _listed(points: tuple[str, ...], schema: Schema) -> str:
    """Each column by its label: ``Age at 40, 60; Systolic pressure at 120, 140``."""
    pairs = (text.rpartition(": ") for text in points)
    return "; ".join(f"{called(schema, name)} at {numbers}" for name, _, numbers in pairs)
