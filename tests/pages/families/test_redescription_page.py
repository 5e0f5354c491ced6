"""The page Redescriptions: from the form to the result, and a sentence for each mistake."""

from __future__ import annotations

import re
from decimal import Decimal
from html import escape

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import interval_words
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.released import parse_model
from dpcore.released.release import Release
from pages.components.families.redescriptions import redescription_table as table_view
from pages.components.families.redescriptions.redescription_state import JACCARD
from pages.components.families.shared import downloads
from pages.components.run import compare_methods
from pages.components.visitor import access
from tests.support.pages.family_pages import by_hand
from tests.support.pages.page_tools import at_run, button, checked, errors, figures, fill, open_page, press, words
from tests.support.pages.ward_runs import add_ward, submit
from tests.support.results.small_redescriptions import (
    LEFT,
    RIGHT,
    SCHEMA,
    SEVERAL,
    release_of,
    small_pairs,
    two_sided_people,
)
from tests.support.texts import lacking

pytestmark = pytest.mark.usefixtures("one_by_one")

PAGE = "redescriptions"
QUICK = {"starts": 2}
FOUND = small_pairs().extract(SCHEMA).found


def add_sides(*, public: bool = False, budget: str = "9") -> str:
    """Invented people with a left and a right side."""
    info = access.service().add_dataset(two_sided_people(), SCHEMA, budget=Decimal(budget), public=public)
    return str(info.id)


def find(dataset_id: str, epsilon: str = "3", **more: object) -> str:
    return submit(dataset_id, "redescriptions", epsilon, "", **(QUICK | more))


def made(monkeypatch: pytest.MonkeyPatch, schema: Schema = SCHEMA) -> tuple[AppTest, str]:
    """The page Releases with a result made by hand, and the key of its widgets."""
    release = release_of(small_pairs(), schema)
    return by_hand(monkeypatch, release), inner(f"release-{release.id}", release)


def inner(key: str, release: Release) -> str:
    """Start of the keys of the widgets that read a release."""
    return f"{key}-{release.id[:8]}"


def slide(app: AppTest, key: str, value: float) -> AppTest:
    return checked(app.select_slider(key=f"{key}-support").set_value(value).run())


def table(app: AppTest) -> pd.DataFrame:
    [frame] = app.dataframe
    return frame.value


def open_tab(app: AppTest, key: str, name: str) -> AppTest:
    app.session_state[f"{key}-tabs-5"] = name
    return checked(app.run())


# Configure


def test_columns_of_the_schema_come_first_and_can_be_changed():
    add_sides()
    app = open_page(PAGE)
    left, right = (app.multiselect(key=f"set-{s}-{SCHEMA.hash[:8]}") for s in ("left", "right"))
    assert (tuple(left.value), tuple(right.value)) == (LEFT, RIGHT)
    assert "Columns: 4 on the left, 3 on the right" in [item.label for item in app.expander]


@pytest.mark.parametrize(
    ("side", "chosen", "told"),
    [
        ("left", [], "The left side is empty."),
        ("right", [], "The right side is empty."),
        ("right", ["age", "insulin"], "'age' is on both sides: take it off one of them."),
    ],
)
def test_sides_that_cannot_be_give_a_sentence_and_no_way_to_spend(side, chosen, told):
    add_sides()
    app = fill(open_page(PAGE), {f"set-{side}-*": chosen})
    assert told in errors(app)
    assert button(app, "Review and spend").disabled
    assert button(app, "Rehearse").disabled


def test_without_sides_in_the_schema_the_analyst_chooses_them():
    add_ward()
    app = open_page(PAGE)
    assert "does not say which columns belong on which side" in "".join(i.value for i in app.info)
    assert "The left side is empty." in errors(app)
    left, right = [item for item in app.multiselect if item.label.startswith("Columns on")]
    left.set_value(["age"])
    right.set_value(["died"]).run()
    assert not errors(checked(app))
    assert not button(app, "Review and spend").disabled


def test_there_is_nothing_to_predict_and_methods_are_compared_by_what_they_find():
    add_sides(public=True)
    app = open_page(PAGE)
    assert not any(box.label.startswith("What should be predicted") for box in app.selectbox)
    methods = app.multiselect(key="compare-methods-redescriptions")
    assert {family for family, _ in compare_methods.titles(targeted=False)} == {"redescriptions"}
    app.multiselect(key="compare-epsilons-redescriptions").set_value(["2"])
    app.number_input(key="compare-repeats-redescriptions").set_value(1)
    methods.set_value(methods.options[:1])
    button(app, "Compare methods").click().run()
    app.session_state["methods-redescriptions"].thread.join(120)
    text = words(checked(app.run()))
    assert "<caption>Jaccard index on all people</caption>" in text
    assert "the ten best redescriptions that are kept" in text


# Result


def test_the_best_one_is_read_first(monkeypatch):
    text, best = words(made(monkeypatch)[0]), FOUND[0]
    low, high = best.interval
    for part in (
        f"<b>{best.left}</b>",
        f"<code>{best.right_query}</code>",
        f"<dd>{best.jaccard:.2f} ({low:.2f} to {high:.2f})</dd>",
        f"<dd>{best.chance:.2f}</dd>",
        "<dd>&lt; 0.001</dd>",
        f"<dd>{best.support:,.0f} ±{best.support_margin} people</dd>",
        f"<dt>Similar ones merged</dt><dd>{best.similar or 'none'}</dd>",
        "nearly the same people as",
    ):
        assert part in text, part


def test_the_threshold_decides_what_table_and_csv_hold_and_goes_back_to_the_suggested_one(monkeypatch):
    given = []
    monkeypatch.setattr(downloads, "render", lambda *arguments: given.append(arguments))
    app, key = made(monkeypatch)
    suggested = small_pairs().extract(SCHEMA).suggested_support
    assert app.select_slider(key=f"{key}-support").value == suggested
    assert "This is where it stands." in words(app)
    shown, kept = table(slide(app, key, 2000)), [item for item in FOUND if item.support >= 2000]
    assert list(shown["left"]) == [item.left for item in kept]
    assert list(shown["support"]) == [round(item.support) for item in kept]
    assert list(shown["interval"]) == [interval_words(item) for item in kept]
    assert f"{len(kept)} kept" in words(app)
    assert "This is where it stands." not in words(app)
    open_tab(app, key, "Download")
    release, held, *_ = given[-1]
    assert release.kind == "redescriptions"
    assert list(held.to_frame()["noisy support"] >= 2000) == [True] * len(kept)
    open_tab(app, key, "Table")
    press(app, "Back to the suggested")
    assert app.select_slider(key=f"{key}-support").value == suggested


def test_moving_the_threshold_sets_aside_and_neither_reads_anew_nor_spends(monkeypatch):
    calls, extract = [], RedescriptionModel.extract
    monkeypatch.setattr(RedescriptionModel, "extract", lambda *given: calls.append(given[2]) or extract(*given))
    dataset_id = add_sides()
    run_id = find(dataset_id)
    app = at_run(PAGE, run_id)
    left, total = access.service().balance(dataset_id).left, len(calls)
    [release] = access.service().releases(dataset_id)
    key = inner(f"run-{run_id}", release)
    largest = max(item.support for item in extract(parse_model(release), release.domain).found)
    step = min(s for s in app.select_slider(key=f"{key}-support").options if _people(s) > largest)
    for value in (0, _people(step)):
        slide(app, key, value)
    assert "are set aside" in "".join(item.value for item in app.info)
    assert (len(calls), access.service().balance(dataset_id).left) == (total, left)
    assert len(access.service().runs(dataset_id)) == 1


def _people(label: str) -> int:
    return 0 if label == "keep all" else int(label.split()[0].replace(",", ""))


def test_what_matters_most_fits_beside_the_menu():
    """In windows of 1280 and 800 pixels tables are 820 and 544 wide, 34 of them for boxes to tick."""
    widths = {name: column["width"] for name, column in table_view._columns().items() if name != "true"}
    assert sum(widths.values()) <= 820 - 34
    assert sum(widths[name] for name in ("left", "right", "jaccard", "support")) <= 544 - 34


def test_the_table_can_be_filtered_and_ordered(monkeypatch):
    app, key = made(monkeypatch)
    for typed, found in (
        ("INSULIN", [item.left for item in FOUND if "insulin" in item.columns]),
        ("diabetes_2009 metformin", [item.left for item in FOUND if {"diabetes_2009", "metformin"} <= {*item.columns}]),
        ("", [item.left for item in FOUND]),
    ):
        assert list(table(checked(app.text_input(key=f"{key}-words").set_value(typed).run()))["left"]) == found
    by_index = sorted(FOUND, key=lambda item: -item.jaccard)
    assert by_index != list(FOUND)
    checked(app.segmented_control(key=f"{key}-order").set_value(JACCARD).run())
    assert list(table(app)["left"]) == [item.left for item in by_index]
    assert f"<b>{by_index[0].left}</b>" in words(app)
    app.text_input(key=f"{key}-words").set_value("nowhere").run()
    assert "holds these words" in "".join(item.value for item in checked(app).info)


def test_one_that_is_set_aside_can_still_be_read_and_says_so(monkeypatch):
    app, key = made(monkeypatch)
    item = next(item for item in FOUND[1:] if item.support < 2000)
    app.selectbox(key=f"{key}-one").set_value((item.pair, item.left_leaves, item.right_leaves)).run()
    assert f"<b>{escape(item.left)}</b>" in words(app)
    assert "Set aside by your threshold" not in words(app)
    assert not lacking(words(slide(app, key, 2000)), f"<b>{escape(item.left)}</b>", "Set aside by your threshold")


def test_what_is_asked_for_can_be_changed_for_free(monkeypatch):
    app, key = made(monkeypatch)
    asked: dict[str, float] = {}
    for name, value in (("min_jaccard", 0.9), ("disjuncts", 1), ("max_p", 1e-6), ("min_above_chance", 0.5)):
        slider = {"min_jaccard": "jaccard", "disjuncts": "or", "max_p": "p", "min_above_chance": "chance"}[name]
        asked[name] = value
        (app.select_slider if name == "max_p" else app.slider)(key=f"{key}-{slider}").set_value(value).run()
        found = small_pairs().extract(SCHEMA, Constraints(**asked)).found
        assert list(table(checked(app))["left"]) == [item.left for item in found]


def test_where_nothing_is_found_the_slider_that_blocks_is_named(monkeypatch):
    app, key = made(monkeypatch)
    app.slider(key=f"{key}-jaccard").set_value(0.95)
    text = words(checked(app.slider(key=f"{key}-chance").set_value(0.5).run())).replace("\\", "")
    [best] = small_pairs().extract(SCHEMA, Constraints(min_jaccard=0.95)).found
    assert not lacking(text, "Nothing found", "The slider that blocks: 'Least gain over chance'. The nearest miss:")
    assert not lacking(text, f"{best.jaccard - best.chance:.2f} where 0.50 is asked for", best.left)


def test_where_a_person_may_have_several_rows_the_page_says_records(monkeypatch):
    app, key = made(monkeypatch, SEVERAL)
    text = words(app)
    assert f"<dd>{FOUND[0].support:,.0f} ±{FOUND[0].support_margin} records</dd>" in text
    assert "nearly the same records as" in text
    steps = app.select_slider(key=f"{key}-support").options
    assert all(option.endswith(("all", " record", " records")) for option in steps)
    assert not re.search(r"[0-9]\*{0,2} people", text)


def test_the_trees_of_a_result_are_read_pair_by_pair(monkeypatch):
    app, key = made(monkeypatch)
    text = words(open_tab(app, key, "Trees"))
    assert not lacking(text, "diabetes_2008 = yes", "✔ in the one you read", '<span class="neg">−4</span>')
    assert "groups of the left tree" in figures(app)[-1]
    text = words(checked(app.selectbox(key=f"{key}-pair-0").set_value(1).run()))
    assert "glucose ≤ 7" in text
    assert "✔" not in text


def test_another_rehearsal_starts_afresh():
    add_sides()
    app = open_page(PAGE)
    for epsilon in ("2", "0.2", "3"):
        app.text_input(key="epsilon").set_value(epsilon).run()
        assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))
        for slider in app.select_slider:
            if str(slider.key).endswith("-support"):
                assert "This is where it stands." in words(app)
                slider.set_value(_people(slider.options[1])).run()
    assert not errors(checked(app))
