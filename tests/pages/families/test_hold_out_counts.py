"""The table of noisy counts of people who were set aside."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.released.noisy_counts import sum_tail
from tests.support.texts import lacking


def drawn(confusion: list[list[int]]) -> AppTest:
    def table(confusion: list[list[int]]) -> None:
        from types import SimpleNamespace

        from dpcore.released.quality import confusion_table
        from pages.components.families.shared import blocks

        counts = SimpleNamespace(noisy_confusion=confusion, group_counts=(), count_margin=12)
        blocks.render(confusion_table(SimpleNamespace(evaluation=counts, classes=("no", "yes")), "ill"))

    app = AppTest.from_function(table, args=(confusion,)).run()
    assert not app.exception
    return app


def test_every_count_has_the_noise_of_the_groups_that_it_adds_up() -> None:
    def table() -> None:
        from types import SimpleNamespace

        import numpy as np

        from dpcore.released.evaluation import evaluate
        from dpcore.released.quality import confusion_table
        from pages.components.families.shared import blocks

        counts = np.array([[3000, 300, 0], [1537, 231, 0], [20, 90, -18]])
        estimates = np.array([[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.2, 0.6, 0.2]])
        model = SimpleNamespace(evaluation=evaluate(counts, estimates, 4.0, 12), classes=("a", "b", "c"))
        blocks.render(confusion_table(model, "kind"))

    app = AppTest.from_function(table).run()
    assert not app.exception
    told = "".join(item.value for item in app.get("html"))
    two, one = sum_tail(4.0, 2, 0.95), sum_tail(4.0, 1, 0.95)
    assert two > one
    for count, margin in (("4,537", two), ("531", two), ("20", one), ("90", one)):
        assert f"<span>{count}</span> ±{margin}</div>" in told
    assert f'<span class="neg">−18</span> ±{one}</div>' in told
    assert told.count("<span>0</span> ±0</div>") == 3
    assert "all groups that are predicted so; ± is the noise on all of them together, 95%. ±0: no group" in told


@pytest.mark.parametrize(
    ("limits", "typical", "asked", "caption"),
    [
        ((0.0, 0.25), True, "Flag people whose chance of ill = yes is above", "Above 25%, among"),
        ((), True, "Flag the groups of people whose typical chance of ill = yes is at least", "Groups with a typical "),
        ((), False, "Flag people whose chance of ill = yes is at least", "From 60% on, among"),
    ],
)
def test_a_threshold_is_one_of_chances_only_where_it_parts_them(
    limits: tuple[float, ...], typical: bool, asked: str, caption: str
) -> None:
    def drawn(limits: tuple[float, ...], typical: bool) -> None:
        from types import SimpleNamespace

        import numpy as np

        from dpcore.domain.counted import PEOPLE
        from dpcore.released.evaluation import evaluate
        from pages.components.families.shared import evaluation

        counts, estimates = np.array([[900, 60], [100, 140]]), np.array([[0.9, 0.1], [0.4, 0.6]])
        model = SimpleNamespace(evaluation=evaluate(counts, estimates, 1e-6, 1, limits=limits), classes=("no", "yes"))
        evaluation.thresholds(model, "ill", PEOPLE, "a", chances=True, typical=typical)

    app = AppTest.from_function(drawn, args=(limits, typical)).run()
    assert not app.exception
    assert app.select_slider[0].label == asked
    assert caption in "".join(item.value for item in app.get("html"))


@pytest.mark.parametrize(("most", "noun"), [(1, "people"), (3, "records")])
def test_thresholds_say_what_they_count(most: int, noun: str) -> None:
    def drawn(most: int) -> None:
        from types import SimpleNamespace

        import numpy as np

        from dpcore.domain.counted import counted
        from dpcore.domain.schemas.schema import Schema
        from dpcore.released.evaluation import evaluate
        from pages.components.families.shared import evaluation

        columns = [{"name": "ill", "type": "boolean", "target": True}]
        unit = {"column": "who", "max_rows_per_person": most}
        schema = Schema.from_mapping({"name": "ward", "max_rows": 2000, "columns": columns, "privacy_unit": unit})
        counts, estimates = np.array([[900, 60], [100, 140]]), np.array([[0.9, 0.1], [0.4, 0.6]])
        model = SimpleNamespace(evaluation=evaluate(counts, estimates, 1e-6, 1), classes=("no", "yes"))
        evaluation.thresholds(model, "ill", counted(schema), "a", chances=True)

    app = AppTest.from_function(drawn, args=(most,)).run()
    assert not app.exception
    assert app.select_slider[0].label.startswith(f"Flag {noun} whose chance")
    told = "".join(item.value for item in app.get("html"))
    assert not lacking(told, f"share of all {noun}", f"flagged {noun} for each one found")
    assert f"among the {noun} set aside" in told
