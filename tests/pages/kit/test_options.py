"""Options that read alike can be chosen all the same."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def test_the_first_of_two_that_read_alike_can_be_chosen():
    def script() -> None:
        import streamlit as st

        from pages.components.kit.texts import distinct_labels

        words = distinct_labels({"one": "age", "other": "age"})
        st.text(st.selectbox("Column", list(words), 0, format_func=words.__getitem__, key="column"))

    app = AppTest.from_function(script).run()
    assert app.run().text[0].value == "one"
    assert app.selectbox[0].set_value("age (2)").run().text[0].value == "other"
