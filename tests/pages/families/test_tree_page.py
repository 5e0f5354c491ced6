"""The pages Tree and Forest: from the form to the result, and a sentence for each mistake."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.errors import RequestError
from dpcore.models.comparison import MethodScore
from dpcore.models.released import parse_model
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.released.release import make_release
from dpcore.report.names import METHODS
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.families.tree import tree_inputs as inputs
from pages.components.run import compare_methods
from pages.components.visitor import access
from tests.support.pages.family_pages import by_hand
from tests.support.pages.page_tools import (
    at_run,
    button,
    checked,
    errors,
    figures,
    open_page,
    plain_words,
    press,
    words,
)
from tests.support.pages.ward_runs import add_ward, fit, submit
from tests.support.results import small_trees
from tests.support.texts import lacking


def fit_tree(dataset_id: str, epsilon: str = "1", **parameters: object) -> str:
    return submit(dataset_id, "tree", epsilon, "died", **parameters)


def fit_forest(dataset_id: str, epsilon: str = "1", **parameters: object) -> str:
    return submit(dataset_id, "forest", epsilon, "died", **{"trees": 3, **parameters})


# Configure


@pytest.mark.parametrize("method", METHODS["tree"])
def test_only_criteria_that_a_method_knows_are_offered(method):
    add_ward()
    app = open_page("tree")
    app.radio(key="tree-method").set_value(method).run()
    box = app.selectbox(key=f"set-tree-criterion-{method}")
    for name, label in inputs.CRITERIA.items():
        parameters = {"method": method, "criterion": name}
        [info] = access.service().datasets()
        request = _request(info.id, parameters)
        quote, _ = access.attempt(lambda request=request: access.service().quote(request))
        assert (label in box.options) == (quote is not None and quote.plan.parameters.criterion == name), name


def _request(dataset_id: str, parameters: dict[str, object], algorithm: str = "tree") -> RunRequest:
    return RunRequest(
        dataset_id=dataset_id, algorithm=algorithm, target="died", epsilon=Decimal("0.5"), parameters=parameters
    )


def test_all_kinds_of_noise_are_shown_before_spending():
    add_ward()
    app = open_page("tree")
    app.radio(key="tree-method").set_value("adiffp").run()
    text, kinds = plain_words(checked(app)), app.session_state[access.THIS_RUN_KEY].plan.count_noise
    assert len(kinds) > 1
    for kind in kinds:
        assert f"Noise on {kind.what}: ±{kind.margin()}" in text
    button(app, "Review and spend").click().run()
    assert f"Noise on {kinds[0].what}</th><td>±{kinds[0].margin()}, 95%</td>" in plain_words(app)


def test_a_rehearsal_of_one_family_is_not_shown_on_the_page_of_another():
    add_ward()
    app = open_page("tree")
    button(app, "Rehearse").click().run()
    app.switch_page("rule_list.py").run()
    assert "Rehearsal on synthetic data" not in words(checked(app))


# Result of a tree


def _made(monkeypatch: pytest.MonkeyPatch, model: TreeModel | ForestModel) -> tuple[AppTest, str]:
    """The page Releases with a tree or a forest made by hand, and the key of its widgets."""
    family, learner = ("tree", TreeLearner()) if isinstance(model, TreeModel) else ("forest", ForestLearner())
    release = make_release(family, learner.plan(small_trees.SCHEMA, "died", Decimal(1), {}), model, secure=True)
    return by_hand(monkeypatch, release), f"release-{release.id}"


def test_folded_parts_are_shown_when_asked_for(monkeypatch):
    app, key = _made(monkeypatch, small_trees.full_tree(3, folded_at=2))
    assert "folded boxes" not in figures(app)[0]
    assert "folded boxes" in figures(checked(app.toggle(key=f"{key}-unfold").set_value(True).run()))[0]


def test_a_large_tree_is_drawn_as_far_as_asked(monkeypatch):
    columns = ("first", "second", "third", "fourth") * 2
    app, key = _made(monkeypatch, small_trees.full_tree(8, columns=columns))
    assert "4 groups below" in figures(app)[0]
    assert "The first 100 of 256 groups; the downloads hold all." in words(app)
    assert "64 groups below" in figures(checked(app.slider(key=f"{key}-levels-False").set_value(2).run()))[0]


@pytest.mark.parametrize(("depth", "ways"), [(1, ["branches"]), (3, ["branches", "outline"]), (5, ["outline"])])
def test_a_tree_is_drawn_in_each_way_that_may_fit_until_one_is_chosen(monkeypatch, depth, ways):
    app, key = _made(monkeypatch, small_trees.full_tree(depth))
    assert _ways(app, key) == ways
    for way in ("Branches", "Outline"):
        assert _ways(checked(app.segmented_control(key=f"{key}-layout").set_value(way).run()), key) == [way.lower()]


def _ways(app: AppTest, key: str) -> list[str]:
    """How the tree is drawn."""
    drawn = [item.proto.id for item in app.get("plotly_chart")]
    return [way for way in ("branches", "outline") if any(name.endswith(f"-{key}-{way}") for name in drawn)]


def test_a_case_is_followed_in_words_and_in_the_diagram_until_it_is_forgotten():
    run_id = fit_tree(add_ward(), "2.5", blocks=[1])
    app = at_run("tree", run_id)
    model = parse_model(access.service().releases()[0])
    assert model.columns() == ("age",)
    assert "age is not known, so go **every way**" in words(press(app, "Which way"))
    assert "2 groups are possible" in _said(app)
    assert "What is not known decides which. Noisy chance of died = yes: **" in _said(app)
    app.number_input(key=f"run-{run_id}-case-age").set_value(90)
    assert "1. age is 90, so go to **age >" in words(press(app, "Which way"))
    assert not lacking(_said(app), "Group 2: the prediction is died = yes", "Noisy chance of died = yes")
    assert '"path"' in figures(app)[0]
    assert "so go to" not in words(press(app, "Forget this case"))
    assert '"path"' not in figures(app)[0]


def _said(app: AppTest) -> str:
    return "".join(f"{item.proto.title} {item.value}" for item in app.success).replace("\\", "")


# Result of a forest


def test_trees_tell_of_a_case_as_far_as_it_is_known(monkeypatch):
    forest = small_trees.small_forest()
    app, key = _made(monkeypatch, forest)
    warned = "".join(f"{item.proto.title} {item.value}" for item in press(app, "What do they tell?").warning)
    assert not lacking(warned, "The prediction depends on what is not known", "as what is not known decides")
    assert any("depends on what is not known" in spec for spec in figures(app))
    for name in forest.columns():
        app.selectbox(key=f"{key}-case-{name}").select_index(0)
    assert "On average the 3 trees tell a noisy chance of died = yes of" in _said(press(app, "What do they tell?"))
    assert any("trees that predict it" in spec for spec in figures(app))


# Runs and releases of several families


def test_releases_opens_each_family_in_its_own_form_and_compares_them():
    dataset_id = add_ward(budget="5")
    fit(dataset_id)
    fit_tree(dataset_id)
    fit_forest(dataset_id, method="random_trees", depth=2)
    app = open_page("releases")
    opened = app.selectbox(key="release")
    assert [name.split(" · ")[0] for name in opened.options] == [
        "Forest for died",
        "Tree for died",
        "Rule list for died",
    ]
    for place, part in enumerate(("What the columns tell, most first", "Spent here", "Everyone else")):
        opened = app.selectbox(key="release")
        opened.set_value(access.service().releases()[place].id).run()
        assert part in words(checked(app)), part
    app.selectbox(key="compare-0").set_value(access.service().releases()[1].id)
    text = words(checked(app.selectbox(key="compare-1").set_value(access.service().releases()[2].id).run()))
    for name in ("Groups at the end", "Depth", "Rules"):
        assert re.search(rf'<th scope="row">{name}</th>.*?does not apply', text)


# Methods side by side


def _compare(app: AppTest, *methods: tuple[str, str]) -> AppTest:
    key = "compare-methods-tree"
    titles = compare_methods.titles()
    app.multiselect(key=key).set_value([titles[method] for method in methods])
    return press(app, "Compare methods")


def _finished(app: AppTest) -> AppTest:
    thread = app.session_state["methods-tree"].thread
    assert thread is not None
    thread.join(60)
    return checked(app.run())


def test_methods_are_compared_on_public_data_without_spending():
    dataset_id = add_ward(public=True)
    app = open_page("tree")
    app.number_input(key="compare-repeats-tree").set_value(1)
    app = _finished(_compare(app, ("tree", "lookahead"), ("tree", "diffp_id3")))
    text = words(app)
    assert "Accuracy on people set aside" in text
    for title in ("Tree: Exact lookahead", "Tree: DiffP-ID3"):
        assert f'<th scope="row">{title}' in text
    assert not lacking(text, "an ordinary tree without privacy", "The dashed line always says the commonest value.")
    app.selectbox(key="compare-measure-tree").set_value("AUC")
    app = _finished(_compare(app, ("tree", "lookahead"), ("rule_list", "pool")))
    text = words(app)
    assert not lacking(text, "AUC on people set aside", "The dashed line is a coin.")
    assert '<th scope="row">Rule list: Candidate pool' in text
    assert access.service().balance(dataset_id).left == 1
    assert not access.service().runs(dataset_id)


def test_a_comparison_shows_exactly_what_the_service_answers(monkeypatch):
    add_ward(public=True)
    asked = {}

    def answer(_service, dataset_id, target, methods, epsilons, repeats, progress, measure):
        asked.update(target=target, methods=methods, epsilons=epsilons, repeats=repeats, measure=measure)
        progress(1, 2)
        return [
            MethodScore(place, Decimal(epsilon), 0.123 + place / 2, 0.1, 0.9, 40)
            for place in range(len(methods))
            for epsilon in epsilons
        ]

    monkeypatch.setattr(Service, "compare_methods", answer)
    app = _finished(_compare(open_page("tree"), ("tree", "sulq_id3"), ("forest", "random_trees")))
    assert asked == {
        "target": "died",
        "methods": [("tree", {"method": "sulq_id3"}), ("forest", {"method": "random_trees"})],
        "epsilons": ["0.1", "0.5", "2"],
        "repeats": 3,
        "measure": "accuracy",
    }
    assert not lacking(words(app), "<b>12.3%</b>", "<b>62.3%</b> <small>10.0% to 90.0%</small>")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("fault", "told"),
    [(RequestError("Not with these data."), "Not with these data."), (SystemExit(), "by a fault of this program")],
)
def test_a_comparison_that_ends_in_a_fault_gives_a_sentence(monkeypatch, fault, told):
    def fail(*_):
        raise fault

    add_ward(public=True)
    monkeypatch.setattr(Service, "compare_methods", fail)
    assert told in errors(_finished(_compare(open_page("tree"), ("tree", "lookahead"))))


def test_a_comparison_of_nothing_gives_a_sentence():
    add_ward(public=True)
    app = _compare(open_page("tree"))
    assert "at least one method" in errors(app)


def test_a_comparison_can_be_stopped(monkeypatch):
    add_ward(public=True)
    from threading import Event

    begun, go_on = Event(), Event()

    def slow(_service, _dataset, _target, _methods, _epsilons, _repeats, progress, _measure):
        begun.set()
        go_on.wait(60)
        progress(1, 2)
        raise AssertionError

    monkeypatch.setattr(Service, "compare_methods", slow)
    app = _compare(open_page("tree"), ("tree", "lookahead"))
    assert begun.wait(60)
    button(app, "Stop comparing").click().run()
    go_on.set()
    assert "Stopped." in "".join(item.value for item in _finished(app).info)
