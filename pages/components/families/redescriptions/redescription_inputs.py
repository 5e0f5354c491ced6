"""What redescriptions to look for: method, columns of each side and, if wanted, the rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.columns import View
from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.redescriptions.released.redescription_parameters import RedescriptionParameters
from dpcore.released.parameters import parameters_of
from dpcore.report.names import METHODS
from pages.components.families.shared.inputs import (
    KEEP,
    FormContext,
    choice,
    label,
    method,
    number,
    pick,
    tick,
)
from pages.components.kit import drawing
from pages.components.kit.markup import text

SAMPLERS = {
    "chain": "Random walk (MCMC, as published)",
    "pool": "Candidate pool (exact)",
}
SENSITIVITIES = {
    "proved": "As proved for this program",
    "published": "As published (adds far more noise)",
}
MARGINS = {"As recommended": None, "Yes": True, "No": False}
SIDES: tuple[View, ...] = ("left", "right")
OWN = parameters_of(RedescriptionParameters)


def parameters(context: FormContext) -> dict[str, Any]:
    """Every parameter of a run, as the visitor set it.

    Raises
    ------
    RequestError
        If a side has no column, or both have the same one.
    """
    place = drawing.placeholder()
    sides = _sides(context.schema)
    with st.expander("Advanced settings"):
        with drawing.placeholder():
            chosen = _method(place)
        chosen |= _advanced(chosen)
    _check(sides)
    return chosen | sides


def _method(place: Any) -> dict[str, Any]:
    """The method; in its place what it does, and what a random walk means for the guarantee."""
    name = method(OWN, METHODS["redescriptions"], "redescriptions", place, texts="pairs")
    chosen: dict[str, Any] = {"method": name}
    if name == "mcmc_tree_pair":
        chosen["sampler"] = choice(OWN["sampler"], SAMPLERS, "pairs-sampler")
    if chosen.get("sampler") == "pool":
        place.markdown(text("pairs_pool"))
    elif name in {"alt_mcmc", "mcmc_tree_pair"}:
        place.warning(text("pairs_chain"), icon="⚠️")
    return chosen


def _sides(schema: Schema) -> dict[str, list[str]]:
    """Columns of each side; those that the schema puts there unless the visitor changes them."""
    given = {side: schema.view(side) for side in SIDES}
    if all(given.values()):
        label = f"Columns: {len(given['left'])} on the left, {len(given['right'])} on the right"
    else:
        st.info(text("no_sides"))
        label = "Columns of each side"
    with st.expander(label, expanded=not all(given.values())):
        st.markdown(text("sides"))
        places = st.columns(2)
        return {side: _columns(place, schema, side, given[side]) for side, place in zip(SIDES, places, strict=True)}


def _columns(place: Any, schema: Schema, side: View, given: tuple[str, ...]) -> list[str]:
    chosen = place.multiselect(
        label(OWN[side]),
        [column.name for column in schema],
        list(given),
        format_func=lambda name: called(schema, name),
        placeholder="Choose columns",
        wrap=True,
        key=f"set-{side}-{schema.hash[:8]}",
        **KEEP,
    )
    return [str(name) for name in chosen]


def _check(sides: dict[str, list[str]]) -> None:
    for side, names in sides.items():
        if not names:
            raise RequestError(f"The {side} side is empty. Open 'Columns' above and choose at least one column for it.")
    twice = [name for name in sides["left"] if name in sides["right"]]
    if twice:
        raise RequestError(f"'{twice[0]}' is on both sides: take it off one of them.")


def _advanced(chosen: dict[str, Any]) -> dict[str, Any]:
    one, two, three = st.columns(3)
    with one:
        settings = _searches(chosen["method"])
    with two:
        settings |= _budget()
    with three:
        settings |= _effort(chosen)
        settings["reserved_splits"] = tick(OWN["reserved_splits"], "set-pairs-reserved")
    return settings


def _searches(chosen: str) -> dict[str, Any]:
    settings = {"starts": number(OWN["starts"], 1, "pairs-starts")}
    if chosen != "exact_pairs":
        settings["depth"] = number(OWN["depth"], 1, "pairs-depth")
    if chosen not in {"exact_pairs", "mcmc_tree_pair"}:
        settings["rounds"] = number(OWN["rounds"], 1, "pairs-rounds")
    return settings


def _budget() -> dict[str, Any]:
    return {
        "tree_share": number(OWN["tree_share"], 0.05, "pairs-tree-share"),
        "margins": pick(OWN["margins"], MARGINS, "pairs-margins"),
    }


def _effort(chosen: dict[str, Any]) -> dict[str, Any]:
    """How long trees are drawn, and how noisily both together."""
    settings: dict[str, Any] = {}
    if chosen["method"] == "mcmc_tree_pair":
        settings["sensitivity"] = choice(OWN["sensitivity"], SENSITIVITIES, "pairs-sensitivity")
    if chosen.get("sampler") == "pool":
        settings["pool_size"] = number(OWN["pool_size"], 10_000, "pairs-pool")
    elif chosen["method"] in {"alt_mcmc", "mcmc_tree_pair"}:
        settings["steps"] = number(OWN["steps"], 1_000, "pairs-steps")
    return settings
