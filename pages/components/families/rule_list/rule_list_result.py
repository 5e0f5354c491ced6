"""One released rule list."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.released.release import Release
from pages.components.families.rule_list import rule_list_table as table
from pages.components.families.shared import (
    cells,
    certificate,
    chains,
    downloads,
    evaluation,
    predict,
    truth,
)
from pages.components.kit import figure, markup, tabs
from pages.components.kit.texts import text


def show(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Table first, then its other forms."""
    shown = cells.choose_class(model, release.target, key)
    true = truth.ask(release, key) if public else None
    table.show(release, model, shown, true)
    if public:
        chains.show(release, key)
    tabs.show_apart(
        {
            "In words": lambda: _in_words(release, model),
            "Chart": lambda: _chart(release, key),
            "Hold-out check": lambda: evaluation.show(model, release.target, counted(release.domain), key),
            "Predict a case": lambda: _predict(release, model, shown, key),
            "Certificate": lambda: certificate.show(release),
            "Download": lambda: downloads.show(release, model, key, "the rules"),
        },
        f"{key}-tabs",
        stay=["Hold-out check", "Predict a case"],
    )


def _in_words(release: Release, model: Any) -> None:
    from dpcore.plots.style import pretty

    markup.sentences(map(pretty, model.reading(release.target)))
    st.markdown(text("reading"))
    st.markdown(text("noise"))


def side(release: Release, model: Any, key: str) -> None:
    """The table alone."""
    table.show(release, model, cells.choose_class(model, release.target, key))


def figures(model: Any) -> dict[str, str]:
    """How large the list is."""
    return {"Rules": str(len(model.rules) - 1)}


def _chart(release: Release, key: str) -> None:
    from dpcore.plots.rule_list import rule_list_alt, rule_list_figure

    figure.show(rule_list_figure(release), key=f"{key}-chart", alt=rule_list_alt(release))
    st.caption("The same numbers are in the table above. Hollow marks: too noisy to tell.")


@st.fragment
def _predict(release: Release, model: Any, shown: int, key: str) -> None:
    st.markdown(text("predict"))
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
