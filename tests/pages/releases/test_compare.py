"""Comparing results: what does not apply is named as such, and only what noise does not explain differs."""

from __future__ import annotations

from pages.components.families.registry import IntervalText, compared
from pages.components.visitor import access
from tests.support.pages.page_tools import checked, open_page, words
from tests.support.pages.ward_runs import add_ward, fit, submit
from tests.support.rows import for_each


@for_each(
    ("sides", "how"),
    [
        (["5", "5"], "same"),
        (["5", "6"], "≠ differs"),
        (["5", None], ""),
        ([IntervalText("80%", 0.7, 0.9), IntervalText("85%", 0.8, 0.95)], "intervals overlap"),
        ([IntervalText("80%", 0.79, 0.81), IntervalText("85%", 0.84, 0.86)], "≠ differs"),
        (
            [IntervalText("80%", 0.7, 0.82), IntervalText("81%", 0.75, 0.9), IntervalText("95%", 0.88, 0.99)],
            "≠ differs",
        ),
        ([IntervalText("80%", 0.7, 0.9), "not known"], "≠ differs"),
    ],
)
def test_a_line_says_how_its_sides_compare(sides: list[str | IntervalText | None], how: str) -> None:
    told, found = compared(sides)
    assert found == how
    assert ("does not apply" in told) == (None in sides)


def test_two_looks_at_the_same_records_do_not_differ_within_their_noise() -> None:
    dataset_id = add_ward(budget="9")
    for epsilon in ("1", "2"):
        submit(dataset_id, "summaries", epsilon, "")
    fit(dataset_id)
    app = open_page("releases")
    first, second = [release.id for release in access.service().releases() if release.kind == "summaries"]
    app.selectbox(key="compare-0").set_value(first)
    app.selectbox(key="compare-1").set_value(second).run()
    [line] = [line for line in words(checked(app)).split("<tr") if "Noisy number of all" in line]
    assert "intervals overlap" in line
    [rule_list] = [release.id for release in access.service().releases() if release.kind == "rule_list"]
    app.selectbox(key="compare-1").set_value(rule_list).run()
    table = words(checked(app)).partition("<caption>Quality</caption>")[2].partition("</table>")[0]
    assert "<td>does not apply</td>" in table
    assert "<td>none</td>" not in table
