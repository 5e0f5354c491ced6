"""The pages Tree and Forest: from the form to the result, and a sentence for each mistake."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.comparison import MethodScore
from dpcore.models.released import parse_model
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.released.release import make_release
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.families.tree import tree_inputs as inputs
from pages.components.kit.texts import METHODS
from pages.components.run import compare_methods
from pages.components.visitor import access
from tests.support.pages.page_tools import at_run, button, checked, errors, figures, open_page, press, spent_on, words
from tests.support.pages.ward_runs import add_ward, fit, submit, ward
from tests.support.results import small_trees
from tests.support.texts import lacking


def fit_tree(dataset_id: str, epsilon: str = "1", **parameters: object) -> str:
    return submit(dataset_id, "tree", epsilon, "died", **parameters)


def fit_forest(dataset_id: str, epsilon: str = "1", **parameters: object) -> str:
    return submit(dataset_id, "forest", epsilon, "died", **{"trees": 3, **parameters})


# Configure


def test_what_was_chosen_for_a_tree_is_what_is_fitted():
    dataset_id = add_ward()
    app = open_page("tree")
    app.selectbox(key="set-tree-criterion-lookahead").set_value("gini")
    app.selectbox(key="set-tree-blocks").set_value("2, then 2 (up to 16 groups)")
    app.number_input(key="set-tree-leaf-share").set_value(0.31)
    app.checkbox(key="set-tree-reserved").set_value(True)
    app.selectbox(key="set-tree-prune").set_value("No")
    app.checkbox(key="evaluate").set_value(False).run()
    assert (
        spent_on(app, dataset_id).items()
        >= {
            "method": "lookahead",
            "criterion": "gini",
            "blocks": [2, 2],
            "leaf_share": 0.31,
            "reserved_splits": True,
            "prune": False,
            "evaluate": False,
        }.items()
    )


def test_what_was_chosen_for_a_forest_is_what_is_fitted():
    dataset_id = add_ward()
    app = open_page("forest")
    app.radio(key="forest-method").set_value("rfdiffp").run()
    app.number_input(key="set-forest-trees").set_value(4)
    app.radio(key="forest-sharing").set_value("parts")
    app.selectbox(key="set-forest-criterion-rfdiffp").set_value("matsushita")
    app.number_input(key="set-forest-attributes").set_value(1)
    app.number_input(key="set-forest-threshold").set_value(0.5)
    app.checkbox(key="set-forest-rest").set_value(False)
    app.selectbox(key="set-forest-prune").set_value("No").run()
    assert (
        spent_on(app, dataset_id).items()
        >= {
            "method": "rfdiffp",
            "trees": 4,
            "sharing": "parts",
            "criterion": "matsushita",
            "attributes": 1,
            "threshold": 0.5,
            "spend_rest": False,
            "prune": False,
            "evaluate": True,
        }.items()
    )


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
    [info] = access.service().datasets()
    quote = access.service().quote(_request(info.id, {"method": "adiffp"}))
    text = words(checked(app)).replace("&#x27;", "'")
    assert len(quote.plan.count_noise) > 1
    for kind in quote.plan.count_noise:
        assert f"Noise on {kind.what}: ±{kind.margin()}" in text
    button(app, "Review and spend").click().run()
    for kind in quote.plan.count_noise:
        shown = words(app).replace("&#x27;", "'")
        assert f"Noise on {kind.what}</th><td>±{kind.margin()}, 95%</td>" in shown


def test_an_epsilon_that_is_too_small_for_a_tree_gives_a_sentence():
    add_ward()
    app = open_page("tree")
    assert "too small" in errors(checked(app.text_input(key="epsilon").set_value("0.000000001").run()))
    assert button(app, "Review and spend").disabled


def test_a_rehearsal_of_one_family_is_not_shown_on_the_page_of_another():
    add_ward()
    app = open_page("tree")
    button(app, "Rehearse").click().run()
    app.switch_page("rule_list.py").run()
    assert "Rehearsal on synthetic data" not in words(checked(app))


# Result of a tree


def test_a_tree_shows_diagram_table_sentences_quality_and_budget():
    run_id = fit_tree(add_ward(), "2.5")
    app = at_run("tree", run_id)
    model = parse_model(access.service().releases()[0])
    text = words(app)
    assert "Decision tree: Exact lookahead" in text
    for number in range(1, len(model.finals) + 1):
        assert not lacking(text, f'<span class="fg-if">{number}</span>', f"Group {number}. ")
    assert not lacking(text, "always saying", "different people", "Spent here", "unconditional")
    *diagrams, curve = figures(app)
    assert all("predictions" in diagram for diagram in diagrams)
    assert "flagged wrongly" in curve
    folded = f"run-{run_id}-chances"
    app.session_state[folded] = True
    assert "share among the people set aside" in figures(app.run())[-1]


def test_true_values_stand_beside_noisy_ones_on_public_data():
    run_id = fit_tree(add_ward(public=True), "2.5")
    app = at_run("tree", run_id)
    assert "◇" not in words(app)
    assert "◇" in words(checked(app.toggle(key=f"run-{run_id}-truth").set_value(True).run()))
    assert "true values" in figures(app)[0]
    counts = access.service().true_counts(access.service().releases()[0])
    assert f"true count {counts[0][1]}" in figures(app)[0]


def _by_hand(monkeypatch: pytest.MonkeyPatch, model: TreeModel | ForestModel) -> str:
    """Let the page Releases show a tree or a forest made by hand; returns the key of its widgets."""
    family, learner = ("tree", TreeLearner()) if isinstance(model, TreeModel) else ("forest", ForestLearner())
    plan = learner.plan(small_trees.SCHEMA, "died", Decimal(1), {})
    release = make_release(family, plan, model, secure=True, dataset_id=add_ward())
    monkeypatch.setattr(Service, "releases", lambda *_: [release])
    return f"release-{release.id}"


def test_folded_parts_are_shown_when_asked_for(monkeypatch):
    key = _by_hand(monkeypatch, small_trees.full_tree(3, folded_at=2))
    app = open_page("releases")
    assert "folded boxes" not in figures(app)[0]
    assert "folded boxes" in figures(checked(app.toggle(key=f"{key}-unfold").set_value(True).run()))[0]


def test_a_tree_without_folded_parts_offers_no_toggle(monkeypatch):
    key = _by_hand(monkeypatch, small_trees.full_tree(3))
    app = open_page("releases")
    assert f"{key}-unfold" not in {item.key for item in app.toggle}


def test_a_large_tree_is_drawn_as_far_as_asked(monkeypatch):
    columns = ("first", "second", "third", "fourth") * 2
    key = _by_hand(monkeypatch, small_trees.full_tree(8, columns=columns))
    app = open_page("releases")
    assert "4 groups below" in figures(app)[0]
    assert "The first 100 of 256 groups; the downloads hold all." in words(app)
    assert "64 groups below" in figures(checked(app.slider(key=f"{key}-levels-False").set_value(2).run()))[0]


@pytest.mark.parametrize(("depth", "ways"), [(1, ["branches"]), (3, ["branches", "outline"]), (5, ["outline"])])
def test_a_tree_is_drawn_in_each_way_that_may_fit_until_one_is_chosen(monkeypatch, depth, ways):
    key = _by_hand(monkeypatch, small_trees.full_tree(depth))
    app = open_page("releases")
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


def test_a_tree_without_a_question_says_so(monkeypatch):
    _by_hand(monkeypatch, small_trees.full_tree(0))
    app = open_page("releases")
    assert "everyone gets the same answer" in "".join(item.value for item in app.info)
    assert "everyone" in figures(app)[0]


# Result of a forest


def test_a_forest_shows_use_quality_and_single_trees():
    run_id = fit_forest(add_ward(public=True), "3", method="random_trees", depth=2)
    app = at_run("forest", run_id)
    text = words(app)
    for part in ("**3 trees**", "drawn at random", "harder to read", "always saying", "How to read this forest"):
        assert part in text, part
    assert any("share of the differences" in spec for spec in figures(app))
    app.selectbox(key=f"run-{run_id}-tree-number").set_value(2).run()
    assert any("predictions" in spec for spec in figures(checked(app)))


def test_trees_tell_of_a_case_as_far_as_it_is_known(monkeypatch):
    forest = small_trees.small_forest()
    key = _by_hand(monkeypatch, forest)
    app = open_page("releases")
    warned = "".join(f"{item.proto.title} {item.value}" for item in press(app, "What do they tell?").warning)
    assert not lacking(warned, "The prediction depends on what is not known", "as what is not known decides")
    assert any("depends on what is not known" in spec for spec in figures(app))
    for name in forest.columns():
        app.selectbox(key=f"{key}-case-{name}").select_index(0)
    assert "On average the 3 trees tell a noisy chance of died = yes of" in _said(press(app, "What do they tell?"))
    assert any("trees that predict it" in spec for spec in figures(app))


def test_groups_of_chances_show_how_often_they_are_right_on_public_data():
    run_id = fit_forest(add_ward(public=True), "3", method="random_trees", depth=2)
    app = at_run("forest", run_id)
    text = words(checked(app.toggle(key=f"run-{run_id}-truth").set_value(True).run()))
    counts = access.service().true_counts(access.service().releases()[0])
    assert "True died of the public records" in text
    rows = [f"<td>{numbers[0]}</td><td>{numbers[1]}</td>" for numbers in counts if sum(numbers)]
    assert len(rows) > 1
    for row in rows:
        assert row in text


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


def test_names_are_shown_as_they_are_whatever_they_hold():
    nasty = "a_b*c* [x](y) $5$ :red[z] <b>"
    columns = [
        {"name": "<i>age</i>", "type": "integer", "lower": 20, "upper": 100, "bins": 8},
        {"name": nasty, "type": "boolean", "target": True},
    ]
    schema = Schema.from_mapping({"name": nasty, "max_rows": 2000, "columns": columns})
    frame = ward().rename(columns={"died": nasty, "age": "<i>age</i>"})
    info = access.service().add_dataset(frame, schema, budget=Decimal(9), public=True)
    tree = submit(info.id, "tree", "3", nasty)
    forest = submit(info.id, "forest", "3", nasty, trees=2, method="random_trees")
    for page, run_id, asks in (("tree", tree, "Which way"), ("forest", forest, "What do they tell")):
        app = at_run(page, run_id)
        html = "".join(item.value for item in press(app, asks).get("html"))
        assert "&lt;i&gt;age&lt;/i&gt;" in html
        assert "<i>age" not in html + "".join(figures(app))
        assert "$ :red[z] <b>" not in html


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
    assert access.service().balance(dataset_id).left == Decimal(3)
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


def test_a_comparison_that_is_refused_gives_a_sentence(monkeypatch):
    add_ward(public=True)

    def refuse(*_):
        raise RequestError("Not with these data.")

    monkeypatch.setattr(Service, "compare_methods", refuse)
    app = _finished(_compare(open_page("tree"), ("tree", "lookahead")))
    assert "Not with these data." in errors(app)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_comparison_that_breaks_gives_a_fixed_sentence(monkeypatch):
    add_ward(public=True)

    def break_off(*_):
        raise SystemExit

    monkeypatch.setattr(Service, "compare_methods", break_off)
    app = _finished(_compare(open_page("tree"), ("tree", "lookahead")))
    assert "by a fault of this program" in errors(app)


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
