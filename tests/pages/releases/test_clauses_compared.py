"""Results compared by what they say."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def compared(years: tuple[str, ...]) -> None:
    from dpcore.models.ilp.language.clause import Clause
    from pages.components.releases import found
    from tests.support.results.small_theories import ATOMS, release_of

    found.render([release_of((Clause(atoms=(ATOMS[f"year {year}"],)), (40, 310), True)) for year in years])


@pytest.mark.parametrize(("years", "together"), [(("> 1950", "<= 1950"), "both"), (("> 1950",) * 3, "all")])
def test_clauses_that_ask_of_the_same_column_are_not_said_to_say_the_same(
    years: tuple[str, ...], together: str
) -> None:
    app = AppTest.from_function(compared, args=(years,)).run()
    assert not app.exception
    shown = " ".join(item.proto.body for item in app.get("html"))
    assert f"<td>{together} name it</td>" in shown
    assert "the same" not in shown
