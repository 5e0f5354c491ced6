"""Options that read alike can be chosen all the same; what is made once is made of this very model."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpcore.frozen import FrozenModel
from pages.components.kit import drawing


def test_the_first_of_two_that_read_alike_can_be_chosen():
    def script() -> None:
        import streamlit as st

        from pages.components.kit.markup import distinct_labels

        words = distinct_labels({"one": "age", "other": "age"})
        st.text(st.selectbox("Column", list(words), 0, format_func=words.__getitem__, key="column"))

    app = AppTest.from_function(script).run()
    assert app.run().text[0].value == "one"
    assert app.selectbox[0].set_value("age (2)").run().text[0].value == "other"


class _Result(FrozenModel):
    id: str


def test_of_two_results_that_are_alike_each_has_what_was_made_of_it():
    one, other, made = _Result(id="a"), _Result(id="a"), []

    def make(result: _Result, shown: int) -> tuple[_Result, int]:
        made.append(shown)
        return result, shown

    for result, shown in ((one, 1), (other, 1), (one, 2), (one, 1)):
        found = drawing.once(make, result, shown)
        assert found[0] is result
        assert found[1] == shown
    assert made == [1, 1, 2]
