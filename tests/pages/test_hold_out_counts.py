"""The table of noisy counts of people who were set aside."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def drawn(confusion: list[list[int]]) -> AppTest:
    def table(confusion: list[list[int]]) -> None:
        from types import SimpleNamespace

        from pages.components.families.shared import evaluation

        counts = SimpleNamespace(noisy_confusion=confusion, count_margin=12)
        evaluation._confusion(counts, ("no", "yes"), "ill")

    app = AppTest.from_function(table, args=(confusion,)).run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("confusion", "explained"), [([[40, -2], [5, 7]], True), ([[40, 2], [5, 0]], False)])
def test_counts_below_zero_are_marked_and_explained(confusion: list[list[int]], explained: bool) -> None:
    app = drawn(confusion)
    assert ('<span class="neg">−2</span>' in "".join(item.value for item in app.get("html"))) == explained
    assert ("below zero" in "".join(item.value for item in app.caption)) == explained


@pytest.mark.parametrize(("most", "noun"), [(1, "people"), (3, "records")])
def test_thresholds_say_what_they_count(most: int, noun: str) -> None:
    def drawn(most: int) -> None:
        from types import SimpleNamespace

        import numpy as np

        from dpcore.domain.counted import counted
        from dpcore.domain.schema import Schema
        from dpcore.released.evaluation import evaluate
        from pages.components.families.shared import thresholds

        columns = [{"name": "ill", "type": "boolean", "target": True}]
        unit = {"column": "who", "max_rows_per_person": most}
        schema = Schema.from_mapping({"name": "ward", "max_rows": 2000, "columns": columns, "privacy_unit": unit})
        counts, estimates = np.array([[900, 60], [100, 140]]), np.array([[0.9, 0.1], [0.4, 0.6]])
        model = SimpleNamespace(evaluation=evaluate(counts, estimates, 1e-6, 1), classes=("no", "yes"))
        thresholds.show(model, "ill", counted(schema), "a", chances=True)

    app = AppTest.from_function(drawn, args=(most,)).run()
    assert not app.exception
    assert app.select_slider[0].label.startswith(f"Flag {noun} whose chance")
    told = "".join(item.value for item in app.get("html"))
    assert f"share of all {noun}" in told
    assert f"flagged {noun} for each one found" in told
    assert f"among the {noun} set aside" in told
