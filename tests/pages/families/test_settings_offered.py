"""The form of every family offers the settings that count beside what is chosen of the others, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.models.registry import LEARNERS
from dpcore.released.parameters import parameters_of
from pages.components.visitor import access
from tests.support.learning.configurations import counts
from tests.support.pages.family_pages import FAMILY_PAGES, FamilyPage
from tests.support.pages.page_tools import checked, errors, fill, open_page, spent_on

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


#: What somebody chooses in a form, by the keys of its widgets, and the parameters of the run that they are.
CHOSEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "tree",
        {"set-tree-criterion-lookahead": "gini", "set-tree-blocks": "2, then 2 (up to 16 groups)"}
        | {"set-tree-leaf-share": 0.31, "set-tree-reserved": True, "set-tree-prune": "No", "evaluate": False},
        {"method": "lookahead", "criterion": "gini", "blocks": [2, 2], "leaf_share": 0.31, "reserved_splits": True}
        | {"prune": False, "evaluate": False},
    ),
    (
        "forest",
        {"forest-method": "rfdiffp", "set-forest-trees": 4, "forest-sharing": "parts", "set-forest-prune": "No"}
        | {"set-forest-criterion-rfdiffp": "matsushita", "set-forest-attributes": 1, "set-forest-threshold": 0.5}
        | {"set-forest-rest": False},
        {"method": "rfdiffp", "trees": 4, "sharing": "parts", "criterion": "matsushita", "attributes": 1}
        | {"threshold": 0.5, "spend_rest": False, "prune": False, "evaluate": True},
    ),
    (
        "ebm",
        {"set-ebm-pairs": 1, "set-ebm-bins": 6, "set-ebm-epochs": 4, "set-ebm-rate": 0.25, "set-ebm-bin-share": 0.2}
        | {"set-ebm-replicates": 3, "evaluate": False},
        {"method": "all_bins", "pairs": 1, "max_bins": 6, "epochs": 4, "learning_rate": 0.25, "bin_share": 0.2}
        | {"leaves": 3, "increasing": [], "decreasing": [], "replicates": 3, "evaluate": False},
    ),
    (
        "ebm",
        {"ebm-method": "random_splits", "set-ebm-leaves": 4, "set-ebm-epochs": 6},
        {"method": "random_splits", "leaves": 4, "epochs": 6, "pairs": 0, "evaluate": True},
    ),
    (
        "redescriptions",
        {"redescriptions-method": "mcmc_tree_pair", "set-pairs-sampler": "pool", "set-right-*": ["insulin"]}
        | {"set-left-*": ["age", "diabetes_2008"], "set-pairs-depth": 1, "set-pairs-starts": 3}
        | {"set-pairs-tree-share": 0.3, "set-pairs-margins": "No", "set-pairs-sensitivity": "published"}
        | {"set-pairs-pool": 50, "set-pairs-reserved": True},
        {"method": "mcmc_tree_pair", "left": ["diabetes_2008", "age"], "right": ["insulin"], "depth": 1, "starts": 3}
        | {"tree_share": 0.3, "margins": False, "sampler": "pool", "sensitivity": "published", "pool_size": 50}
        | {"reserved_splits": True},
    ),
    (
        "ilp",
        {"set-ilp-positive-*": "west", "set-ilp-clauses": 1, "set-ilp-literals": 2, "set-ilp-variables": 1}
        | {"set-ilp-negation": True, "set-ilp-conditions-car-*": ["car: length = short", "car: roof in closed"]}
        | {"set-ilp-conditions-train-*": [], "set-ilp-weight": 3, "set-ilp-count-share": 0.35}
        | {"set-ilp-negative": 2, "set-ilp-prior": False, "set-ilp-alike": False, "set-ilp-strict": False}
        | {"evaluate": False},
        {"positive": "west", "clauses": 1, "max_literals": 2, "max_variables": 1, "negation": True}
        | {"literals": ["car: length = short", "car: roof in closed"], "positive_weight": 3, "count_share": "0.35"}
        | {"negative_weight": 2, "length_prior": False, "weigh_alike": False, "strict_first": False}
        | {"reserved_literals": False, "evaluate": False},
    ),
    (
        "ilp",
        {"set-ilp-automatic": False, "set-ilp-said-*": ["counts"], "set-ilp-counted": 2},
        {"quantifiers": ["exists", "counts"], "most_counted": 2},
    ),
    (
        "ilp",
        {"ilp-method": "relevance_aware", "set-ilp-criterion": "share", "set-ilp-min-share": 0.02}
        | {"set-ilp-literals": 1, "set-ilp-reserved": True},
        {"method": "relevance_aware", "criterion": "share", "min_share": 0.02, "reserved_literals": True}
        | {"literals": None},
    ),
    (
        "summaries",
        {"set-look-columns-*": ["sex", "died"], "set-look-by-*": "died", "summaries-method": "equal"},
        {"columns": ["sex", "died"], "by": "died", "method": "equal", "pairs": 0, "crosstabs": []},
    ),
]


@pytest.mark.parametrize(("name", "chosen", "parameters"), CHOSEN, ids=lambda own: own if isinstance(own, str) else "")
def test_what_was_chosen_is_what_is_run(name: str, chosen: dict[str, Any], parameters: dict[str, Any]) -> None:
    own = FAMILY_PAGES[name]
    dataset_id = own.add()
    assert spent_on(fill(open_page(own.page), chosen), dataset_id).items() >= parameters.items()


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
