"""What Streamlit reads as Markdown in a first look holds no name as somebody wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from streamlit.testing.v1 import AppTest

from pages.components.visitor import access
from tests.support.files.hostile_names import ANCHOR, DIED, IMAGE, LEFT, LINK, RIGHT, SCHEMA, people
from tests.support.pages.page_tools import at_run, checked
from tests.support.pages.ward_runs import submit

#: Elements whose text is Markdown, and those whose label is; options of a radio are too.
TEXTS = ("markdown", "caption", "title", "header", "subheader", "error", "warning", "info", "success")
LABELS = (
    "button",
    "checkbox",
    "expander",
    "number_input",
    "radio",
    "selectbox",
    "slider",
    "tab",
    "text_input",
    "toggle",
)


def read_as_markdown(app: AppTest) -> Iterator[str]:
    yield from (str(one.value) for kind in TEXTS for one in app.get(kind))
    yield from (str(one.label) for kind in LABELS for one in app.get(kind))
    yield from (str(option) for one in app.radio for option in one.options)


def test_a_first_look_reads_no_name_as_markup() -> None:
    info = access.service().add_dataset(people(), SCHEMA, budget=Decimal(9), public=True)
    parameters = {"by": DIED, "crosstabs": [f"{LEFT} by {RIGHT}"]}
    app = checked(at_run("first_look", submit(info.id, "summaries", "3", "", **parameters)))
    told = list(read_as_markdown(app))
    assert any("evil" in one for one in told)
    assert [one for one in told if LINK in one or IMAGE in one or ANCHOR in one] == []
