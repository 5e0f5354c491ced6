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
