"""Pages of a family that predicts nothing: no target is asked for, and none is spoken of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.components.families import registry
from pages.components.families.shared import downloads
from pages.components.run import compare_methods
from pages.components.visitor import access
from tests.support.pages.page_tools import checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward, fit, submit
from tests.support.workspaces.fake_learner import FakePairLearner, register_pairs

PAIRS = registry.Family(
    released=replace(FakePairLearner.family, lead="Pairs of conditions.", methods={"one": "One", "two": "Two"}),
    page="tree.py",
    algorithm="Invented pairs",
    parameters=lambda _given: {"left": ("sex",), "right": ("age",)},
    body=lambda *_, **__: None,
    side=lambda *_: None,
    figures=lambda model: {"Rows": str(model.rows)},
)


@pytest.fixture(autouse=True)
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page Tree belongs to a family that predicts nothing."""
    register_pairs(monkeypatch)
    monkeypatch.setattr(registry, "TREE", PAIRS)
    monkeypatch.setitem(registry.FAMILIES, "fake_pairs", PAIRS)


def test_from_the_form_to_the_result_nobody_asks_for_a_target():
    dataset_id = add_ward()
    app = open_page("tree")
    assert "What should be predicted?" not in [item.label for item in app.selectbox]
    assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))
    review = words(press(app, "Review and spend"))
    assert "Invented pairs" in review
    assert "To predict" not in review
    app.button(key="spend").click().run()
    checked(app.run())
    text = words(app)
    assert "Finished." in text
    assert "Predicts" not in text
    [release] = access.service().releases(dataset_id)
    assert (release.kind, release.target) == ("fake_pairs", "")


def test_public_data_offer_no_comparison_of_what_is_not_predicted():
    add_ward(public=True)
    assert not any("Compare methods" in item.label for item in open_page("tree").expander)
    assert "fake_pairs" not in {family for family, _ in compare_methods.titles()}
    assert any("Compare methods" in item.label for item in open_page("forest").expander)


def test_releases_are_called_by_their_family_alone():
    dataset_id = add_ward()
    fit(dataset_id)
    submit(dataset_id, "fake_pairs", "0.5", "", left=("sex",))
    app = open_page("releases")
    newest, older = app.selectbox(key="release").options
    assert newest.startswith("Fake pairs · ε 0.50")
    assert older.startswith("Rule list for died · ε 0.50")
    text = words(app)
    assert '<th scope="row">Predicts</th><td>does not apply</td><td>died</td>' in text
    assert '<th scope="row">Noisy accuracy</th><td>does not apply</td>' in text
    files = [downloads.file_name(release) for release in access.service().releases()]
    assert [name.rsplit("-", 1)[0] for name in files] == ["frostglass-fake_pairs", "frostglass-died"]
