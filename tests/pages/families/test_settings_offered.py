"""The form of every family offers the settings that count beside what is chosen of the others, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.models.registry import LEARNERS
from dpcore.released.parameters import parameters_of
from pages.components.visitor import access
from tests.support.learning.configurations import counts
from tests.support.pages.family_pages import FAMILY_PAGES, FamilyPage
from tests.support.pages.page_tools import checked, errors

#: Said elsewhere: delta by the data set's budget, cut points by a first look that there must be first.
ELSEWHERE = {"delta", "cut_points", "cuts_from"}
#: Offered once something else is chosen that gives them something to decide.
LATER = {"quantifiers", "most_counted", "strict_first", "codes"}
CHOICES: list[tuple[str, dict[str, str]]] = [
    *(
        ("rule_list", {"sampler": sampler, "antecedents": source})
        for sampler in ("lookahead", "pool", "mcmc")
        for source in ("public", "dp_fim", "given")
    ),
    *(
        (name, {f"{name}-method": method})
        for name, own in FAMILY_PAGES.items()
        for method in own.family.methods
        if own.family.methods
    ),
    ("redescriptions", {"redescriptions-method": "mcmc_tree_pair", "set-pairs-sampler": "pool"}),
    ("ilp", {"ilp-method": "relevance_aware", "set-ilp-criterion": "share"}),
]


def offered(own: FamilyPage, chosen: dict[str, str]) -> dict[str, Any]:
    """What the form asks for, once so much is chosen in it."""
    access.service().allow_conditional(own.add(), True, note="to see its form")
    app = own.open()
    for key, value in chosen.items():
        widgets = [item for item in (*app.radio, *app.selectbox) if item.key == key]
        widgets[0].set_value(value).run()
    if chosen.get("antecedents") == "given":
        app.text_area(key="given").set_value("age > 40").run()
    checked(app)
    assert not errors(app)
    request = app.session_state[access.THIS_RUN_KEY].request
    return dict(request.parameters)


@pytest.mark.parametrize(
    ("name", "chosen"), CHOICES, ids=lambda own: own if isinstance(own, str) else "-".join(own.values())
)
def test_a_form_has_the_settings_that_count_and_no_others(name: str, chosen: dict[str, str]) -> None:
    own, form = parameters_of(LEARNERS[name].parameters), offered(FAMILY_PAGES[name], chosen)
    counting = {setting for setting in own if counts(own, form, setting)}
    assert set(form) <= counting, "what does nothing is not on the form"
    assert counting - set(form) <= ELSEWHERE | LATER, "what counts is on the form"


def test_weights_that_are_no_numbers_or_too_few_give_a_sentence_and_lose_nothing() -> None:
    own = FAMILY_PAGES["rule_list"]
    own.add()
    app = own.open()
    app.number_input(key="set-rules").set_value(3)
    for typed, sentence in (("one, two", "takes numbers, separated by commas"), ("1", "give 2 numbers")):
        assert sentence in errors(checked(app.text_input(key="set-alpha").set_value(typed).run()))
        assert app.number_input(key="set-rules").value == 3
    assert not errors(checked(app.text_input(key="set-alpha").set_value("2; 0.5").run()))
    request = app.session_state[access.THIS_RUN_KEY].request
    assert (request.parameters["alpha"], request.parameters["rules"]) == ([2.0, 0.5], 3)
