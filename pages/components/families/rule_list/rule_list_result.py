"""One released rule list."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.rules.released.rule_list_reading import read_list, rule_groups
from dpcore.released.blocks import Bullets, Figure, only
from dpcore.released.release import Release
from pages.components.families.shared import blocks, downloads, evaluation, predict, truth
from pages.components.kit import drawing
from pages.components.kit.markup import text


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Table first, then its other forms."""
    shown = blocks.choose_class(model, release.target, key)
    true = truth.ask(release, key) if public else None
    blocks.groups(drawing.once(rule_groups, release, model, shown), true, fold="Rule")
    if public:
        truth.chains(release, key)
    read = list(read_list(release, model, False))
    [said], [chart] = only(read, Bullets), only(read, Figure)
    drawing.tabs_apart(
        {
            "In words": lambda: _in_words(said),
            "Chart": lambda: _chart(chart, key),
            "Hold-out check": lambda: evaluation.render(model, release.target, counted(release.domain), key),
            "Predict a case": lambda: _predict(release, model, shown, key),
            "Certificate": lambda: downloads.certificate(release),
            "Download": lambda: downloads.render(release, model, key, "the rules"),
        },
        f"{key}-tabs",
        stay=["Hold-out check", "Predict a case"],
    )


def _in_words(said: Bullets) -> None:
    blocks.render(said)
    st.markdown(text("reading"))
    st.markdown(text("noise"))


def side(release: Release, model: Any, key: str) -> None:
    """The table alone."""
    shown = blocks.choose_class(model, release.target, key)
    blocks.groups(drawing.once(rule_groups, release, model, shown), fold="Rule")


def figures(model: Any) -> dict[str, str]:
    """How large the list is."""
    return {"Rules": str(len(model.rules) - 1)}


def _chart(chart: Figure, key: str) -> None:
    blocks.render(chart, f"{key}-chart")
    st.caption("The same numbers are in the table above. Hollow marks: too noisy to tell.")


@st.fragment
def _predict(release: Release, model: Any, shown: int, key: str) -> None:
    used = list(dict.fromkeys(item.column for rule in model.rules for item in rule.conditions))
    if not used:
        st.info("This list has no conditions: everyone gets the same estimate.")
        return
    values = predict.ask(release, used, key, "Which rule fits?")
    if values is not None:
        _answer(release, model, shown, values)


def _answer(release: Release, model: Any, shown: int, values: dict[str, Any]) -> None:
    fits = model.possible_rules(values, release.domain)
    places = [predict.Place(_name(model, position), model.rules[position], model.count_margin) for position in fits]
    title = places[0].name if len(places) == 1 else f"{len(places)} rules may fit"
    predict.answer(title, f"{release.target} = {model.classes[shown]}", places, shown)


def _name(model: Any, position: int) -> str:
    rule = model.rules[position]
    return f"Rule {position + 1}: {rule.text}" if rule.conditions else "No rule fits: everyone else"
